#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Direct I/O of one CPU that changes its task, file or tag from one request to the next: each is told rightly, as
# what was found for the one before must not be kept.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
mkdir "$dir/m"
truncate -s 64M "$dir/image"
mkfs.ext4 -q -F "$dir/image"
loop=$(losetup --show -f "$dir/image") || skip "no loop device"
undo="umount '$dir/m' 2>/dev/null; losetup -d $loop"
mount "$loop" "$dir/m" || die mount

trace # who knows tags
"$culprit" io --disk "$loop" --all --json --waits=false >"$dir/live" 2>"$dir/live.err" &
looker=$!
started="$started $looker"
is_looking() {
	grep -q tracing "$dir/live.err"
}
soon 30 is_looking || die "culprit io does not start: $(cat "$dir/live.err")"
"$python" "$(dirname "$0")/lineage_turns.py" "$dir/m" >"$dir/truth" || die "no truth"
sleep 1
kill -INT "$looker"
reap "$looker"
is "exit of culprit io" "$status_of" 0
untrace

# A name is that in the file system; what is not tagged has none.
jq -r 'select(.type == "request" and .class == "direct") | "\(.offset) \(.op) \(.file | sub(".*/"; "")) \(.pid) \(
	if (.tag // 0 | tostring) == "0" then 0 else 1 end)"' "$dir/live" | sort -n >"$dir/told"
sort -n "$dir/truth" >"$dir/sorted"
at_least "requests" "$(wc -l <"$dir/truth")" 20
diff "$dir/sorted" "$dir/told" | head -20
is "requests told otherwise than they were" "$(diff "$dir/sorted" "$dir/told" | grep -c '^[<>]')" 0
