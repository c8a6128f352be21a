#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two containers on one CPU: the one that computes delays the one that trains, and both are named.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=test/tenants.sh
. "$(dirname "$0")/../tenants.sh"

hierarchy any
cpu=$(last_cpu)
id_of victim
victim=$id victim_short=$(echo "$id" | cut -c1-12)
group "docker/$victim"
victim_group=$group
id_of culprit
other=$id other_short=$(echo "$id" | cut -c1-12)
pod=0b1c2d3e-1111-2222-3333-444455556666
group "kubepods/burstable/pod$pod/$other"
# Names below its own root are the tenant's to choose: here it would pass for the other one.
group "kubepods/burstable/pod$pod/$other/docker/$victim"
forged=$group

(inside "$victim_group" taskset -c "$cpu" "$python" "$sim/train.py" --seconds 60) >"$dir/train" 2>&1 &
training=$!
started="$started $training"
soon 20 trained || die "the loop does not start"
trace_with --pid "$training"
sleep 2
hog "$cpu" etl
echo "$hog" >"$forged/cgroup.procs" || die "cannot move $hog"
renice -n -10 -p "$hog" >/dev/null # so that nobody else on this machine takes more
sleep 5
untrace
stop "$training"
stop "$hog"

"$culprit" explain --db "$db" --json >"$dir/json"
is_json "json" "$dir/json"
jq -c "[.findings[] | select(.cause == \"cpu-contention\")][0]" "$dir/json" >"$dir/found"
is "whose it is" "$(jq -r .where.container "$dir/found")" "$victim_short"
is "runtime" "$(jq -r .where.tenant.runtime "$dir/found")" docker
jq -c '[.culprits[] | select(.comm == "etl")][0]' "$dir/found" >"$dir/etl"
is "whose the other is, not whom it says" "$(jq -r .container "$dir/etl")" "$other_short"
is "its pod" "$(jq -r .tenant.pod_uid "$dir/etl")" "$pod"
if [ "$(jq '.share_pct | floor' "$dir/etl")" -ge 40 ]; then
	is "title" "$(jq -r .title "$dir/found" | sed 's/.*; //')" \
		"tenant $other_short delayed tenant $victim_short"
	jq -r '.fix[]' "$dir/found" >"$dir/fix"
	has "fix" "$dir/fix" "keep tenant $other_short off the CPUs of tenant $victim_short"
	is "in its account" "$(jq -r ".containers[] | select(.container_id == \"$victim\") | .delayed_by[0].container_id" "$dir/json")" \
		"$other"
	is "in the other's account" "$(jq -r ".containers[] | select(.container_id == \"$other\") | .delayed[0].container_id" "$dir/json")" \
		"$victim"
	"$culprit" explain --db "$db" --per-container >"$dir/text"
	has "text: by whom" "$dir/text" "delayed by tenant $other_short for"
	has "text: whom" "$dir/text" "delayed tenant $victim_short for"
else
	note "title not checked: others took more of the CPU than the second tenant"
fi

prefix=$(echo "$victim" | cut -c1-7)
runs "by the beginning of its id" 0 "$culprit" explain --db "$db" --container "$prefix" --json
is "its findings alone" "$(jq -r '[.findings[].where.container] | unique | .[]' "$dir/out")" "$victim_short"
is "its processes alone" "$(jq -r '[.processes[].pid] | .[]' "$dir/out")" "$training"
runs "by the pod: nothing was traced there" 0 "$culprit" explain --db "$db" --container "$pod" --json
is "no findings of the other" "$(jq '.findings | length' "$dir/out")" 0
runs "one that is not there" 3 "$culprit" explain --db "$db" --container nobody
has "who is there" "$dir/err" "$victim_short"

is "row" "$(sql "SELECT runtime || ' ' || (cgroup_id > 1) FROM container WHERE container_id = '$victim'")" "docker 1"
is "row of its process" "$(sql "SELECT container_id FROM process_container
	JOIN container ON container.id = container JOIN process ON process.id = process
	WHERE pid = $training")" "$victim"
is "row of whom it was blamed on" "$(sql "SELECT DISTINCT container_id FROM blamed
	JOIN cgroup_container ON cgroup_container.cgroup = blamed.cgroup
	JOIN container ON container.id = container WHERE pid = $hog AND container_id <> ''")" "$other"
