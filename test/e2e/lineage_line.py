# SPDX-License-Identifier: Apache-2.0
"""Disk requests from known lines: lineage_line.py make|work|check ...

make DIR            the files to read
work DIR [late]     each kind of request; its lines are those marked "# at KIND" below
threads DIR         files of known threads
check DIR EVENTS    prints "KIND right N wrong N none N" for each, and what was wrong
"""
import json
import mmap
import os
import pathlib
import sys
import threading
import time

PAGE = 4096
READ = ("buffered", "direct", "mapped", "thread", "child", "library", "alternate", "late")
NAP = 0.002


def cold(path, flags=0):
    fd = os.open(path, os.O_RDONLY | flags)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    return fd


def pages():
    return [mmap.mmap(-1, PAGE)]


def buffered(path):
    fd = cold(path)
    while os.read(fd, 16 * PAGE):  # at buffered
        time.sleep(NAP)


def direct(path):
    fd, into = cold(path, os.O_DIRECT), pages()
    for i in range(32):
        os.preadv(fd, into, i * PAGE)  # at direct
        time.sleep(NAP)


def mapped(path):
    fd = cold(path)
    with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as m:
        m.madvise(mmap.MADV_RANDOM)
        for i in range(32):
            assert m[i * PAGE] >= 0  # at mapped
            time.sleep(NAP)


def thread(path):
    def reader():
        fd = cold(path, os.O_DIRECT)
        into = pages()
        for i in range(32):
            os.preadv(fd, into, i * PAGE)  # at thread
            time.sleep(NAP)

    t = threading.Thread(target=reader)
    t.start()
    while t.is_alive():
        sum(range(1000))  # another line of the process runs meanwhile
        time.sleep(NAP / 4)


def child(path):
    pid = os.fork()
    if not pid:
        fd, into = cold(path, os.O_DIRECT), pages()
        for i in range(32):
            os.preadv(fd, into, i * PAGE)  # at child
            time.sleep(NAP)
        os._exit(0)
    os.waitpid(pid, 0)


def library(path):
    os.close(cold(path))
    pathlib.Path(path).read_bytes()  # at library


def alternate(path):
    """Two lines in turns, from one buffer: a line that is kept too long would be the other one."""
    fd, into = cold(path, os.O_DIRECT), pages()
    for i in range(0, 200, 2):
        os.preadv(fd, into, i * PAGE)  # at alternate 0
        os.preadv(fd, into, (i + 1) * PAGE)  # at alternate 1
        time.sleep(NAP)


def late(path):
    fd, into = cold(path, os.O_DIRECT), pages()
    for i in range(32):
        os.preadv(fd, into, i * PAGE)  # at late
        time.sleep(NAP)


def written(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    for i in range(16):
        os.write(fd, os.urandom(4 * PAGE))
        os.fsync(fd)  # at written
        time.sleep(NAP)


def direct_written(path):
    fd, page = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644), pages()[0]
    for i in range(32):
        os.pwrite(fd, page, i * PAGE)  # at direct_written
        time.sleep(NAP)


def threads(folder):
    """Prints the thread that writes each of two files; a third one is written by both."""
    both = os.open(os.path.join(folder, "of-both"), os.O_CREAT | os.O_WRONLY, 0o644)
    turn = threading.Barrier(2)

    def writer(name, at):
        with open("/proc/thread-self/comm", "w") as f:
            f.write(name)
        fd = os.open(os.path.join(folder, "of-" + name), os.O_CREAT | os.O_WRONLY, 0o644)
        for i in range(8):
            os.write(fd, os.urandom(PAGE))
            turn.wait()
            os.pwrite(both, os.urandom(PAGE), (2 * i + at) * PAGE)
        # One write: the other one writes its line at the same moment.
        os.write(1, f"of-{name} {threading.get_native_id()} {name}\n".encode())
        turn.wait()
        os.sync()
        time.sleep(0.5)

    print("ready", flush=True)
    sys.stdin.readline()
    started = [threading.Thread(target=writer, args=a) for a in (("first", 0), ("second", 1))]
    for t in started:
        t.start()
    for t in started:
        t.join()
    print("of-both", 0, flush=True)


def make(folder):
    for name in READ + ("first",):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(os.urandom(200 * PAGE))
            f.flush()
            os.fsync(f.fileno())


def ask(folder):
    """Whether a process is a Python is asked at its first request; the answer takes a while."""
    fd = os.open(os.path.join(folder, "first"), os.O_RDONLY | os.O_DIRECT)
    os.preadv(fd, pages(), 0)
    os.close(fd)


def work(folder, *kind):
    if kind:
        ask(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    if not kind:
        ask(folder)
        time.sleep(0.3)
    for name in kind or [n for n in READ if n != "late"] + ["written", "direct_written"]:
        globals()[name](os.path.join(folder, name))


def marks():
    found = {}
    for number, text in enumerate(open(__file__), 1):
        if "# at " in text and not text.lstrip().startswith(('"', "#", "work", "if")):
            kind, *turn = text.split("# at ")[1].split()
            found[kind, int(turn[0]) if turn else None] = number
    return found


def check(folder, events):
    lines = marks()
    counts = {kind: [0, 0, 0] for kind, _ in lines}
    for text in open(events):
        e = json.loads(text)
        if e["type"] != "request":
            continue
        kind = e["file"].rsplit("/", 1)[-1]
        if kind not in counts or not e["file"].replace("(journal) for ", "").startswith(folder):
            continue
        turn = e["offset"] // PAGE % 2 if kind == "alternate" else None
        if e["op"] == "read" and kind.endswith("written") or e["op"] != "read" and kind in READ:
            continue  # metadata on the way
        code = e["code"]
        if not code:
            counts[kind][2] += 1
        elif (code["line"], code["file"]) == (lines[kind, turn], __file__):
            counts[kind][0] += 1
        else:
            counts[kind][1] += 1
            print("#", kind, "wanted", lines[kind, turn], "got", json.dumps(e))
    for kind, (right, wrong, none) in counts.items():
        print(kind, "right", right, "wrong", wrong, "none", none)


if __name__ == "__main__":
    {"make": make, "work": work, "check": check, "threads": threads}[sys.argv[1]](*sys.argv[2:])
