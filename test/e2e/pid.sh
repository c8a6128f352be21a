#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --pid counts one process; what others do is accounted for as filtered.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=10007
hold cudaMemcpyAsync $count 3
mine=$caller
hold cudaMemcpyAsync $count 3
other=$caller
hold cudaLaunchKernel $count 1
third=$caller
trace_with --pid "$mine"
go "$mine" "$other" "$third"
ends "$mine"
ends "$other"
ends "$third"
untrace
is "its calls" "$(calls_of "$mine" cudaMemcpyAsync)" $count
is "processes" "$(sql 'SELECT count(*) FROM process')" 1
is "processes with calls" "$(sql 'SELECT count(DISTINCT pid) FROM op_totals')" 1
at_least "filtered" "$(sql 'SELECT sum(filtered) FROM account')" $((2 * count))
is "what others did, exactly" \
	"$(sql 'SELECT (SELECT sum(seen) FROM account) - (SELECT sum(done) FROM op_second)')" $((2 * count))
is "seen = submitted + filtered + dropped" \
	"$(sql 'SELECT sum(seen) = sum(submitted) + sum(filtered) + sum(dropped) FROM account')" 1

runs "a process that is not there" 1 "$culprit" trace --db "$dir/no.db" --pid 4194303
has "... is named" "$dir/err" 'no process 4194303'
