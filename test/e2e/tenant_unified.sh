#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A container that has a group in the unified hierarchy alone, on a host with or without others.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

hierarchy v2
id_of unified
group "system.slice/docker-$id.scope"
trace_with --slow 1ms
attached
# While it lives, by /proc; and one that is gone before anybody can look.
# shellcheck disable=SC2016 # for the inner shell
waiting sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --wait cudaMalloc 23 1' inside "$group" "$sim/calls"
alive_one=$caller
soon 30 covered "$caller" || die "it is not seen"
go "$caller"
ends "$caller" "cudaMalloc 23"
(inside "$group" "$sim/calls" cudaMalloc 29 1) >"$dir/short" || die "a caller failed"
sleep 1.5
untrace
told="SELECT container_id || ' ' || runtime || ' ' || string.text FROM op_totals
	JOIN process_container ON process_container.process = op_totals.process
	JOIN container ON container.id = container
	JOIN string ON string.id = process_container.cgroup WHERE calls ="
want="$id docker /system.slice/docker-$id.scope"
is "the one that lived" "$(sql "$told 23")" "$want"
is "the one that was short" "$(sql "$told 29")" "$want"
is "its number is the inode" "$(sql "SELECT cgroup_id FROM container WHERE container_id = '$id'")" \
	"$(stat -c %i "$group")"
is "rows of it" "$(sql "SELECT count(*) FROM container WHERE container_id = '$id'")" 1
is "by name" "$("$culprit" explain --db "$db" --container "$id" --json | jq -r '[.processes[].pid] | length')" 2
is "by pid" "$("$culprit" explain --db "$db" --json | jq -r ".processes[] | select(.pid == $alive_one) | .tenant.container_id")" "$id"
