# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# Control groups of our own, version 1 or 2, whichever the machine has.

v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

# enabled_below_root CONTROLLER: of version 2; it is, or we make it so until we end
enabled_below_root() {
	grep -qw "$1" "${v2:-/none}/cgroup.controllers" 2>/dev/null || return 1
	! grep -qw "$1" "$v2/cgroup.subtree_control" || return 0
	{ echo "+$1" >"$v2/cgroup.subtree_control"; } 2>/dev/null || return 1
	later "echo -$1 >$v2/cgroup.subtree_control"
}

# group CONTROLLER: a new group under cpu, memory or io: $group, $version; skips where there is none
group() {
	v1=/sys/fs/cgroup/$1
	[ "$1" != io ] || v1=/sys/fs/cgroup/blkio
	if [ -w "$v1/cgroup.procs" ]; then
		version=1 group=$v1/culprit-lab.$$
	elif enabled_below_root "$1"; then
		version=2 group=$v2/culprit-lab.$$
		# Without it what is written back counts for nobody's group, not even in an fsync.
		[ "$1" != io ] || enabled_below_root memory || :
	else
		skip "no $1 controller to write to, neither cgroup v1 nor v2"
	fi
	if [ ! -d "$group" ]; then
		mkdir "$group" 2>/dev/null || skip "cannot make a control group in ${group%/*}"
		later "soon 5 rmdir $group 2>/dev/null"
	fi
}

# inside GROUP: what the next workload's command begins with, to be in there from the start
inside() {
	within="$within sh $LAB/lib/inside.sh $1"
}

# join GROUP PID
join() {
	echo "$2" >"$1/cgroup.procs" || skip "cannot move a process into $1"
}

# limit_cpu US: in 100 ms; 0 for no limit
limit_cpu() {
	if [ "$version" -eq 1 ]; then
		[ "$1" -ne 0 ] || set -- -1
		echo "$1" >"$group/cpu.cfs_quota_us"
	else
		[ "$1" -ne 0 ] || set -- max
		echo "$1 100000" >"$group/cpu.max"
	fi || skip "cannot limit $group"
}

# How long the group was throttled so far, in ns.
throttled() {
	awk '$1 == "throttled_time" { print $2 }
		$1 == "throttled_usec" { printf "%.0f\n", $2 * 1000 }' "$group/cpu.stat"
}

# limit_memory BYTES: before anybody is in there; who lowers it later must make the room himself
limit_memory() {
	if [ "$version" -eq 1 ]; then
		echo "$1" >"$group/memory.limit_in_bytes"
	else
		echo "$1" >"$group/memory.max"
	fi || skip "cannot limit $group"
}
