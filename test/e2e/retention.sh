#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A trace stays within --max-db, counts stay complete, what was removed is said; --rollover puts files
# aside under a name with the date, and these count too.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# What is there already: half an hour of every call of a busy program, in some 67 MB.
old=$dir/old.db
"$build/bench/ingest_bench" "$old" 2600000 1500 >/dev/null || die "no bench"
at_least "a large trace, bytes" "$(stat -c %s "$old")" 36000000

cp "$old" "$db"
calls=$(sql "SELECT sum(calls) FROM op_second")
hold cudaMemcpyAsync 20011 2
trace_with --record-all --max-db 20m --ring 16m
go "$caller"
ends "$caller" 'cudaMemcpyAsync 20011'
small() {
	[ "$(sql "SELECT (page_count - freelist_count) * page_size <= 20 << 20 FROM pragma_page_count,
		pragma_freelist_count, pragma_page_size")" = 1 ]
}
if soon 60 small; then good "pages in use" "within 20m"; else bad "pages in use" "more than 20m" "less"; fi
shrunk() {
	[ "$(sql "SELECT page_count * page_size <= 20 << 20 FROM pragma_page_count, pragma_page_size")" = 1 ]
}
if soon 60 shrunk; then good "the file" "within 20m"; else bad "the file" "more than 20m" "less"; fi
untrace
at_most "bytes" "$(stat -c %s "$db")" $((22 << 20))
is "integrity" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok
is "nothing dropped meanwhile" "$(sql 'SELECT sum(dropped) FROM account')" 0
is "every call of the traced program counted" "$(calls_of "$caller" cudaMemcpyAsync)" 20011
is "counts of before are complete" "$(sql "SELECT sum(calls) FROM op_second JOIN thread ON thread.id = thread
	JOIN process ON process.id = process WHERE run = 1")" "$calls"
at_least "calls of before that are left" "$(sql "SELECT count(*) FROM every_call JOIN thread ON thread.id = thread
	JOIN process ON process.id = process WHERE run = 1")" 1000
is "what was removed is said" "$(sql "SELECT run, what, rows > 100 FROM pruned")" "2|blocks|1"
runs "it can be explained" 0 "$culprit" explain --db "$db"
has "explain says so, too" "$dir/out" "pruned: single calls before"

# By age.
cp "$old" "$db"
trace_with --max-age 15m
aged() {
	[ "$(sql "SELECT (SELECT count(*) FROM op_second WHERE at_ns < $1) + (SELECT count(*) FROM call_block
		WHERE last_ns < $1)")" = 0 ]
}
limit=$(($(now_ns) - 900000000000))
if soon 60 aged $limit; then good "older than 15m" "nothing"; else bad "older than 15m" "something" nothing; fi
untrace
at_least "younger than that is left" "$(sql "SELECT count(*) FROM op_second JOIN thread ON thread.id = thread
	JOIN process ON process.id = process WHERE run = 1")" 1000

# Rollover: the old file is put aside whole, the new one has its own run, and the caller is in both.
rm -f "$db"*
cp "$old" "$db"
hold cudaMemcpyAsync 1009 2
trace_with --rollover 16m
rolled() {
	ls "$dir"/trace-2*.db >/dev/null 2>&1
}
if soon 30 rolled; then good "put aside" "a file"; else bad "put aside" none "a file"; fi
go "$caller"
ends "$caller" 'cudaMemcpyAsync 1009'
untrace
is "calls in the new file" "$(calls_of "$caller" cudaMemcpyAsync)" 1009
is "runs in the new file" "$(sql 'SELECT count(*), sum(end_ns IS NULL) FROM run')" "1|0"
new=$db
db=$(ls "$dir"/trace-2*.db)
is "runs in the old one" "$(sql 'SELECT count(*), sum(end_ns IS NULL) FROM run')" "2|0"
is "its calls" "$(sql 'SELECT sum(calls) FROM op_second WHERE thread <= 8')" "$calls"
is "integrity of it" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok
# The two together are above a limit: the old one goes.
db=$new
cp "$old" "$db"
trace_with --rollover 16m --max-db 100m
both() {
	[ "$(find "$dir" -name 'trace-2*.db' | wc -l)" = 1 ] && grep -q 'removed: --max-db' "$trace_err"
}
if soon 30 both; then good "files put aside" "the younger one"; else bad "files put aside" "$(ls "$dir")" one; fi
untrace

runs "a limit that is too small" 2 "$culprit" trace --max-db 4k --db "$dir/x.db"
has "... says so" "$dir/err" "at least 16m"
runs "a rollover that is none" 2 "$culprit" trace --rollover weekly --db "$dir/x.db"
has "... says so" "$dir/err" "neither 'daily' nor a size"
