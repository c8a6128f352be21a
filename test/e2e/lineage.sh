#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whose a disk request is: files of known writers and readers, compared byte by byte with where the file
# system says that they lie. On ext4 and on xfs, through the page cache and around it.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

here=$(dirname "$0")
files=${FILES:-200}
cc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Werror -o "$dir/gen" "$here/lineage_gen.c" || die "no generator"
mkdir "$dir/m"

# The fastest disk there is: an image in memory.
image=$(mktemp /dev/shm/culprit.XXXXXX)
undo="umount '$dir/m' 2>/dev/null; rm -f '$image'"
truncate -s 700m "$image"
loop=$(losetup --show -f "$image") || skip "no loop device"
undo="umount '$dir/m' 2>/dev/null; losetup -d $loop; rm -f '$image'"

is_looking() {
	gone "$looker" || grep -q tracing "$dir/io.err"
}

# look NAME: follow every request of the disk: $looker, $dir/NAME
look() {
	: >"$dir/io.err"
	"$culprit" io --disk "$loop" --all --json --waits=false >"$dir/$1" 2>"$dir/io.err" &
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

# judge FS OP EVENTS
judge() {
	"$python" "$here/lineage_check.py" compare "$dir/extents" "$dir/truth" "$3" "$2" >"$dir/judged" ||
		die "cannot compare"
	grep '^#' "$dir/judged" | sed "s/^/     $1 $2 /"
	told() { awk -v n="$1" '$1 == n { print int($2 * 1000 + 0.5) }' "$dir/judged"; }
	at_least "$1 $2: bytes compared" "$(awk '$1 == "bytes" { print $2 }' "$dir/judged")" $((files * 200000))
	at_least "$1 $2: right file, 1/1000 %" "$(told file_right)" 99500
	at_most "$1 $2: wrong file, 1/1000 %" "$(told file_wrong)" 0
	at_least "$1 $2: right owner, 1/1000 %" "$(told owner_right)" 99000
	at_most "$1 $2: wrong owner, 1/1000 %" "$(told owner_wrong)" 500
	at_least "$1 $2: right place in the file, 1/1000 %" "$(told offset_right)" 99000
	is "$1 $2: metadata told as a file" "$(awk '$1 == "outside_as_file" { print $2 }' "$dir/judged")" 0
	is "$1 $2: lost" "$(jq -s 'map(select(.type == "end"))[0].loss | .io_ring_full + .io_cut + .io_no_flow' "$3")" 0
}

on() {
	if ! command -v "mkfs.$1" >/dev/null; then
		note "no mkfs.$1: $1 is not tried"
		return
	fi
	case $1 in
	ext4) mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$loop" ;;
	xfs) mkfs.xfs -q -f "$loop" ;;
	esac || die "mkfs.$1"
	if ! mount -t "$1" "$loop" "$dir/m" 2>/dev/null; then
		note "this kernel has no $1: not tried"
		return
	fi
	rm -f "$dir/truth"
	look "$1.write"
	"$dir/gen" "$dir/m" "$dir/truth" write "$files" || die "the generator failed"
	sync -f "$dir/m"
	unlook
	"$python" "$here/lineage_check.py" extents "$dir/m" >"$dir/extents" || die "no extents"
	umount "$dir/m"
	mount -t "$1" "$loop" "$dir/m" || die "mount again"
	look "$1.read"
	"$dir/gen" "$dir/m" "$dir/truth" read "$files" || die "the generator failed"
	unlook
	judge "$1" write "$dir/$1.write"
	judge "$1" read "$dir/$1.read"
	is "$1: the path is told" "$(jq -s "[.[] | select(.type == \"request\" and .file == \"$dir/m/d3/f011\")] | length > 0" \
		"$dir/$1.write")" true
	at_least "$1: journal written for the fsync that waits" "$(jq -s '[.[] | select(.type == "request"
		and .class == "journal" and (.owner == "fsync" or .owner == "shared"))] | length' "$dir/$1.write")" 1
	umount "$dir/m"
}

on ext4
on xfs
