#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several processes of one control group take the CPU of a training loop: the group is named.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# The hierarchy whose paths are told: that of the memory controller, or the only one.
top=/sys/fs/cgroup/memory
[ -w "$top/cgroup.procs" ] || top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -w "${top:-/none}/cgroup.procs" ] || skip "no control group to write to"
name=culprit-e2e-$$
undo="rmdir $top/$name 2>/dev/null"
mkdir "$top/$name" || skip "cannot make a control group"
cpu=$(last_cpu)

train "$cpu" 60
soon 20 trained || die "the loop does not start"
trace_with --pid "$training"
sleep 2
hogs=
for i in 1 2 3; do
	hog "$cpu" "etl-$i"
	echo "$hog" >"$top/$name/cgroup.procs" || die "cannot move $hog"
	hogs="$hogs $hog"
done
sleep 5
untrace
stop "$training"
for pid in $hogs; do
	stop "$pid"
done

findings_of "$training" >"$dir/found"
is "cause" "$(jq -r '.[0].cause' "$dir/found")" cpu-contention
is "each has its group" "$(jq -r '[.[0].culprits[] | select(.comm | startswith("etl-")) | .cgroup] | unique | .[]' "$dir/found")" "/$name"
jq -c ".[0].cgroups[] | select(.cgroup == \"/$name\")" "$dir/found" >"$dir/group"
is "the group as a whole" "$(jq .processes "$dir/group")" 3
"$culprit" explain --db "$db" >"$dir/text"
has "text: together" "$dir/text" "cgroup /$name:"
share=$(jq '.share_pct | floor' "$dir/group")
if [ "$share" -ge 50 ]; then
	has "text: title" "$dir/text" "3 processes of cgroup /$name had the CPU that python3 needed"
else
	note "title not checked: others took more of the CPU, the group $share %"
fi

# The time in which interrupts had the CPU is split off, and is not the idle one's.
is "who had it adds up to the wait" "$(sql "SELECT abs(b.ns - w.ns) * 10 < w.ns FROM
	(SELECT sum(ns) AS ns FROM blame_second) b,
	(SELECT sum(preempted_ns + wake_ns) AS ns FROM op_second) w")" 1
at_least "ns of interrupts" "$(sql "SELECT coalesce(sum(ns), 0) FROM blame_second WHERE pid = -1")" 1
is "interrupts by name" "$(sql "SELECT DISTINCT text FROM blame_second JOIN string ON string.id = comm
	WHERE pid = -1")" interrupts
