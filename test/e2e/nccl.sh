#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NCCL: what each call was passed, its communicator, rank and sequence number, and the wait that
# follows it, for 1 and 4 ranks; communicators from before the trace; wild pointers.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_MEET_MS=5000
here=$(cd "$(dirname "$0")" && pwd)

# ranks N [early]: N ranks that wait for `go`, traced; they run and end: $hash
ranks() {
	rm -rf "$dir/ranks"
	mkdir "$dir/ranks"
	db=$dir/nccl.$1${2:-}.db
	waiting "$python" "$here/nccl.py" "$1" "$dir/ranks" ${2:+"$2"}
	hash=$(sed -n 's/^hash //p' "$caller_out")
	pids=$(sed -n 's/^pids //p' "$caller_out")
	started="$started $pids" # they are gone, unless something breaks
	trace
	touch "$dir/ranks/go"
	ends "$caller"
	started=
	untrace
	is "nothing lost" "$(sql "SELECT coalesce(sum(count), 0) FROM loss WHERE reason IN ('no_comm', 'no_collective')")" 0
}

# passed: what the ranks say that they passed; traced CONDITION: the same of the trace
passed() {
	grep -hv '^wait' "$dir/ranks"/rank.* | sort
}
traced() {
	sql "SELECT coalesce(rank, '-'), op, seq, datatype, coalesce(nullif(reduce_op, ''), '-'), coalesce(root, '-'),
		count, bytes, stream FROM nccl_events WHERE $1" | tr '|' ' ' | sort
}

# same WHAT: $dir/passed and $dir/traced
same() {
	if cmp -s "$dir/passed" "$dir/traced"; then
		good "$1" "$(wc -l <"$dir/passed") lines"
	else
		bad "$1" "$(diff "$dir/passed" "$dir/traced" | head -12)" "no difference"
	fi
}

# waits N: each wait as its rank has measured it, and as the trace joined it to its collective
waits() {
	own=$(sed -n 's/^wait \([0-9]*\) \([0-9]*\) \([0-9]*\)$/(\1,\2,\3)/p' "$dir/ranks"/rank.* | paste -sd,)
	# Its own clock has also what it waits for a CPU on a busy machine.
	at_least "waits as measured" "$(sql "WITH own(rank, seq, ns) AS (VALUES $own) SELECT count(*) FROM own JOIN nccl_events e
		ON e.rank = own.rank AND e.seq = own.seq AND comm_hash = $hash AND op = 'ncclAllReduce' AND joined = 'stream'
		WHERE waited_ns <= ns AND ns - waited_ns < 300000 + ns / 20")" $((19 * $1))
}

for n in 1 4; do
	ranks $n
	passed >"$dir/passed"
	traced "comm_hash = $hash" >"$dir/traced"
	same "$n ranks: every argument"
	is "$n ranks: sequence numbers" "$(sql "SELECT count(DISTINCT rank), min(n), max(n), min(least), max(most) FROM (
		SELECT rank, count(DISTINCT seq) AS n, min(seq) AS least, max(seq) AS most FROM nccl_events
		WHERE comm_hash = $hash AND op NOT IN ('ncclSend', 'ncclRecv') GROUP BY rank)")" "$n|128|128|1|128"
	is "$n ranks: counted in full" "$(sql "SELECT sum(collectives), sum(p2p), sum(told) FROM communicator_second JOIN
		communicator c ON c.id = communicator WHERE hash = $hash")" "$((n * 128))|$((n * 24))|$((n * 152))"
	is "$n ranks: world size, made by, gone" "$(sql "SELECT count(*), min(nranks), max(nranks), sum(gone_ns > made_ns)
		FROM communicator WHERE hash = $hash")" "$n|$n|$n|$n"
	is "$n ranks: both ways to join" "$(sql "SELECT DISTINCT symbol FROM communicator JOIN op ON op.id = made_by
		WHERE hash = $hash ORDER BY symbol" | paste -sd,)" "ncclCommInitRank$([ $n -eq 1 ] || echo ,ncclCommInitRankConfig)"
	is "$n ranks: a send or receive is grouped, a collective is not" "$(sql "SELECT min(grouped), max(grouped) FROM collective
		JOIN op ON op.id = op WHERE symbol IN ('ncclSend', 'ncclRecv') UNION ALL SELECT min(grouped), max(grouped) FROM
		collective JOIN communicator c ON c.id = communicator JOIN op ON op.id = op WHERE hash = $hash AND class = 'collective'" |
		tr '\n' ' ')" "1|1 0|0 "
	is "$n ranks: bytes of all-reduces" "$(sql "SELECT sum(bytes) FROM op_totals WHERE op = 'ncclAllReduce'")" \
		"$(($(awk '$2 == "ncclAllReduce" { n += $8 } END { print n }' "$dir/passed") + n * (40 + 88)))"
	is "$n ranks: the environment" "$(sql 'SELECT count(*), min(rank), max(rank), max(world), max(source) FROM rank_env')" \
		"$n|0|$((n - 1))|$n|RANK"
	is "$n ranks: a broadcast inside one is not counted twice" "$(sql "SELECT count(*) FROM nccl_events
		WHERE comm_hash = $hash AND op IN ('ncclBcast', 'ncclBroadcast')")" $((n * 24))
	# Split by parity, in reverse order: rank 3 is the first of the odd ones.
	want=$(for r in $(seq 0 $((n - 1))); do echo "$r $(((n - 1 - r) / 2)) $(((n - r % 2 + 1) / 2))"; done | sort)
	is "$n ranks: split" "$(sql "SELECT rank_env.rank || ' ' || communicator.rank || ' ' || nranks FROM communicator
		JOIN rank_env USING(process) WHERE parent = $hash" | sort)" "$want"
	is "$n ranks: one hash for each color" "$(sql "SELECT count(DISTINCT hash) FROM communicator WHERE parent = $hash")" \
		$((n > 1 ? 2 : 1))
	is "$n ranks: of one process alone" "$(sql "SELECT count(*), count(DISTINCT hash), count(DISTINCT rank), sum(gone_ns > 0)
		FROM communicator JOIN op ON op.id = made_by WHERE symbol = 'ncclCommInitAll'")" "$((2 * n))|$n|2|$n"
	waits $n
