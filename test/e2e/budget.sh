#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A launch storm costs no more than it may: what is not looked at is said, estimated, and taken up
# again; below the limit every launch is counted.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

export SIM_LAUNCH_US=1 SIM_KERNEL_US=0

# loss FIELD: as explain has it
loss() {
	"$culprit" explain --db "$db" --json | jq -r ".loss.$1"
}

# launched TIME_NS: how many the storm had made by then
launched() {
	awk -v at="$1" '$1 + 0 > at { exit } NF == 3 { n = $2 } END { print n + 0 }' "$dir/out.$caller"
}

# cost FROM TO: mean ns of CPU time that a launch took then
cost() {
	awk -v from="$1" -v to="$2" 'NF == 3 && $1 > from && $1 <= to && n { ns += $3 * ($2 - n); k += $2 - n }
		NF == 3 { n = $2 } END { printf "%d", k ? ns / k : 0 }' "$dir/out.$caller"
}

# ---- what it takes as a limit

for bad in x -1 101 '1 percent' nan; do
	runs "--budget '$bad'" 2 "$culprit" trace --no-db --duration 1 --budget="$bad"
	has "--budget '$bad': says what is wrong" "$dir/err" "--budget: '$bad'"
done

# ---- below the limit nothing is shed, and all is counted

waiting "$sim/storm" 3 1500 # by our own account 0.75 to 1.06 % at twice as many
trace_with --pid "$caller" --budget 1
go "$caller"
ends "$caller"
untrace
total=$(sed -n 's/^total //p' "$dir/out.$caller")
is "below the limit: launches" "$(calls_of "$caller" cuLaunchKernel)" "$total"
is "below the limit: shed" "$(sql 'SELECT count(*) FROM shed')" 0
is "below the limit: explain says nothing of it" "$(loss shed)" 0
is "below the limit: cost is stored by the second" "$(sql 'SELECT count(*) >= 2 AND sum(launch_ns) > 0 AND
	min(budget_pct) = 1 FROM cost_second')" 1

# ---- no limit: nothing is shed in a storm

db=$dir/off.db
waiting "$sim/storm" 2 0
trace_with --pid "$caller" --budget off
go "$caller"
ends "$caller"
untrace
total=$(sed -n 's/^total //p' "$dir/out.$caller")
is "no limit: launches" "$(calls_of "$caller" cuLaunchKernel)" "$total"
is "no limit: shed" "$(sql 'SELECT count(*) FROM shed')" 0

# ---- a storm, and then quiet; traced and not in turns, by the clock of the storm itself

db=$dir/storm.db
waiting "$sim/storm" 16 0 12 2000
go "$caller"
sleep 2
off_from=$(($(now_ns) - 1500000000))
off_to=$(now_ns)
trace_with --pid "$caller" --budget 1
begun=$(now_ns)
sleep 7
first_on=$(cost $((begun + 2000000000)) "$(now_ns)")
first_off=$(cost "$off_from" "$off_to")
seen_to=$(now_ns)
made=$(($(launched "$seen_to") - $(launched "$begun")))
seen=$(sql "SELECT coalesce(sum(calls), 0) FROM op_totals WHERE op = 'cuLaunchKernel'")
estimated=$(sql "SELECT coalesce(sum(calls), 0) FROM shed WHERE what = 'launches'")
note "ns of CPU a launch: $first_off untraced, $first_on traced; $made made, $seen seen, $estimated estimated"
# 1, and what two spans of a shared machine differ by; without a limit it is more than 80: see below.
at_most "storm: percent dearer for the program while traced" $((100 * first_on / first_off - 100)) 8
near "storm: seen and estimated make the whole" $((seen + estimated)) "$made" 40
is "storm: shed within 2 s" "$(sql "SELECT min(from_ns) < $begun + 2000000000 FROM shed")" 1
at_most "storm: cost after that by our own account, in 1/100 percent" \
	"$(sql "SELECT cast(100 * avg(worst_pct) AS int) FROM cost_second WHERE at_ns > $begun + 3000000000")" 130

