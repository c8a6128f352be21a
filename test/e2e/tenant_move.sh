#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A process that goes from one container's group to another: each part of its time is told as whose it was.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

hierarchy any
id_of before
before=$id
group "docker/$before"
before_group=$group
id_of after
after=$id
group "docker/$after"
after_group=$group

told() {
	[ "$(sql "SELECT count(*) FROM process_container JOIN process ON process.id = process
		WHERE pid = $caller")" -ge "$1" ]
}

trace_with --slow 1ms
attached
# shellcheck disable=SC2016 # for the inner shell
waiting sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --wait --sleep-us 20000 cudaMalloc 600 1' inside \
	"$before_group" "$sim/calls"
go "$caller"
soon 20 told 1 || die "the process is not told"
sleep 1
moved=$(now_ns)
echo "$caller" >"$after_group/cgroup.procs" || die "cannot move $caller"
soon 20 told 2 || die "its move is not told"
sleep 1
stop "$caller"
sleep 1.2
untrace
is "where it was, in order" "$(sql "SELECT container_id FROM process_container
	JOIN process ON process.id = process JOIN container ON container.id = container
	WHERE pid = $caller ORDER BY from_ns" | tr '\n' ' ')" "$before $after "
near "when it moved, in ms since" "$(sql "SELECT (max(from_ns) - $moved) / 1000000 + 1000 FROM process_container
	JOIN process ON process.id = process WHERE pid = $caller")" 1000 30
is "where it is now" "$(sql "SELECT text FROM process JOIN string ON string.id = cgroup WHERE pid = $caller")" \
	"/docker/$after"
rmdir "$before_group" "$after_group"
made=$top/docker
is "both are known" "$("$culprit" explain --db "$db" --container "$after" --json | jq -r '[.processes[].pid] | .[]')" "$caller"