done
# The last rank came 30 ms late every other time: the others waited, it did not.
is "late: the others" "$(sql "SELECT count(*) FROM nccl_events WHERE comm_hash = $hash AND rank < 3
	AND waited_ns BETWEEN 25e6 AND 60e6 AND joined = 'stream'")" 30
is "late: itself" "$(sql "SELECT count(*) FROM nccl_events WHERE comm_hash = $hash AND rank = 3
	AND waited_ns > 20e6 AND joined = 'stream'")" 0

ranks 4 early
passed >"$dir/passed"
traced "comm_hash IS NULL AND stream > 100" >"$dir/traced"
same "early: every argument, rank by the environment"
is "early: not seen to be made" "$(sql 'SELECT count(*), count(made_by), count(made_ns), count(hash), count(rank) FROM communicator
	WHERE parent IS NULL AND made_by IS NULL AND id IN (SELECT communicator FROM collective WHERE stream > 100)')" "4|0|0|0|0"

# Wild pointers: nothing is read, nothing breaks, everything is counted.
db=$dir/wild.db
wild=
for args in 'ncclAllReduce 31 1 1 2 0x7fffffffffffffff 99 -7 0xdead 3' 'ncclSend 31 1 1 -1 -1 -1 -1 -1' \
	'ncclCommSplit 31 1 0xbad 1 2 0 0' 'ncclCommDestroy 31 1 -1' \
	'ncclCommInitRankScalable 31 1 0 -5 -6 0x7fffffff -140737488355328' 'ncclCommInitAll 31 1 0 1000000000 0' \
	'ncclReduce 31 1 1 2 3 7 77 -3 0 0'; do
	# shellcheck disable=SC2086 # words
	hold $args
	wild="$wild $caller"
done
trace_with --record-all
# shellcheck disable=SC2086 # ids
go $wild
for caller in $wild; do
	ends "$caller"
done
untrace
is "wild: all counted" "$(sql "SELECT sum(calls) FROM op_totals WHERE op LIKE 'nccl%'")" $((7 * 31))
is "wild: type and size" "$(sql "SELECT DISTINCT datatype, reduce_op, bytes IS NULL FROM nccl_events WHERE op = 'ncclAllReduce'")" \
	"99|-7|1"
is "wild: a rank that cannot be" "$(sql 'SELECT count(*) FROM communicator WHERE rank IS NOT NULL AND rank > 1000000')" 0
is "wild: collectives told" "$(sql 'SELECT count(*), sum(ret) FROM collective')" "93|0"

# Many at once: the first of each second are told, all are counted.
db=$dir/many.db
hold ncclAllReduce 3001 1 1 2 1000 7 0 0x5000 3
trace
go "$caller"
ends "$caller"
untrace
is "many: counted in full" "$(sql 'SELECT sum(collectives), sum(bytes) FROM communicator_second')" "3001|$((3001 * 4000))"
told=$(sql 'SELECT count(*) FROM collective')
at_least "many: told" "$told" 256
at_most "many: told" "$told" $((256 * 3))
is "many: told as counted, with their numbers" "$(sql "SELECT (SELECT sum(told) FROM communicator_second) = count(*),
	max(seq) <= 3001, count(DISTINCT seq) = count(*) FROM collective")" "1|1|1"
