#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A stall is told at most a second after it ended, with its cause; what is found stays in the store.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$dir/loop.py" <<'EOF'
import sys, time
import simgpu
gpu = simgpu.Gpu(kernel_us=50)
def steps(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        gpu.launch(8)
        gpu.sync(stream=0)
steps(2)
for _ in range(5):
    time.sleep(0.3)
    print(time.time_ns(), flush=True)
    steps(1.2)
EOF
trace_with --json
"$python" "$dir/loop.py" >"$dir/ends" || die "the loop failed"
sleep 1
untrace
is_json "the stream" "$trace_out"
is "stalls made" "$(wc -l <"$dir/ends")" 5
"$python" - "$trace_out" "$dir/ends" >"$dir/late" <<'EOF'
import json, sys
told = [line for line in map(json.loads, open(sys.argv[1])) if "stall" in line]
for end in map(int, open(sys.argv[2])):
    near = [t for t in told if 0 <= t["time_ns"] - end < 3e9 and t["stall"]["dur_ns"] > 25e7]
    print((near[0]["time_ns"] - end) // 1000000 if near else "never", near[0]["stall"]["cause"] if near else "")
EOF
cat "$dir/late"
is "all are told within a second, with the cause" \
	"$(awk '$1 != "never" && $1 <= 1000 && $2 == "self-sleep"' "$dir/late" | wc -l)" 5

runs "explain" 0 "$culprit" explain --db "$db" --json
is "the stalls are rows with their chains" "$(sql "SELECT count(DISTINCT call.id) FROM call
	JOIN call_wait ON call = call.id JOIN hop ON hop.chain = call_wait.chain AND n = 0
	WHERE dur_ns > 250000000 AND hop.state = 'sleep'")" 5

# A cause that stays becomes an incident, kept with the time when it was first and last seen.
db=$dir/incident.db
train 0 30
trace
soon 10 trained
sleep 2
hog 0 backup-sync
sleep 5
stop "$hog"
sleep 2
untrace
is "an incident" "$(sql "SELECT cause, s.text, last_ns - first_ns BETWEEN 2000000000 AND 9000000000
	FROM incident JOIN string AS s ON s.id = culprit ORDER BY lost_ns DESC LIMIT 1")" "cpu-contention|backup-sync|1"
has "told when it began" "$trace_out" "CPU contention: backup-sync"
