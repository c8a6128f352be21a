#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checkpoints: 50 good ones, rename-over, sparse and the like among them, are complete; damaged ones are told
# apart by their reason. On ext4 and on xfs.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here/../../lib" CULPRIT_TAG_SOCKET="$dir/tag.sock"

unmount() {
	for m in mnt small broken tmpfs; do
		umount "$dir/$m" 2>/dev/null || umount -l "$dir/$m" 2>/dev/null
	done
}
undo=unmount

# disk NAME SIZE [IMAGE]: a filesystem of its own at $dir/NAME; xfs has a least size
disk() {
	mkdir "$dir/$1"
	image=${3:-$dir/$1.img}
	truncate -s "$2" "$image"
	case $fs in
	ext4) mkfs.ext4 -q -F "$image" ;;
	xfs) mkfs.xfs -q "$image" ;;
	esac 2>/dev/null || die "no filesystem"
	mount -t "$fs" -o loop "$image" "$dir/$1" 2>/dev/null || return
	mkdir "$dir/$1/ckpt"
}

# fill FOLDER BYTES: leave so many
fill() {
	room=$(($(stat -f -c '%a * %S' "$1")))
	[ "$room" -le "$2" ] || fallocate -l $((room - $2)) "$1/fill" || die "cannot be filled"
}

listed() {
	[ "$("$culprit" tag list 2>/dev/null | grep -c '/ckpt ')" -eq 3 ]
}

begin() {
	fs=$1
	command -v "mkfs.$fs" >/dev/null || return
	case $fs in
	ext4) least=16M tmpfs=8m ;;
	xfs) least=300M tmpfs=200m ;;
	esac
	disk mnt 320M || return
	disk small "$least" || die "no second one"
	mkdir "$dir/tmpfs"
	mount -t tmpfs -o "size=$tmpfs" none "$dir/tmpfs" || skip "no tmpfs"
	disk broken "$least" "$dir/tmpfs/img" || die "no third one" # its medium is smaller than it says
	fill "$dir/tmpfs" 8000000
	fill "$dir/small" 14000000
	ckpt=$dir/mnt/ckpt
	trace
	for d in mnt small broken; do
		runs "tag $d" 0 "$culprit" tag set --checkpoint checkpoint_write/run42/step1 "$dir/$d/ckpt"
	done
	soon 10 listed || die "the folders are not known: $("$culprit" tag list)"
}

end() {
	unmount
	rm -rf "${dir:?}"/*.img "${dir:?}/mnt" "$dir/small" "$dir/broken" "$dir/tmpfs" "$db"*
}

# verdict FILE: "torn killed", the first of its reasons, in $answer; its exit status in $status
verdict() {
	"$culprit" io verify --db "$db" --json "$1" >"$dir/verdict" 2>"$dir/err"
	status=$?
	answer=$(jq -r '.verdict + " " + ([.reasons[] | select(.verdict != "complete") | .code][0] // "-")' "$dir/verdict")
}

stored() {
	[ "$(sql "SELECT count(*) FROM checkpoint WHERE path LIKE '%/good-%' AND sha256 IS NOT NULL")" -ge 50 ]
}

expect() {
	verdict "$2"
	kinds=$((kinds + 1))
	is "$(basename "$2")" "$answer" "$1"
	[ "$answer" != "$1" ] || told=$((told + 1))
}

good_ones() {
	timeout 100 "$python" "$here/integrity.py" good "$ckpt" 50 >"$dir/good" 2>&1 || die "$(cat "$dir/good")"
	[ ! -s "$dir/good" ] || die "$(cat "$dir/good")"
	soon 10 stored || die "not stored: $(sql 'SELECT path, sha256, closed_ns FROM checkpoint')"
	sleep 1.2 # the last of them has its row once the second is over
	complete=0
	for file in "$ckpt"/good-*[!k]; do
		verdict "$file"
		if [ "$answer" = "complete -" ] && [ "$status" -eq 0 ]; then
			complete=$((complete + 1))
		else
			bad "$(basename "$file")" "$(cat "$dir/verdict" "$dir/err")" complete
		fi
	done
	is "good ones that are complete" "$complete" 50
	is "renames from long names" "$(sql "SELECT count(DISTINCT path) FROM checkpoint_event JOIN checkpoint c ON c.id = checkpoint
		WHERE event = 'rename' AND path LIKE '%-over'")" 3
	at_most "pages of mappings" "$(sql "SELECT count(*) FROM checkpoint WHERE mapped AND path NOT LIKE '%-mapped'")" 0
}

bad_ones() {
	waiting "$python" "$here/integrity.py" bad "$ckpt" "$dir/small/ckpt" "$dir/broken/ckpt"
	sleep 1.5
	told=0
	kinds=0
	expect 'torn killed' "$ckpt/bad-killed"
	is "exit code of torn" "$status" 4
	expect 'torn not-renamed' "$ckpt/bad-not-renamed"
	expect 'changed rewritten' "$ckpt/bad-rewritten"
	is "exit code of changed" "$status" 5
	expect 'torn truncated' "$ckpt/bad-truncated"
	expect 'changed grown' "$ckpt/bad-grown"
	expect 'torn concurrent' "$ckpt/bad-concurrent"
	expect 'torn gap' "$ckpt/bad-gap"
	expect 'torn short' "$ckpt/bad-short"
	expect 'unknown no-fsync' "$ckpt/bad-no-fsync"
	is "exit code of unknown" "$status" 3
	expect 'unknown no-dirsync' "$ckpt/bad-no-dirsync"
	expect 'torn write-error' "$dir/small/ckpt/bad-write-error"
	expect 'torn fsync-error' "$dir/broken/ckpt/bad-fsync-error"
	expect 'unknown open' "$ckpt/bad-open"
	runs "made durable" 0 "$culprit" io verify --sync --db "$db" "$ckpt/bad-no-fsync"
	go "$caller"
	ends "$caller"
	untrace
	timeout 20 "$python" "$here/integrity.py" after "$ckpt" "$dir/mnt.img" || die "damage"
	expect 'changed silent' "$ckpt/bad-silent"
	expect 'changed replaced' "$ckpt/bad-replaced"
	expect 'torn missing' "$ckpt/bad-missing"
	expect 'changed digest-differs' "$ckpt/bad-digest-differs"
	verdict "$here/integrity.py"
	is "a file that was never watched" "$answer $status" "unknown no-record 3"
	is "kinds told apart" "$told" "$kinds"
	is "lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason LIKE 'tag%'")" 0
	is "order of a renamed one" "$(sql "SELECT group_concat(event, ' ') FROM (SELECT event FROM checkpoint_event
		JOIN checkpoint c ON c.id = checkpoint WHERE path LIKE '%/good-01-renamed' ORDER BY at_ns)")" \
		"write sync rename sync_dir"
}

for name in ext4 xfs; do
	if begin "$name"; then
		good_ones
		bad_ones
	elif [ "$name" = ext4 ]; then
		skip "no loop device can be mounted here"
	else
		note "no $name: not tried"
	fi
	end
done
