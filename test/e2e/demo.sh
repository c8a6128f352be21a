#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo makes a real stall, and names who caused it.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# At a high priority, so that the hog is the one who takes the most on a busy machine, too.
runs "demo" 0 "$culprit" demo
has "it lists the scenarios" "$dir/out" incident
runs "demo incident" 0 nice -n -15 "$culprit" demo incident
has "the hog is named" "$dir/out" 'CPU contention: metrics-agent had the CPU that python3 needed'
has "... with its share" "$dir/out" 'metrics-agent (pid '
runs "demo incident --json --db" 0 nice -n -15 "$culprit" demo incident --json --db "$db"
is_json "the answer" "$dir/out"
is "cause" "$(jq -r '.findings[0].cause' "$dir/out")" cpu-contention
is "culprit" "$(jq -r '.findings[0].culprits[0].comm' "$dir/out")" metrics-agent
answer=$(md5sum <"$dir/out")
runs "explain on the kept trace" 0 "$culprit" explain --json --db "$db"
is "the same answer" "$(md5sum <"$dir/out")" "$answer"
library=$(jq -r '.coverage[0].library' "$dir/out")
is "nothing left in ${library%/*}" "$(ls "${library%/*}" 2>/dev/null)" ''
# Each for real, then its recording, as anybody may see it.
while read -r name cause culprit_name; do
	runs "demo $name" 0 nice -n -15 "$culprit" demo "$name" --json
	is "$name: cause" "$(jq -r '.findings[0].cause' "$dir/out")" "$cause"
	runs "demo --no-gpu $name" 0 setpriv --reuid 65534 --clear-groups "$culprit" demo --no-gpu "$name" --json
	is "$name, recorded: cause" "$(jq -r '.findings[0].cause' "$dir/out")" "$cause"
	[ "$culprit_name" = self ] ||
		is "$name, recorded: $culprit_name is a culprit" \
			"$(jq --arg comm "$culprit_name" 'any(.findings[0].culprits[]; .comm == $comm)' "$dir/out")" true
done <<END
cold-start cold-start self
memcpy-bottleneck copy-bound self
periodic-spike cpu-contention log-compactor
cpu-contention cpu-contention node-exporter
gpu-steal gpu-shared batch-infer
END
is "scenarios" "$("$culprit" demo | wc -l)" 7
runs "--gpu and --no-gpu" 2 "$culprit" demo --gpu --no-gpu incident
runs "an unknown scenario" 1 "$culprit" demo nonsense
has "... is named" "$dir/err" nonsense
