#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A loop that is stuck when the trace ends: the wait that nobody has ended is in the answer.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

waiting "$python" "$(dirname "$0")/stuck.py" 120
trace_with --pid "$caller"
go "$caller"
sleep 7
untrace
child=$(pgrep -P "$caller")
started="$started $child"

"$culprit" explain --db "$db" --json >"$dir/json"
is_json "explain --json" "$dir/json"
jq -c ".open[] | select(.pid == $caller)" "$dir/json" >"$dir/open"
sed 's/^/     /' "$dir/open"
is "waits that are not over" "$(wc -l <"$dir/open")" 1
is "its state" "$(jq -r .state "$dir/open")" pipe
is "for whom" "$(jq -r '"\(.for) \(.for_pid)"' "$dir/open")" "stuck-loader $child"
at_least "ns so far" "$(jq .ns "$dir/open")" 2000000000
findings_of "$caller" >"$dir/found"
at_least "findings of that cause" "$(jq '[.[] | select(.cause == "data-loader")] | length' "$dir/found")" 1
is "culprit" "$(jq -r '.[] | select(.cause == "data-loader") | .culprits[0] | "\(.comm) \(.pid)"' "$dir/found")" "stuck-loader $child"
is "evidence" "$(jq -r '.[] | select(.cause == "data-loader") | .evidence.class' "$dir/found")" inferred
"$culprit" explain --db "$db" >"$dir/text"
has "text" "$dir/text" "Not over at the end: python3 (pid $caller"
has "verdict" "$trace_out" "before the end of the trace, <module> at stuck.py:"
has "verdict: who" "$trace_out" "data-loader: stuck-loader (pid $child) had nothing ready"
is "every split adds up" "$(sql "SELECT count(*) > 0, sum(dur_ns <> run_ns + gc_ns + reclaim_ns + irq_ns + steal_ns +
	preempted_ns + wake_ns + throttled_ns + futex_ns + pipe_ns + socket_ns + poll_ns + read_ns + write_ns +
	fsync_ns + path_ns + fault_ns + reclaim_wait_ns + sleep_ns + gpu_ns + child_ns + device_ns + uring_ns +
	mmap_ns + stopped_ns + syscall_ns + unknown_ns) FROM call")" "1|0"
is "the account holds" "$(sql "SELECT sum(seen) = sum(submitted + filtered + dropped),
	sum(submitted) = sum(received) FROM account")" "1|1"
