# SPDX-License-Identifier: Apache-2.0
# Direct reads and writes of one CPU, in turn of different tasks, files and tags: lineage_turns.py FOLDER.
# Prints for each: where in its file, what, the file, who, tagged or not.
import mmap
import os

from lineage_play import called, forked, path

PAGE = 4096
memory = mmap.mmap(-1, PAGE)
turn = 0


def make(name):
    with open(path(name), "wb") as f:
        f.write(os.urandom(64 * PAGE))
        os.fsync(f.fileno())


def one(name, op="read", tagged=0):
    global turn
    fd = os.open(path(name), os.O_RDWR | os.O_DIRECT)
    (os.preadv if op == "read" else os.pwritev)(fd, [memory], turn * PAGE)
    os.close(fd)
    print(turn * PAGE, op, name, os.getpid(), tagged, flush=True)
    turn += 1


def by_child(*args):
    global turn
    forked(lambda: one(*args))
    turn += 1


for name in "a", "b", "c":
    make(name)
os.sync()
for name in "a", "a", "b", "a", "a":
    one(name)
one("a", "write")
one("a")
by_child("a")
one("a")
one("c")
one("c")
os.unlink(path("c"))
make("d")  # mostly with the number of the one before
one("d")
one("d")
one("a")
one("a")
called(b"ai:turns/tag", b"ai=", b"turns")
one("a", "read", 1)
one("b", "read", 1)
by_child("b", "read", 1)
called(b"ai=", b"turns")
one("b")
one("b")
one("a")
