#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Code objects without a number (before Python 3.12) are known again by their address as long as none is freed:
# they are, and functions that are made and freed between walks, by two threads and in a forked child, are never
# mixed up with those that were at their address before.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

# What the probes did not have to read so far, from the scratch of all their walks.
recalled() {
	sed -n 's/^map_id:[[:space:]]*//p' "/proc/$tracer/fdinfo/"* 2>/dev/null | sort -un | while read -r id; do
		"$bpftool" map show id "$id" | grep -q 'name walks ' || continue
		for key in 0 1 2; do
			"$bpftool" -j map lookup id "$id" key "$key" 0 0 0
		done
	done | grep -o '"recalled": *[0-9]*' | awk -F: '{ n += $2 } END { print n + 0 }'
}

# stacks_of PYTHON WHAT...: $counts is "right wrong missing", $known what was recalled
stacks_of() {
	interpreter=$1
	shift
	rm -f "$db"* "$dir"/stacks*
	waiting "$interpreter" "$here/pystack.py" "$sim/libcudart.so.13" "$dir/stacks" "$@"
	trace_with --record-all --ring 64m
	go "$caller"
	ends "$caller"
	known=$(recalled)
	untrace
	counts=$("$python" "$here/pystack_compare.py" "$db" "$caller" "$dir/stacks" "$dir/stacks.child" 2>"$dir/wrong")
	head -5 "$dir/wrong" | cut -c 1-400
}

n=200 old=
interpreters >"$dir/interpreters"
while read -r version interpreter; do
	stacks_of "$interpreter" again $n
	is "$version: right, wrong, missing" "$counts" "$((7 * n)) 0 0"
	case $version in
	3.9.* | 3.10.* | 3.11.*)
		at_least "$version: code objects known again" "$known" $((20 * n))
		old=$interpreter
		;;
	*) is "$version: code objects known again" "$known" 0 ;;
	esac
done <"$dir/interpreters"

# A child is watched from when it is found: every 10 seconds all processes are looked at.
[ -z "$old" ] || {
	stacks_of "$old" again_forked 12 $n
	is "forked from $old: right, wrong, missing" "$counts" "$((8 * n)) 0 0"
	at_least "in the child, code objects known again" "$known" $((20 * n))
	# To watch each would cost more than it saves: left alone after a second or two, and read as before.
	stacks_of "$old" flood $n
	is "after a flood, $old: right, wrong, missing" "$counts" "$((7 * n)) 0 0"
	at_most "after a flood, code objects known again" "$known" $((5 * n))
}
