#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Steps are found by the rhythm of the calls: as many and as long as the loop itself says.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

trace
for sync in spin block; do
	"$python" "$sim/train.py" --steps 500 --sync $sync >"$dir/$sync" || die "the loop failed"
done
sleep 1
untrace
sql "SELECT process.pid, sum(steps), sum(dur_ns) FROM step_second JOIN thread ON thread.id = thread
	JOIN process ON process.id = thread.process JOIN string ON string.id = cmdline
	WHERE text LIKE '%train.py --steps 500%' GROUP BY thread ORDER BY min(at_ns)" >"$dir/steps"
is "loops with steps" "$(wc -l <"$dir/steps")" 2
for sync in spin block; do
	line=$(if [ $sync = spin ]; then head -1 "$dir/steps"; else tail -1 "$dir/steps"; fi)
	wall=$(tail -1 "$dir/$sync" | jq '.wall_s * 1e9 / .steps')
	near "$sync: steps" "$(echo "$line" | cut -d'|' -f2)" 500 2
	near "$sync: ns per step" "$(echo "$line" | awk -F'|' '{ print $3 / $2 }')" "$wall" 2
done
is "every split adds up" "$(sql "SELECT count(*) > 4, sum(dur_ns <> host_ns + data_ns + copy_ns + sync_ns +
	coll_ns + other_ns) FROM step_second")" "1|0"
is "the GPU idles between steps, and not all the time" "$(sql "SELECT sum(idle_ns) > 0 AND
	sum(idle_ns) < sum(dur_ns) FROM step_second")" 1
runs "explain --per-process" 0 "$culprit" explain --per-process --db "$db"
has "it tells of steps" "$dir/out" "step"
