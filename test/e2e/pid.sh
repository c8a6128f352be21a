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

# A child of the process is another process, although its threads are followed.
cat >"$dir/fork.py" <<'END'
import os, sys
import simgpu

gpu = simgpu.Gpu(alloc_us=0)
gpu.malloc(64)
print("ready", flush=True)
sys.stdin.readline()
child = os.fork()
for _ in range(1009 if child else 2003):
    gpu.malloc(64)
if child:
    print("child", child, os.waitpid(child, 0)[1], flush=True)
END
waiting "$python" "$dir/fork.py"
parent=$caller
rm -f "$db" "$db"-*
trace_with --pid "$parent"
go "$parent"
ends "$parent"
untrace
is "the parent's calls" "$(calls_of "$parent" cudaMalloc)" 1009
is "all calls that were counted" "$(sql 'SELECT sum(calls) FROM op_totals')" 1009

runs "a process that is not there" 1 "$culprit" trace --db "$dir/no.db" --pid 4194303
has "... is named" "$dir/err" 'no process 4194303'
