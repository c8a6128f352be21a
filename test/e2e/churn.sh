#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A thousand processes that live for two milliseconds: each call is counted, nothing is left over.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

processes=1009
trace_with --json
"$sim/calls" cudaMalloc 3 1 >/dev/null # gone at once, but its library is known from then on
sleep 1
i=0
while [ $i -lt $processes ]; do
	"$sim/calls" cudaMalloc 11 2 >/dev/null || die "a caller failed"
	i=$((i + 1))
done
sleep 2.5 # two ticks: one reads the last counts, one finds nobody left
at_most "kB of memory" "$(awk '/VmRSS/ { print $2 }' "/proc/$tracer/status")" 65536
untrace
is "calls" "$(sql "SELECT sum(calls) FROM op_totals WHERE calls > 3")" $((11 * processes))
is "processes" "$(sql 'SELECT count(*) FROM op_totals WHERE calls > 3')" $processes
is "processes with an end" "$(sql 'SELECT count(exit_ns) FROM process WHERE id IN (SELECT process FROM op_totals WHERE calls > 3)')" \
	$processes
is "threads" \
	"$(sql 'SELECT count(*) FROM thread WHERE process IN (SELECT process FROM op_totals WHERE calls > 3)')" \
	$((2 * processes))
is "calls not counted" \
	"$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason IN ('no_task', 'no_tally', 'no_entry')")" 0
last=$(tail -n 1 "$trace_out")
is "records that belong to nobody" "$(printf '%s' "$last" | jq .loss.undecodable)" 0
is "tallies in use at the end" "$(printf '%s' "$last" | jq .tallies_in_use)" 0
