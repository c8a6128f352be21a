#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two hundred containers that live for some 20 ms each: every one is known by its id afterwards. So are twenty whose
# processes nobody notices for two seconds after they have ended: of such the kernel says that they are in no group.
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
late=''
for i in $(seq 20); do
	id_of "late-$i"
	late="$late $id"
	echo "$id" >>"$dir/late"
	mkdir "$docker/$id" || die "cannot make a group"
done
# shellcheck disable=SC2086 # words
python3 - "$docker" "$sim/calls" $late <<'END' || die "late callers failed"
import os, subprocess, sys, time
top, calls, *groups = sys.argv[1:]
def work_in(group):
    with open(f"{top}/{group}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
    time.sleep(1.2)  # who is moved is told, whoever is born there is not
    child = subprocess.Popen([calls, "cudaMalloc", "13", "1"], stdout=subprocess.DEVNULL)
    time.sleep(2)
    os._exit(child.wait())
for group in groups:
    if not os.fork():
        work_in(group)
sys.exit(max(os.wait()[1] for group in groups) != 0)
END
for id in $late; do
	soon 2 rmdir "$docker/$id" || die "cannot remove a group"
done
untrace
sort "$dir/wanted" >"$dir/all"
# told_of CALLS: the containers of processes that made so many
told_of() {
	sql "SELECT container_id FROM process
		JOIN process_container ON process_container.process = process.id
		JOIN container ON container.id = container
		WHERE process.id IN (SELECT process FROM op_totals WHERE op = 'cudaMalloc' AND calls = $1)
		ORDER BY 1"
}
told_of 11 >"$dir/got"
is "containers told" "$(wc -l <"$dir/got")" $containers
is "each by its own id" "$(cmp "$dir/all" "$dir/got" 2>&1)" ""
is "their runtime" "$(sql "SELECT DISTINCT runtime FROM container WHERE container_id <> ''")" docker
is "with the number of the group" \
	"$(sql "SELECT count(DISTINCT cgroup_id) FROM container WHERE container_id <> ''")" $((containers + 20))
is "those that were noticed late" "$(told_of 13 | tr '\n' ' ')" "$(sort "$dir/late" | tr '\n' ' ')"
at_most "not found out, of all processes of the host" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason = 'no_tenant'")" 5
