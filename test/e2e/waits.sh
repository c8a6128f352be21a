#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a thread waits for is told apart, adds up to the nanosecond, and is followed to its root.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

# Each wait is made once. The kernel does not report a wake-up or switch now and then (one that happens
# inside another), and then its chain ends too early: up to three tries, each said.
if [ -z "${TRY:-}" ]; then
	for try in 1 2 3; do
		TRY=$try sh "$0" "$@" >"$dir/try" 2>&1 && right=1 && break
		[ $try = 3 ] || note "try $try: $(grep FAIL "$dir/try" | tr '\n' ';')"
	done
	cat "$dir/try"
	[ -n "${right:-}" ]
	exit
fi

head -c 16m /dev/urandom >"$dir/data"
sync "$dir/data"
trace_with --record-all --ring 64m
"$python" "$(dirname "$0")/waits.py" "$dir/data" >"$dir/waits" || die "the loop failed"
sleep 1
untrace
is "waits made" "$(wc -l <"$dir/waits")" 13
is "stops lost" "$(sql "SELECT ifnull(sum(count), 0) FROM loss WHERE reason = 'history'")" 0

cat >"$dir/check.py" <<'EOF'
"""For each wait: the state that most of its gap was spent in, and the chain of most of that."""
import sys

import tracedb

db = tracedb.connect(sys.argv[1])
states = [row[1][:-3] for row in db.execute("pragma table_info(call)") if row[1].endswith("_ns")
          and row[1] not in ("start_ns", "dur_ns", "usual_ns", "kernel_ns")]
columns = ", ".join(s + "_ns" for s in states)
off = db.execute("select count(*), sum(dur_ns <> %s) from every_call" % columns.replace(", ", " + ")).fetchone()
print("sums", off[0], off[1])
for line in open(sys.argv[2]):
    name, start, end = line.split()
    gap = db.execute("select call.id, dur_ns, %s from call join op on op.id = op join thread on thread.id = thread "
                     "join process on process.id = process join string on string.id = cmdline "
                     "where class = 'gap' and text like '%%waits.py%%' "
                     "and call.start_ns + dur_ns between ? and ? order by dur_ns desc" % columns,
                     (int(start), int(end))).fetchone()
    if not gap:
        print("wait", name, "not stored")
        continue
    waits = {s: ns for s, ns in zip(states, gap[2:]) if s not in ("run", "irq", "steal", "preempted", "wake")}
    most = max(waits, key=waits.get)
    chain = db.execute("select call_wait.chain, sum(ns) from call_wait join hop on hop.chain = call_wait.chain "
                       "where call = ? and n = 0 and state = ? group by 1 order by 2 desc",
                       (gap[0], most)).fetchone()
    hops = db.execute("select state, waker, object, relation from hop where chain = ? order by n",
                      (chain[0],)).fetchall() if chain else []
    print("wait", name, most, 100 * waits[most] // gap[1], "<-".join(
        "%s/%s%s" % (s, w, "/" + o if o and o != "none" else "") for s, w, o, _ in hops))
EOF
"$python" "$dir/check.py" "$db" "$dir/waits" >"$dir/told"
sed 's/^/     /' "$dir/told"
is "every split adds up" "$(awk '/^sums/ { print ($2 > 1000), $3 }' "$dir/told")" "1 0"

# told WAIT STATE CHAIN: a regular expression for the hops
told() {
	is "$1: state" "$(awk -v n="$1" '$1 == "wait" && $2 == n { print $3 }' "$dir/told")" "$2"
	chain=$(awk -v n="$1" '$1 == "wait" && $2 == n { print $5 }' "$dir/told")
	if printf '%s\n' "$chain" | grep -qE "^$3\$"; then good "$1: chain" "$chain"; else bad "$1: chain" "$chain" "$3"; fi
}
told pipe pipe 'pipe/task/pipe<-sleep/timer'
told sleep sleep 'sleep/timer'
told socket socket 'socket/task/unix_socket<-sleep/timer'
told tcp socket 'socket/task/tcp<-sleep/timer'
told poll poll 'poll/task/tcp<-sleep/timer'
told futex futex 'futex/task/lock<-sleep/timer'
told read read 'read/(block|irq|kthread|task)/file'
told fault fault 'fault/(block|irq|kthread|task)'
told fsync fsync 'fsync/(block|irq|kthread|task)/file'
# Opening a file to write it anew waits for what is being written of the old one: that is no reading.
told cut write 'write/(block|irq|kthread|task)/file'
told gil futex 'futex/task/gil<-(run|preempted|wake)/nobody'
told child child 'child/task<-sleep/timer'
is "gc: state" "$(awk '$1 == "wait" && $2 == "gc" { print $3 }' "$dir/told")" gc

is "wake-ups by interrupts name no task" "$(sql "SELECT count(*) FROM hop AS a JOIN hop AS b ON
	b.chain = a.chain AND b.n = a.n + 1 WHERE a.waker IN ('irq', 'block', 'net', 'timer')")" 0
# The interrupt that ends a read of the disk belongs to a device; where a kernel thread ends it, none is told.
is "interrupts have their device's name" "$(sql "SELECT count(*) FROM hop JOIN string ON string.id = device
	WHERE irq >= 0 AND waker IN ('irq', 'block', 'net') AND text = ''")" 0
at_least "waits that a named interrupt ended" "$(sql "SELECT count(*) FROM hop JOIN string ON string.id = device
	WHERE irq >= 0 AND text <> ''")" 1
is "the file is named" "$(sql "SELECT count(*) > 0 FROM hop JOIN string ON string.id = name
	WHERE state = 'read' AND text LIKE '%/data'")" 1

# What happened on the host beside it, by event.
happened() {
	at_least "$1 events" "$(sql "SELECT ifnull(sum(count), 0) FROM host_event WHERE event = '$1'")" "$2"
}
happened fork 2
happened exec 1
happened exit 1
happened block_io 4
is "disk requests have a length" "$(sql "SELECT count(*) FROM host_event WHERE event = 'block_io'
	AND ns <= 0")" 0
is "the host is sampled every second" "$(sql "SELECT count(*) >= 3 AND min(mem_total_kb) > 0
	FROM system_second")" 1
