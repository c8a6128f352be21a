#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A second that was reported is in the trace, though the tracer is killed: 20 times.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# four ROUND: four tracers at once, killed at four moments of the second after the first report
four() {
	hold cudaMemcpyAsync 4000037 2
	tracers=
	for k in 1 2 3 4; do
		db=$dir/$1.$k.db
		trace_with --json --record-all
		tracers="$tracers $tracer:$k:$trace_out"
	done
	go "$caller"
	sleep 1.$((RANDOM_SEED * $1 * 7 % 10))
	for t in $tracers; do
		kill -KILL "${t%%:*}"
		sleep 0.0$((RANDOM_SEED * $1 * 3 % 10))7
	done
	for t in $tracers; do
		reap "${t%%:*}"
		lines=${t##*:}
		k=${t#*:}
		db=$dir/$1.${k%%:*}.db
		is "integrity $1.$k" "$(sqlite3 "$db" 'PRAGMA integrity_check')" ok
		said=$(grep '"seen":.*}$' "$lines" | tail -1 | jq .seen)
		at_least "seen, stored" "$(sql 'SELECT coalesce(sum(seen), 0) FROM account')" "${said:-0}"
		is "calls of these seconds, every one" "$(sql 'SELECT (SELECT count(*) FROM every_call) -
			(SELECT coalesce(sum(received), 0) FROM account)')" 0
		said_all="$said_all ${said:-0}"
	done
	stop "$caller"
}

RANDOM_SEED=$(($$ % 1000 + 1))
said_all=
for round in 1 2 3 4 5; do
	four $round
done
echo "reported:$said_all"
# shellcheck disable=SC2086 # a list
is "kills" "$(printf '%s\n' $said_all | wc -l)" 20
# shellcheck disable=SC2086 # a list
at_least "of them after a report" "$(printf '%s\n' $said_all | grep -cv '^0$')" 10
