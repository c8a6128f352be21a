# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that are good in 50 ways, and damaged in others: integrity.py good|bad|after DIR [...]"""
import mmap
import os
import signal
import sys
import time

import culprit_tag

CHUNK = 64 << 10
LABEL = "checkpoint_write/run42/step1/"


def data(name, size=4 * CHUNK):
    return (name.encode() + b"|" + os.urandom(4096)) * (size // 4096 + 1)


def sync_folder(path):
    fd = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def write_all(fd, body, step=CHUNK):
    for at in range(0, len(body), step):
        os.write(fd, body[at : at + step])


def plain(path, body=None, sync=True, flags=os.O_TRUNC):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | flags, 0o644)
    write_all(fd, body or data(path))
    if sync:
        os.fsync(fd)
    os.close(fd)


def renamed(path, body=None, sync=True, folder=True, draft=".tmp"):
    plain(path + draft, body, sync)
    os.rename(path + draft, path)
    if folder:
        sync_folder(path)


def in_child(work):
    """Another process does it, and ends as it likes."""
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


def digested(path, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        try:
            if os.getxattr(path, "user.ai.sha256"):
                return
        except OSError:
            time.sleep(0.02)
    sys.exit("no digest of " + path)


# ---- good ones


def sparse(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    os.pwrite(fd, data(path, CHUNK), 0)
    os.pwrite(fd, data(path, CHUNK), 1 << 20)
    os.fsync(fd)
    os.close(fd)


def extended(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    os.ftruncate(fd, 1 << 20)
    os.pwrite(fd, data(path, CHUNK), 1 << 19)
    os.fsync(fd)
    os.close(fd)


def preallocated(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    os.posix_fallocate(fd, 0, 1 << 18)
    write_all(fd, data(path, 1 << 18)[: 1 << 18])
    os.fsync(fd)
    os.close(fd)


def backwards(path):
    body = data(path)
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    for at in range(len(body) - len(body) % 4096, -1, -4096):
        os.pwrite(fd, body[at : at + 4096], at)
    os.fdatasync(fd)
    os.close(fd)


def direct(path):
    page = mmap.mmap(-1, CHUNK)
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644)
    for i in range(4):
        page[:] = data(path + str(i), CHUNK)[:CHUNK]
        os.write(fd, page)
    os.fsync(fd)
    os.close(fd)


def mapped(path):
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    os.ftruncate(fd, 8 * CHUNK)
    with mmap.mmap(fd, 8 * CHUNK) as pages:
        pages[:] = data(path, 8 * CHUNK)[: 8 * CHUNK]
        pages.flush()
    os.close(fd)


def in_parts(path):
    """Two processes, each its own half."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    in_child(lambda: (os.pwrite(fd, data(path, CHUNK)[:CHUNK], 0), os.fsync(fd)))
    in_child(lambda: (os.pwrite(fd, data(path, CHUNK)[:CHUNK], CHUNK), os.fsync(fd)))
    os.close(fd)


def patched(path):
    """The header is written last, over a place that was kept free with zeros."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    write_all(fd, bytes(4096) + data(path))
    os.pwrite(fd, data("header", 4096)[:4096], 0)
    os.fsync(fd)
    os.close(fd)


def appended(path):
    """Closed, hashed, and gone on with by its own writer."""
    plain(path, data(path, CHUNK))
    digested(path)
    plain(path, data(path, CHUNK), flags=os.O_APPEND)


def again(path):
    """Another version in place, from an empty file."""
    plain(path)
    digested(path)
    in_child(lambda: plain(path))


def over(path):
    """With names that are not in the dentry itself."""
    renamed(path, draft=".tmp" + "x" * 60)
    renamed(path, draft=".new" + "x" * 60)


def declared(path):
    body = data(path)
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    culprit_tag.checkpoint(fd, LABEL + os.path.basename(path), size=len(body), dense=True)
    write_all(fd, body)
    os.fsync(fd)
    os.close(fd)


def synced_later(path):
    renamed(path, sync=False)
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def sync_all(path):
    plain(path, sync=False)
    os.sync()


def touched(path):
    plain(path)
    digested(path)
    os.utime(path)
    os.chmod(path, 0o600)


def linked(path):
    plain(path)
    os.link(path, path + ".link")


def empty(path):
    plain(path, b"")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.fsync(fd)
    os.close(fd)


GOOD = [
    plain, renamed, over, sparse, extended, preallocated, backwards, direct, mapped, in_parts,
    patched, appended, again, declared, synced_later, sync_all, touched, linked,
]


def good(folder, count):
    for i in range(count):
        make = GOOD[i % len(GOOD)]
        make(os.path.join(folder, "good-%02d-%s" % (i, make.__name__)))
    for i in range(count):
        digested(os.path.join(folder, "good-%02d-%s" % (i, GOOD[i % len(GOOD)].__name__)))


# ---- damaged ones, while they are watched


def killed(path):
    def work():
        fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
        write_all(fd, data(path))
        os.kill(os.getpid(), signal.SIGKILL)

    in_child(work)


def not_renamed(path):
    renamed(path)
    digested(path)

    def work():
        plain(path + ".tmp")
        os.kill(os.getpid(), signal.SIGKILL)

    in_child(work)


def rewritten(path):
    plain(path)
    digested(path)
    in_child(lambda: plain(path, b"x" * 4096, flags=0))


def truncated(path):
    plain(path)
    digested(path)
    in_child(lambda: os.truncate(path, CHUNK))


def grown(path):
    plain(path)
    digested(path)
    in_child(lambda: plain(path, b"more", flags=os.O_APPEND))


def concurrent(path):
    """Two processes write all of it, in turns."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    to_child, to_parent = os.pipe(), os.pipe()

    def work():
        for at in range(0, 8 * CHUNK, CHUNK):
            os.read(to_child[0], 1)
            os.pwrite(fd, data("two", CHUNK)[:CHUNK], at)
            os.write(to_parent[1], b"x")

    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    for at in range(0, 8 * CHUNK, CHUNK):
        os.pwrite(fd, data("one", CHUNK)[:CHUNK], at)
        os.write(to_child[1], b"x")
        os.read(to_parent[0], 1)
    os.waitpid(pid, 0)
    os.fsync(fd)
    os.close(fd)


def gap(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    culprit_tag.checkpoint(fd, LABEL + "gap", dense=True)
    os.pwrite(fd, data(path, CHUNK)[:CHUNK], 0)
    os.pwrite(fd, data(path, CHUNK)[:CHUNK], 2 * CHUNK)
    os.fsync(fd)
    os.close(fd)


def short(path):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    culprit_tag.checkpoint(fd, LABEL + "short", size=10 * CHUNK)
    write_all(fd, data(path, CHUNK))
    os.fsync(fd)
    os.close(fd)


def failing(path, megabytes):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    for step in [lambda: os.write(fd, data(path, 1 << 20))] * megabytes + [lambda: os.fsync(fd)]:
        try:
            step()
        except OSError:
            pass
    os.close(fd)


def bad(folder, small, broken):
    at = lambda name: os.path.join(folder, "bad-" + name)
    killed(at("killed"))
    not_renamed(at("not-renamed"))
    rewritten(at("rewritten"))
    truncated(at("truncated"))
    grown(at("grown"))
    concurrent(at("concurrent"))
    gap(at("gap"))
    short(at("short"))
    renamed(at("no-fsync"), sync=False, folder=False)
    renamed(at("no-dirsync"), folder=False)
    failing(os.path.join(small, "bad-write-error"), 30)
    failing(os.path.join(broken, "bad-fsync-error"), 12)
    for name in ("silent", "replaced", "missing", "digest-differs"):
        plain(at(name), data("mark of " + name))
        digested(at(name))
    for name in ("no-fsync", "no-dirsync", "gap", "short", "concurrent"):
        digested(at(name))
    # The next is open for writing until it is told to go on.
    fd = os.open(at("open"), os.O_CREAT | os.O_WRONLY, 0o644)
    os.write(fd, data("open"))
    os.fsync(fd)
    print("ready", flush=True)
    sys.stdin.readline()


# ---- damage that nobody watches


def flip(image, mark):
    """A bit of the medium, below the filesystem."""
    with open(image, "r+b") as f:
        with mmap.mmap(f.fileno(), 0) as disk:
            at = disk.find(mark)
            if at < 0:
                sys.exit("not on the disk")
            disk[at + len(mark) + 100] ^= 4
            disk.flush()


def after(folder, image):
    at = lambda name: os.path.join(folder, "bad-" + name)
    fd = os.open(at("silent"), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    flip(image, b"mark of silent")
    os.close(fd)
    body = open(at("replaced"), "rb").read()
    plain(at("replaced") + ".other", b"other" + body)
    os.rename(at("replaced") + ".other", at("replaced"))
    os.unlink(at("missing"))
    was = os.getxattr(at("digest-differs"), "user.ai.sha256")
    os.setxattr(at("digest-differs"), "user.ai.sha256", was.replace(was[7:15], b"deadbeef"))


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "good":
        good(rest[0], int(rest[1]))
    elif what == "bad":
        bad(*rest)
    else:
        after(*rest)
