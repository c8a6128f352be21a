# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154 # names from and for those who source it
# Real control groups with the names that container runtimes give them. Sourced after test/lib.sh.

# hierarchy v1|v2|any: $top is where its groups are, and it can be written to; or the test is skipped.
hierarchy() {
	top=/sys/fs/cgroup/memory
	[ "$1" != v2 ] || top=
	if [ "$1" != v1 ] && ! [ -w "${top:-/none}/cgroup.procs" ]; then
		top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	fi
	[ -w "${top:-/none}/cgroup.procs" ] || skip "no control groups of this kind ($1) to write to"
	made=
	undo='ungroup'
}

# group PATH: make it, with all around it: $group
group() {
	group=$top
	for part in $(echo "$1" | tr / ' '); do
		group=$group/$part
		[ ! -d "$group" ] || continue
		mkdir "$group" || skip "cannot make a control group"
		made="$group $made"
	done
}

ungroup() {
	for each in $made; do
		[ ! -d "$each" ] || soon 2 rmdir "$each" 2>/dev/null # who was in there may still be ending
	done
}

# inside GROUP COMMAND...: becomes it, in that group.
inside() {
	# shellcheck disable=SC2016 # for the inner shell
	exec sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' inside "$@"
}

# id_of WORD: 64 hexadecimal digits, the same for the same word: $id
id_of() {
	id=$(printf '%s-%s' "$1" "$$" | sha256sum | cut -d' ' -f1)
}

# covered PID: its library is attached to, by the trace's own word
covered() {
	[ "$(sql "SELECT count(*) FROM coverage JOIN process ON process.id = process
		WHERE pid = $1 AND ops > 0" 2>/dev/null)" -ge 1 ] 2>/dev/null
}

# attached: from here on calls of every process with the simulated library are counted
attached() {
	hold cudaMalloc 3 1
	soon 30 covered "$caller" || die "the library is not attached to"
	go "$caller"
	ends "$caller" "cudaMalloc 3"
}
