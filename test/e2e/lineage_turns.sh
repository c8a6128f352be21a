#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# I/O of one CPU, direct and buffered, that changes its task, file or tag from one request to the next: each is told
# rightly, as what was found for the one before must not be kept.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
mkdir "$dir/m"
truncate -s 64M "$dir/image"
mkfs.ext4 -q -F "$dir/image"
loop=$(losetup --show -f "$dir/image") || skip "no loop device"
undo="umount '$dir/m' 2>/dev/null; losetup -d $loop"
mount "$loop" "$dir/m" || die mount

is_looking() {
	grep -q tracing "$dir/live.err"
}

# look_at SCRIPT: what it did in $dir/truth, the requests in $dir/live. A trace, who knows tags, of its own for each:
# after the first tag nothing takes a short way any more.
look_at() {
	rm -f "$db"*
	trace
	: >"$dir/live.err"
	"$culprit" io --disk "$loop" --all --json --waits=false >"$dir/live" 2>"$dir/live.err" &
	looker=$!
	started="$started $looker"
	soon 30 is_looking || die "culprit io does not start: $(cat "$dir/live.err")"
	"$python" "$(dirname "$0")/$1" "$dir/m" | sort -n >"$dir/truth"
	sleep 1
	kill -INT "$looker"
	reap "$looker"
	is "exit of culprit io" "$status_of" 0
	untrace
}

# same WHAT COUNT: as many and as told as they were, by $dir/told
same() {
	at_least "$1" "$(wc -l <"$dir/truth")" "$2"
	diff "$dir/truth" "$dir/told" | head -20
	is "$1 told otherwise than they were" "$(diff "$dir/truth" "$dir/told" | grep -c '^[<>]')" 0
}

# A name is that in the file system; what is not tagged has none.
tagged='(if (.tag // 0 | tostring) == "0" then 0 else 1 end)'
name='(.file | sub(".*/"; ""))'

look_at lineage_turns.py
jq -r "select(.type == \"request\" and .class == \"direct\") | \"\(.offset) \(.op) \($name) \(.pid) \($tagged)\"" \
	"$dir/live" | sort -n >"$dir/told"
same "direct requests" 20

# One page each; what files were made with is larger.
look_at lineage_writers.py
jq -r "select(.type == \"request\" and .class == \"file\" and .op == \"write\" and .bytes == 4096) |
	\"\(.offset) \($name) \(.pid) \(.tid) \($tagged)\"" "$dir/live" | sort -n >"$dir/told"
same "pages written" 40
