#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every kind of Python frame, on every interpreter of this machine: our stack is the interpreter's
# own, frame for frame, with the line. Functions that are made and freed in a loop are never mixed up.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

cat >"$dir/compare.py" <<'EOF'
"""The stored stacks of a process against what it wrote down itself."""
import json
import os
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
pid = int(sys.argv[2])
stacks = {}
for stack, func, file, line in db.execute(
        "select stack, fu.text, fi.text, line from stack_frame join frame on frame.id = frame "
        "join string fu on fu.id = func join string fi on fi.id = file "
        "where kind = 'python' order by stack, n"):
    stacks.setdefault(stack, []).append([func, file, line])
calls = {}
for aux, stack in db.execute(
        "select aux, stack from call join op on op.id = op join thread on thread.id = thread "
        "join process on process.id = process where symbol = 'cudaEventSynchronize' "
        "and (pid = ? or ppid = ?)", (pid, pid)):
    calls[aux] = stack
right = wrong = missing = 0
for name in sys.argv[3:]:
    for row in open(name) if os.path.exists(name) else ():
        number, want = json.loads(row)
        got = stacks.get(calls.get(number))
        if got is None:
            missing += 1
            print("missing", number, calls.get(number), want[:3], file=sys.stderr)
        elif got == want[:128]:
            right += 1
        else:
            wrong += 1
            print("wrong", number, [pair for pair in zip(got, want) if pair[0] != pair[1]][:2],
                  len(got), len(want), file=sys.stderr)
print(right, wrong, missing)
EOF

# stacks_of PYTHON WHAT...: $counts is "right wrong missing"
stacks_of() {
	interpreter=$1
	shift
	rm -f "$db"*
	waiting "$interpreter" "$here/pystack.py" "$sim/libcudart.so.13" "$dir/stacks" "$@"
	trace_with --record-all --ring 64m
	go "$caller"
	ends "$caller"
	untrace
	counts=$("$python" "$dir/compare.py" "$db" "$caller" "$dir/stacks" "$dir/stacks.child" 2>"$dir/wrong")
	head -5 "$dir/wrong" | cut -c 1-400
	rm -f "$dir/stacks" "$dir/stacks.child"
}

found=0 churn=${CHURN:-10000}
for interpreter in /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]* \
	"${HOME:-/root}"/.pyenv/versions/3.*/bin/python3.[0-9]*; do
	version=$("$interpreter" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
	case $version in
	3.9.* | 3.1[0-4].*) ;;
	*) continue ;;
	esac
	case $interpreter in
	*config* | *-dbg) continue ;;
	esac
	found=$((found + 1))
	stacks_of "$interpreter"
	is "$version ($interpreter): right, wrong, missing" "$counts" "387 0 0"
	stacks_of "$interpreter" churn "$churn"
	is "$version: made and freed" "$counts" "$churn 0 0"
done
at_least "interpreters" $found 1
