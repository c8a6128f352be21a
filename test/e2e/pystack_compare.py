#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stored stacks of a process against what it wrote down itself.

pystack_compare.py DB PID OUTPUT...: prints how many are right, wrong and missing."""
import json
import os
import sys

import tracedb

db = tracedb.connect(sys.argv[1])
pid = int(sys.argv[2])
stacks = {}
for stack, func, file, line in db.execute(
        "select stack, fu.text, fi.text, line from stack_frame join frame on frame.id = frame "
        "join string fu on fu.id = func join string fi on fi.id = file "
        "where kind = 'python' order by stack, n"):
    stacks.setdefault(stack, []).append([func, file, line])
calls = {}
for aux, stack in db.execute(
        "select aux, stack from every_call join op on op.id = op join thread on thread.id = thread "
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
