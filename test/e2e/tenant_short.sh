#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two hundred containers that live for some 20 ms each: every one is known by its id afterwards.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

hierarchy any
containers=200
group docker
docker=$group
trace_with --json
attached
i=0
while [ $i -lt $containers ]; do
	id_of "short-$i"
	echo "$id" >>"$dir/wanted"
	mkdir "$docker/$id" || die "cannot make a group"
	(inside "$docker/$id" "$sim/calls" --sleep-us 1800 cudaMalloc 11 1) >/dev/null || die "a caller failed"
	rmdir "$docker/$id" || die "cannot remove a group"
	i=$((i + 1))
done
sleep 1.5
untrace
sort "$dir/wanted" >"$dir/all"
sql "SELECT container_id FROM process
	JOIN process_container ON process_container.process = process.id
	JOIN container ON container.id = container
	WHERE process.id IN (SELECT process FROM op_totals WHERE op = 'cudaMalloc' AND calls = 11)
	ORDER BY 1" >"$dir/got"
is "containers told" "$(wc -l <"$dir/got")" $containers
is "each by its own id" "$(cmp "$dir/all" "$dir/got" 2>&1)" ""
is "their runtime" "$(sql "SELECT DISTINCT runtime FROM container WHERE container_id <> ''")" docker
is "with the number of the group" \
	"$(sql "SELECT count(DISTINCT cgroup_id) FROM container WHERE container_id <> ''")" $containers
at_most "not found out, of all processes of the host" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason = 'no_tenant'")" 5
