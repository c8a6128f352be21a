# SPDX-License-Identifier: Apache-2.0
"""Requests as told, against the truth, by bytes.

lineage_check.py extents DIR             which sectors belong to which file, as the file system says
lineage_check.py compare EXTENTS TRUTH EVENTS read|write
                                         prints "name value" lines, shares in percent
"""
import bisect
import collections
import fcntl
import json
import os
import struct
import sys

FIEMAP = 0xC020660B
PAGE = 4096


def extents(folder):
    for root, _, files in os.walk(folder):
        for name in files:
            fd = os.open(os.path.join(root, name), os.O_RDONLY)
            count = 512
            buf = bytearray(struct.pack("=QQIIII", 0, 2**63, 0, 0, count, 0) + b"\0" * (56 * count))
            fcntl.ioctl(fd, FIEMAP, buf)
            for i in range(struct.unpack_from("=I", buf, 20)[0]):
                print(os.fstat(fd).st_ino, *struct.unpack_from("=QQQ", buf, 32 + 56 * i))
            os.close(fd)


def truth_of(path, op):
    owners, modes = collections.defaultdict(set), {}
    for line in open(path):
        what, mode, ino, offset, size, pid = line.split()
        if what != op:
            continue
        modes[int(ino)] = mode
        for page in range(int(offset) // PAGE, (int(offset) + int(size) + PAGE - 1) // PAGE):
            owners[int(ino), page].add(int(pid))
    return owners, modes


def compare(extents_path, truth_path, events_path, op):
    where = sorted((int(p), int(n), int(i), int(o)) for i, o, p, n in map(str.split, open(extents_path)))
    starts = [w[0] for w in where]
    owners, modes = truth_of(truth_path, op)
    total = collections.Counter()
    by_mode = collections.defaultdict(collections.Counter)
    for line in open(events_path):
        event = json.loads(line)
        if event["type"] != "request" or event["op"] != op:
            continue
        for done in range(0, event["bytes"], PAGE):
            n = min(PAGE, event["bytes"] - done)
            at = event["sector"] * 512 + done
            k = bisect.bisect_right(starts, at) - 1
            if k < 0 or at >= where[k][0] + where[k][1]:
                total["outside"] += n
                if event["class"] in ("file", "direct"):
                    total["outside_as_file"] += n
                continue
            ino, offset = where[k][2], where[k][3] + at - where[k][0]
            if ino not in modes:
                continue
            for c in (total, by_mode[modes[ino]]):
                judge(c, event, done, ino, offset, n, owners[ino, offset // PAGE])
    for mode, c in sorted(by_mode.items()):
        print("#", mode, dict(c))
    print("bytes", total["bytes"])
    for name in ("file_right", "file_wrong", "owner_right", "owner_wrong", "owner_unknown", "owner_shared",
                 "offset_right"):
        print(name, "%.3f" % (100 * total[name] / max(1, total["bytes"])))
    print("outside_as_file", total["outside_as_file"])


def judge(c, event, done, ino, offset, n, pids):
    c["bytes"] += n
    told = event["class"] in ("file", "direct")
    c["file_right" if told and event["ino"] == ino else "file_wrong" if told else "file_unknown"] += n
    if told and (event["offset"] + done) // PAGE == offset // PAGE:
        c["offset_right"] += n
    if event["owner"] == "shared":
        c["owner_shared"] += n
        several = len({p for (i, _), who in SHARED.items() if i == ino for p in who}) > 1
        c["owner_right" if several else "owner_wrong"] += n
    elif not event["pid"]:
        c["owner_unknown"] += n
    else:
        c["owner_right" if event["pid"] in pids else "owner_wrong"] += n


SHARED = {}

if __name__ == "__main__":
    if sys.argv[1] == "extents":
        extents(sys.argv[2])
    else:
        SHARED = truth_of(sys.argv[3], sys.argv[5])[0]
        compare(*sys.argv[2:6])
