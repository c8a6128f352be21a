# SPDX-License-Identifier: Apache-2.0
# What the players of lineage_turns.sh share: they take turns on one CPU, on files of the folder that they are given.
import ctypes
import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def path(name):
    return os.path.join(sys.argv[1], name)


def forked(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    os.waitpid(pid, 0)


def called(*names):
    libc = ctypes.CDLL(None)
    for name in names:
        libc.prctl(15, name, 0, 0, 0)
