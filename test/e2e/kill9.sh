#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tracer is killed in the middle of it: the traced process and the trace are unharmed.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=4000007
hold cudaMemcpyAsync $count 3
trace
go "$caller"
sleep 2.3
bpf_ids "$tracer" >"$dir/ids"
at_least "programs and links" "$(wc -l <"$dir/ids")" 5
kill -KILL "$tracer"
reap "$tracer"
alive "$caller" || die "the caller ended before the tracer: make it longer"
if soon 5 bpf_gone "$dir/ids"; then good "programs and links left" 0; else bad "programs" "some left" none; fi
ends "$caller" "cudaMemcpyAsync $count"
is "database" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok
at_least "seconds committed" "$(sql 'SELECT count(*) FROM account')" 2
at_least "calls committed" "$(calls_of "$caller" cudaMemcpyAsync)" 1000
is "the run has no end" "$(sql 'SELECT end_ns IS NULL FROM run')" 1
runs "it can be explained" 0 "$culprit" explain --db "$db"

# The next tracer goes on with the same file.
trace
untrace
is "runs" "$(sql 'SELECT count(*) FROM run')" 2
