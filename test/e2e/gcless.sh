#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An interpreter without probes and symbols: its garbage collections are seen all the same, by looks
# at it, and the answer says that it is less sure.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

objcopy -R .note.stapsdt -R .symtab -R .strtab "$(readlink -f /usr/bin/python3)" "$dir/python3" ||
	skip "objcopy cannot strip $(readlink -f /usr/bin/python3)"
cat >"$dir/loop.py" <<'END'
import gc, sys, time
import simgpu

gpu = simgpu.Gpu()
many = [[i] for i in range(600000)]
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + 5
while time.monotonic() < end:
    gpu.launch(20)
    gpu.sync()
    gc.collect()  # the line
END
waiting "$dir/python3" "$dir/loop.py"
trace
go "$caller"
ends "$caller"
untrace
is "no probe told" "$(sql "SELECT sum(gc_ns) FROM op_second")" 0
at_least "looks that met a collection" "$(sql "SELECT sum(samples) FROM sample_second WHERE state = 'gc'")" 50
found=$(findings_of "$caller" | jq -r '.[] | select(.cause == "python-gc") | "\(.cause) \(.evidence.class) \(.where.line)"')
is "cause, evidence, line" "$found" \
	"python-gc inferred $(sed -n '/# the line/=' "$dir/loop.py")"
