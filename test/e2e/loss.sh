#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A ring that is far too small: every record is accounted for, and no count suffers.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=20011
hold cudaMemcpyAsync $count 3
trace_with --ring 4k --record-all --json
go "$caller"
ends "$caller" "cudaMemcpyAsync $count"
untrace
is_json "JSON lines" "$trace_out"
tail -1 "$trace_out" >"$dir/last"
is "last line says so" "$(jq .last "$dir/last")" true

sql 'SELECT sum(seen), sum(submitted), sum(filtered), sum(dropped), sum(received) FROM account' |
	tr '|' ' ' >"$dir/account"
read -r seen submitted filtered dropped received <"$dir/account"
is "account and JSON agree" \
	"$(jq -r '"\(.seen) \(.submitted) \(.filtered) \(.dropped) \(.received)"' "$dir/last")" \
	"$(cat "$dir/account")"
is "seen = submitted + filtered + dropped" "$seen" $((submitted + filtered + dropped))
is "submitted = received" "$submitted" "$received"
at_least "dropped" "$dropped" 1
is "stored" "$(sql 'SELECT count(*) FROM every_call')" "$received"
is "loss rows" "$(sql "SELECT sum(count) FROM loss WHERE reason = 'ring_full'")" "$dropped"
is "loss in JSON" "$(jq .loss.ring_full "$dir/last")" "$dropped"
is "calls counted all the same" "$(calls_of "$caller" cudaMemcpyAsync)" $count
is "bytes too" "$(sql "SELECT bytes FROM op_totals WHERE pid = $caller")" $((count * 3 * 4096))
is "explain says what was lost" \
	"$("$culprit" explain --db "$db" --json | jq -r '"\(.loss.dropped) \(.loss.ring_full)"')" \
	"$dropped $dropped"