soon 30 grep -q total "$dir/out.$caller" || die "the storm does not end"
over=$(now_ns)
at_least "storm: launches are still looked at" \
	"$(sql "SELECT count(*) FROM shed WHERE what = 'launches'")" 2
sleep 20
untrace
ends "$caller"
is "after it: nothing is shed any more" "$(sql "SELECT max(to_ns) < $over + 18000000000 FROM shed")" 1
is "after it: only launches were" "$(sql 'SELECT DISTINCT what FROM shed')" launches
is "intervals do not overlap" "$(sql 'SELECT count(*) FROM shed a JOIN shed b ON a.from_ns < b.from_ns AND
	a.to_ns > b.from_ns AND a.what = b.what')" 0
is "seen = submitted + filtered + dropped" "$(sql 'SELECT sum(seen) = sum(submitted) + sum(filtered) +
	sum(dropped) FROM account')" 1
has "the table says so" "$trace_out" "to cost no more than 1 %, launches were not looked at"
runs "explain" 0 "$culprit" explain --db "$db"
has "explain says so" "$dir/out" "Launches were counted"
has "explain calls it an estimate" "$dir/out" "(inferred)"
is "explain: JSON" "$(loss shed)" "$(sql "SELECT sum(calls) FROM shed WHERE what = 'launches'")"
is "explain: JSON, spans" "$(loss 'shed_spans[0].spans')" "$(sql 'SELECT count(*) FROM shed')"
is "nobody is said to leave the GPU without work" "$(findings_of "$caller" |
	jq -c '[.[] | select(.cause == "host-bound" or .cause == "sync-too-often") | .cause]')" '[]'

# ---- what a thread does while its launches are hidden is not known: no stall of its own

db=$dir/uneven.db
waiting "$sim/storm" --uneven 7 0
trace_with --pid "$caller" --budget 1
go "$caller"
ends "$caller"
untrace
at_least "uneven: launches were shed" "$(sql "SELECT count(*) FROM shed WHERE what = 'launches'")" 1
# Those of the second or two in which launches were seen, and nothing was shed yet, are right.
shed=$(sql 'SELECT min(from_ns) FROM shed')
is "uneven: gaps told for running too long" "$(sql "SELECT count(*) FROM every_call JOIN op ON op.id = op WHERE
	class = 'gap' AND because & 1 AND start_ns > $shed AND dur_ns - run_ns - irq_ns - steal_ns < 900000")" 0

# ---- the same storm without a limit is dearer: the check above can fail

db=$dir/dear.db
waiting "$sim/storm" 8 0
go "$caller"
sleep 2
off_to=$(now_ns)
trace_with --pid "$caller" --budget off
begun=$(now_ns)
sleep 3
on=$(cost $((begun + 500000000)) "$(now_ns)")
off=$(cost $((off_to - 1500000000)) "$off_to")
untrace
stop "$caller"
at_least "no limit: percent dearer for the program" $((100 * on / off - 100)) 15

# ---- a healthy loop stays healthy, a sick one is found, with almost all launches unseen

cpu=$(last_cpu)
for fault in none hog; do
	db=$dir/$fault.db
	train "$cpu" 60 --sync spin
	soon 10 trained || die "the loop does not start"
	trace_with --pid "$training" --budget 0.02
	sleep 4
	[ $fault = none ] || hog "$cpu" logrotate
	sleep 4
	[ $fault = none ] || stop "$hog"
	untrace
	stop "$training"
	at_least "$fault: launches were shed" "$(sql "SELECT count(*) FROM shed WHERE what = 'launches'")" 1
	at_least "$fault: steps are found all the same" "$(sql 'SELECT coalesce(sum(steps), 0) FROM step_second')" 100
	found=$(findings_of "$training" | jq -r '[.[].cause] | unique | join(" ")')
	case $fault in
	hog) is "hog: found" "$(echo "$found" | tr ' ' '\n' | grep -c cpu-contention)" 1 ;;
	none) is "none: found" "$(echo "$found" | tr ' ' '\n' | grep -v -e cpu-contention -e '^$')" "" ;;
	esac
done
