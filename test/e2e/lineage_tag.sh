#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A tag goes with its file, and with its process, down to the disk.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
image=$dir/image mounted=$dir/mounted
mkdir "$mounted"
truncate -s 64M "$image"
mkfs.ext4 -q -F "$image"
mount -o loop "$image" "$mounted" || skip "no loop device"
undo="umount $mounted"

label=checkpoint_write/run42/step80000/shard17
trace
"$culprit" tag set "$label" "$mounted" >/dev/null || die "the folder cannot be tagged"
sleep 1
"$culprit" io --json --all --tag "$label" >"$dir/live" 2>"$dir/live.err" &
looker=$!
started="$started $looker"
is_looking() {
	grep -q tracing "$dir/live.err"
}
soon 30 is_looking || die "culprit io does not start: $(cat "$dir/live.err")"
dd if=/dev/urandom of="$mounted/shard17.pt" bs=64k count=32 conv=fsync 2>/dev/null
CULPRIT_TAG=dataset/other dd if=/dev/urandom of="$dir/plain" bs=64k count=32 conv=fsync 2>/dev/null
written() {
	[ "$(sql "SELECT count(DISTINCT tag.id) FROM io_second JOIN tag ON tag.id = io_second.tag")" -ge 1 ]
}
soon 20 written || true
kill -INT "$looker"
reap "$looker"
is "exit of culprit io" "$status_of" 0
at_least "live: bytes with the tag" "$(jq -s '[.[] | select(.type == "request" and .op == "write"
	and (.file | endswith("/shard17.pt"))) | .bytes] | add // 0' "$dir/live")" 2097152
is "live: others with it" "$(jq -s '[.[] | select(.type == "request" and (.file | endswith("/plain")))] | length' "$dir/live")" 0
untrace
bytes_of() { # LABEL PATH
	sql "SELECT coalesce(sum(bytes), 0) FROM io_second JOIN tag ON tag.id = io_second.tag JOIN string ON string.id = file
		WHERE op = 'write' AND label = '$1' AND text LIKE '%$2'"
}
at_least "bytes of the file, with its folder's tag" "$(bytes_of "$label" /shard17.pt)" 2097152
is "bytes of others with it" "$(sql "SELECT count(*) FROM io_second JOIN tag ON tag.id = io_second.tag JOIN string ON string.id = file
	WHERE label = '$label' AND ino <> 0 AND text NOT LIKE '%/shard17.pt' AND text LIKE '%plain'")" 0
if [ "$(sql "SELECT count(*) FROM io_second JOIN string ON string.id = file WHERE text LIKE '%/plain'")" -gt 0 ]; then
	at_least "bytes of the process's tag" "$(bytes_of dataset/other /plain)" 2097152
else
	echo "note: the test's own folder is on no disk"
fi
"$culprit" io report --db "$db" --tag "$label" --json >"$dir/report" || true
has "the report knows the label" "$dir/report" "$label"
