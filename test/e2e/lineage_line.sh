#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Live, a request has the line of Python that waited for it or asked for it, and never another one.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
mkdir "$dir/m"
image=$(mktemp /dev/shm/culprit.XXXXXX)
undo="umount '$dir/m' 2>/dev/null; rm -f '$image'"
truncate -s 400m "$image"
loop=$(losetup --show -f "$image") || skip "no loop device"
undo="umount '$dir/m' 2>/dev/null; losetup -d $loop; rm -f '$image'"

is_looking() {
	gone "$looker" || grep -q tracing "$dir/io.err"
}

# look NAME OPTION...: follow every request of the disk: $looker, $dir/NAME
look() {
	: >"$dir/io.err"
	to=$dir/$1
	shift
	"$culprit" io --disk "$loop" --all "$@" >"$to" 2>"$dir/io.err" &
	looker=$!
	started="$started $looker"
	soon 30 is_looking || die "culprit io does not start"
	alive "$looker" || die "culprit io ended: $(cat "$dir/io.err")"
}

unlook() {
	kill -INT "$looker"
	soon 30 gone "$looker" || die "culprit io does not stop"
	reap "$looker"
	is "exit of culprit io" "$status_of" 0
}

# all INTERPRETER: those that run before it, and one that begins later
all() {
	waiting "$1" "$here/lineage_line.py" work "$dir/m"
	early=$caller
	look events --json
	go "$early"
	waiting "$1" "$here/lineage_line.py" work "$dir/m" late
	later=$caller
	sleep 1
	go "$later"
	ends "$early"
	ends "$later"
	unlook
}

# judge WHAT KIND LEAST
judge() {
	"$python" -c 'import sys
for line in open(sys.argv[1]):
    word = line.split()
    if word[0] == sys.argv[2]:
        print(word[2], word[4])' "$dir/judged" "$2" >"$dir/counts"
	read -r right wrong <"$dir/counts"
	at_least "$1 $2: right lines" "$right" "$3"
	is "$1 $2: wrong lines" "$wrong" 0
}

on() { # FS VERSION INTERPRETER
	command -v "mkfs.$1" >/dev/null || {
		note "no mkfs.$1: $1 is not tried"
		return
	}
	wipefs -qa "$loop"
	"mkfs.$1" -q "$loop" || die "mkfs.$1"
	mount -t "$1" "$loop" "$dir/m" 2>/dev/null || {
		note "this kernel has no $1: not tried"
		return
	}
	"$python" "$here/lineage_line.py" make "$dir/m" || die "no files"
	all "$3"
	"$python" "$here/lineage_line.py" check "$dir/m" "$dir/events" >"$dir/judged" || die "cannot compare"
	grep '^#' "$dir/judged" | head -5
	for kind in direct mapped thread child late direct_written; do
		judge "$1 $2" "$kind" 28 # of 32
	done
	judge "$1 $2" alternate 180 # of 200
	judge "$1 $2" buffered 3
	judge "$1 $2" library 1
	judge "$1 $2" written 14 # of 16 and more
	at_least "$1 $2: journal with the line of the fsync" "$(jq -s '[.[] | select(.class? == "journal"
		and .code.who? == "fsync" and .code.func == "written")] | length' "$dir/events")" 1
	umount "$dir/m"
}

interpreters >"$dir/interpreters"
on xfs "" "$python"
[ -n "${QUICK:-}" ] || while read -r version interpreter; do
	on ext4 "$version" "$interpreter"
done <"$dir/interpreters"

# As people see it, and without.
mount "$loop" "$dir/m" || die "mount again"
waiting "$python" "$here/lineage_line.py" work "$dir/m" late
look text
go "$caller"
ends "$caller"
unlook
line=$(grep -n '# at late$' "$here/lineage_line.py" | cut -d : -f 1)
has "the line in words" "$dir/text" " in late() at lineage_line.py:$line"
waiting "$python" "$here/lineage_line.py" work "$dir/m" late
look none --json --stack=false
go "$caller"
ends "$caller"
unlook
is "--stack=false: lines" "$(jq -s '[.[] | select(.code?)] | length' "$dir/none")" 0
at_least "--stack=false: requests" "$(jq -s '[.[] | select(.type == "request")] | length' "$dir/none")" 30

# Whose thread: two write a file each, and one together.
waiting "$python" "$here/lineage_line.py" threads "$dir/m"
look threads --json
go "$caller"
ends "$caller"
unlook
# owners FILE: "TID NAME" of each of its requests
owners() {
	jq -r "select(.type == \"request\" and .class == \"file\" and .op == \"write\"
		and (.file | endswith(\"/$1\"))) | \"\(.tid) \(.comm)\"" "$dir/threads" | sort -u
}

for file in of-first of-second; do
	is "$file: its thread" "$(owners $file)" "$(sed -n "s/^$file //p" "$caller_out")"
done
is "of several threads: none" "$(owners of-both | cut -d ' ' -f 1)" 0
