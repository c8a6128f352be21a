#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A disk that becomes full: what is recorded waits in memory and is stored once there is room; without
# any room ever the tracer goes on, says what it could not store, and the file is whole.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

disk=$dir/disk
mkdir "$disk"
mount -t tmpfs -o size=12m tmpfs "$disk" 2>/dev/null || skip "no tmpfs can be mounted here"
undo="umount $disk"
db=$disk/trace.db

free_kb() {
	df -k --output=avail "$disk" | tail -1 | tr -d ' '
}

# fill_disk KB: leave so much of it
fill_disk() {
	: >"$disk/filler"
	dd if=/dev/zero of="$disk/filler" bs=1k count=$(($(free_kb) - $1)) 2>/dev/null
}

said() {
	grep -q "$1" "$trace_err"
}

hold cudaMemcpyAsync 1009 2
first=$caller
hold cudaMemcpyAsync 3001 2
second=$caller
hold cudaMemcpyAsync 5003 2
third=$caller
trace_with --json --record-all
go "$first"
ends "$first" 'cudaMemcpyAsync 1009'
fill_disk 900
soon 30 said 'waits in memory' || die "nobody noticed: $(free_kb) kB are free: $(cat "$trace_err")"
before=$(stat -c %s "$db-wal")
go "$second"
ends "$second" 'cudaMemcpyAsync 3001'
waits() {
	[ "$(grep '"held_seconds":' "$trace_out" | tail -1 | jq .loss.held_seconds)" -ge 3 ]
}
if soon 40 waits; then good "seconds that wait" "3 and more"; else bad "seconds that wait" "fewer" 3; fi
is "not a byte more on the disk" "$(stat -c %s "$db-wal")" "$before"
rm "$disk/filler"
if soon 30 said 'there is room again'; then good "room again" "noticed"; else bad "room again" "$(cat "$trace_err")" noticed; fi
go "$third"
ends "$third" 'cudaMemcpyAsync 5003'
untrace
for of in "$first 1009" "$second 3001" "$third 5003"; do
	is "calls of ${of% *}" "$(calls_of "${of% *}" cudaMemcpyAsync)" "${of#* }"
	is "... each of them" "$(sql "SELECT count(*) FROM every_call JOIN op ON op.id = op JOIN thread
		ON thread.id = thread JOIN process ON process.id = process
		WHERE symbol = 'cudaMemcpyAsync' AND pid = ${of% *}")" "${of#* }"
done
is "nothing unstored" "$(sql "SELECT count(*) FROM loss WHERE reason = 'unstored_seconds'")" 0
is "integrity" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok

# It ends while the disk is full to the last byte: an error that names it, and a file as it was.
hold cudaMemcpyAsync 20011 2
trace_with --record-all
fill_disk 0
go "$caller"
ends "$caller" 'cudaMemcpyAsync 20011'
kill -INT "$tracer"
soon 30 gone "$tracer" || die "the tracer does not stop"
reap "$tracer"
case $status_of in
0 | 1) good "exit" "$status_of" ;;
*) bad "exit" "$status_of: $(cat "$trace_err")" "0 or 1" ;;
esac
has "it says why" "$trace_err" "full"
rm "$disk/filler"
is "integrity after that" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok
is "what was there is there" "$(calls_of "$third" cudaMemcpyAsync)" 5003
runs "it can be explained" 0 "$culprit" explain --db "$db"

# A folder that cannot be written to, a trace that cannot be: said at once.
mount -o remount,ro "$disk" || die "remount"
runs "read-only file" 1 "$culprit" trace --duration 1 --db "$db"
has "... is named" "$dir/err" "$db"
runs "read-only folder" 1 "$culprit" trace --duration 1 --db "$disk/new.db"
has "... is named" "$dir/err" "$disk/new.db"
runs "it can be read" 0 "$culprit" explain --db "$db"
