#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who holds Python's interpreter lock, and in which line, on every interpreter of this machine.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$dir/gil.py" <<'EOF'
import sys, threading, time
import simgpu

gpu = simgpu.Gpu(kernel_us=500)


def hog():
    total = 0
    while True:
        total += sum(range(40))


def step():
    for _ in range(4):
        gpu.launch()
    gpu.sync(stream=0)


print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + 6
while time.monotonic() < end:
    if time.monotonic() > end - 3 and threading.active_count() == 1:
        threading.Thread(target=hog, daemon=True).start()
    step()
EOF
cat >"$dir/holder.py" <<'EOF'
"""The cause, the culprit's function and whether its line is in the loop, for one process."""
import json
import sys

pid = int(sys.argv[1])
for f in json.load(sys.stdin)["findings"]:
    if f["where"]["pid"] == pid and f["cause"] == "gil":
        c = f["culprits"][0]
        line = "loop" if c.get("line") in (9, 10, 11) else c.get("line")
        waits = f["where"].get("func", "").split(".")[-1]  # in calls of the GPU, which come back without the lock
        print(f["cause"], c.get("func"), line, "gpu" if waits in ("launch", "sync") else waits)
        break
else:
    print("no such finding")
EOF

found=0
interpreters >"$dir/interpreters"
while read -r version interpreter; do
	found=$((found + 1))
	rm -f "$db"*
	waiting "$interpreter" "$dir/gil.py"
	trace_with
	go "$caller"
	ends "$caller"
	untrace
	"$culprit" explain --db "$db" --json >"$dir/explained"
	is "$version: cause, culprit's function and line, who waited" \
		"$("$python" "$dir/holder.py" "$caller" <"$dir/explained")" "gil hog loop gpu"
done <"$dir/interpreters"
at_least "interpreters" $found 1
