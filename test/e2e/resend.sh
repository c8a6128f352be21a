#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What TCP sends again is told with the other end and with the control group of the socket.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -w "${top:-/none}/cgroup.procs" ] || skip "no control groups of version 2"
group=culprit-e2e-$$
link=cul$$
undo="rmdir $top/$group 2>/dev/null; ip link del $link 2>/dev/null"
ip link add "$link" type veth peer name "${link}p" 2>/dev/null || skip "no network devices of our own"
mkdir "$top/$group" || skip "cannot make a control group"
# Nobody is at the other end: what is sent gets lost.
if ! ip addr add 198.18.37.1/30 dev "$link" || ! ip link set "$link" up || ! ip link set "${link}p" up ||
	! ip neigh replace 198.18.37.2 lladdr 02:00:00:00:37:02 dev "$link"; then
	skip "cannot set up a network"
fi

hold cudaMalloc 1 1 # somebody to trace
trace_with --pid "$caller"
# shellcheck disable=SC2016 # for the inner shell
sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" -c "import socket
s = socket.socket()
s.settimeout(5)
try:
    s.connect((\"198.18.37.2\", 9009))
except OSError as e:
    print(e)"' sh "$top/$group" "$python" >"$dir/connect" 2>&1 || die "$(cat "$dir/connect")"
go "$caller"
ends "$caller"
sleep 1.2
untrace
at_least "segments sent again" "$(sql "SELECT coalesce(sum(count), 0) FROM host_event
	JOIN string n ON n.id = host_event.name JOIN string g ON g.id = cgroup
	WHERE event = 'retransmit' AND n.text = '198.18.37.2:9009' AND g.text = '/$group'")" 1
"$culprit" explain --db "$db" >"$dir/text"
has "text" "$dir/text" "sent again to 198.18.37.2:9009, cgroup /$group"
"$culprit" explain --db "$db" --json >"$dir/json"
is "json" "$(jq -r '.host[] | select(.remote == "198.18.37.2:9009") | "\(.event) \(.cgroup)"' "$dir/json")" \
	"retransmit /$group"
