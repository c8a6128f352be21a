#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# More records than can be stored: seconds are still committed, and Ctrl-C is obeyed.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=4000037
hold cudaMemcpyAsync $count 3
trace_with --record-all --json
go "$caller"
sleep 3.5
at_least "seconds reported in 3.5 s" "$(wc -l <"$trace_out")" 2
start=$(now_ns)
kill -INT "$tracer"
soon 3 gone "$tracer"
ms=$((($(now_ns) - start) / 1000000))
at_most "ms from Ctrl-C to exit" $ms 2000
is "the caller goes on" "$(alive "$caller" && echo yes)" yes
stop "$caller"
soon 20 gone "$tracer" || die "the tracer does not stop"
reap "$tracer"
is "tracer's exit" "$status_of" 0
is "seen = submitted + filtered + dropped, submitted = received" "$(sql 'SELECT sum(seen) =
	sum(submitted) + sum(filtered) + sum(dropped), sum(submitted) = sum(received) FROM account')" '1|1'
