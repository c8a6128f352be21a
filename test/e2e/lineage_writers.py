# SPDX-License-Identifier: Apache-2.0
# Buffered writes of one CPU, in turn of different tasks, threads, files and tags: lineage_writers.py FOLDER.
# Prints for each: where in its file, the file, whose it is (process, thread; 0: either of several), tagged or not.
import os
import threading

from lineage_play import called, forked, path

PAGE = 4096
APART = 64 * 1024  # what may have an owner of its own
TURNS = 64
turn = 0


# By another process, so that we have written none of it. And out of the cache again: there it is in large pieces, and
# the kernel tells of each once, whoever writes into it.
def make(name):
    def fill():
        with open(path(name), "wb") as f:
            f.write(os.urandom(TURNS * APART))
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    forked(fill)


def write(name, tagged=0, tid=None, at=0):
    global turn
    fd = os.open(path(name), os.O_WRONLY)
    os.pwrite(fd, os.urandom(PAGE), turn * APART + at)
    os.close(fd)
    tid = threading.get_native_id() if tid is None else tid
    print(turn * APART + at, name, os.getpid(), tid, tagged, flush=True)
    turn += 1


def by_child(*args):
    global turn
    forked(lambda: (write(*args), write(*args)))
    turn += 2


def by_thread(*args):
    thread = threading.Thread(target=write, args=args)
    thread.start()
    thread.join()


for name in "e", "f", "g":
    make(name)
# One file, then two in turn, nothing written out in between.
for name in "e", "e", "e", "f", "e", "f", "f", "e":
    write(name)
os.sync()
# A second writer between the writes of the first; then each alone, what was before being written out.
write("e")
write("e")
by_child("e")
write("e")
by_child("e")
by_child("e")
write("e")
write("f")
os.sync()
by_child("e")
os.sync()
write("e")
write("e")
os.sync()
# Threads of one process: either, as long as data of both is not written out.
write("f", 0, 0)
by_thread("f", 0, 0)
write("f", 0, 0)
os.sync()
by_thread("f")
os.sync()
write("f")
os.sync()
# A file that mostly has the number of another one.
write("g")
write("g")
os.sync()
os.unlink(path("g"))
make("h")
write("h")
write("h")
os.sync()
# A tag that comes and goes.
write("e")
write("e")
called(b"ai:writers/tag", b"ai=", b"writers")
write("e", 1)
write("f", 1)
by_child("f", 1)
write("e", 1)
called(b"ai=", b"writers")
write("e")
write("f")
write("f")
os.sync()
