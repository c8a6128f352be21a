#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The time in which the GPU has nothing to do is known, and what it waits for meanwhile: to 100 %.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

waiting "$python" "$(dirname "$0")/idle.py" 60
trace_with --pid "$caller"
go "$caller"
soon 30 grep -q '^idle ' "$caller_out" || die "the loop does not end: $(cat "$caller_out")"
untrace # the process is still there: what follows the last synchronisation is idle, too
own() {
	awk -v n="$1" '$1 == n { print $2 }' "$caller_out"
}

"$culprit" explain --db "$db" --json >"$dir/json"
jq ".processes[] | select(.pid == $caller) | .idle" "$dir/json" >"$dir/idle"
sed 's/^/     /' "$dir/idle"
is "the parts add up" "$(jq '([.parts[].ns] | add) == .ns' "$dir/idle")" true
is "the percents add up" "$(jq '[.parts[].pct] | add | . > 99.99 and . < 100.01' "$dir/idle")" true

# part FILTER: ns of the parts that fit
part() {
	jq "[.parts[] | select($1) | .ns] | add // 0" "$dir/idle"
}
after=$(sql "SELECT coalesce(sum(ns), 0) FROM idle_second JOIN hop ON hop.chain = idle_second.chain
	WHERE flags & 32 AND n = 0") # it waits for its input at the end
near "idle in all, ns" "$(($(jq .ns "$dir/idle") - after))" "$(own idle)" 2
near "asleep, ns" "$(part '.state == "sleep"')" "$((60 * 30000000))" 3
near "waiting for its child, ns" "$(part '.what | test("^waiting on a pipe for .*, which was sleeping")')" \
	"$((60 * 20000000))" 4
at_least "at work by itself, ns" "$(part '.state | test("run|preempted|wake|irq|steal")')" "$((60 * 9000000))"
"$culprit" explain --db "$db" >"$dir/text"
has "text" "$dir/text" "GPU idle at least"
go "$caller"
ends "$caller"
