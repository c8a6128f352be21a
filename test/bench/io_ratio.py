# SPDX-License-Identifier: Apache-2.0
# The rate of fio in pieces of time with and without our programs, in pairs: io_ratio.py PIECES RATES.
# PIECES has lines "PAIR with|without FROM TO", pairs one after the other; RATES "JOB MS IOPS", a rate being that of the time since the one before.
# Prints for each job what the rate with them is of the rate without, and how sure that is.
import bisect
import collections
import math
import random
import statistics
import sys

DRAWS = 400
GAP_MS = 20  # fio did not work, or is another one

pieces = []  # (pair, with or without, from, to)
for line in open(sys.argv[1]):
    pair, how, begin, end = line.split()
    pieces.append((pair, how, int(begin), int(end)))
logs = collections.defaultdict(list)  # job: (ms, IOPS)
for line in open(sys.argv[2]):
    job, ms, iops = line.split()
    logs[job].append((int(ms), float(iops)))


def rate_between(log, begin, end):
    """None: it did not work all the time."""
    i = bisect.bisect_left(log, (begin, 0))
    done = took = 0
    for (before, _), (ms, iops) in zip(log[i:], log[i + 1 :]):
        if ms > end:
            break
        if ms - before > GAP_MS:
            return None
        done += iops * (ms - before)
        took += ms - before
    return done / took if took > (end - begin) / 2 else None


def by_pairs(log):
    pairs = []
    for (a, how_a, *time_a), (b, how_b, *time_b) in zip(pieces, pieces[1:]):
        pair = {how_a: rate_between(log, *time_a), how_b: rate_between(log, *time_b)}
        if a == b and all(pair.values()):
            pairs.append(pair)
    return pairs


def median_ratio(pairs):
    return math.exp(statistics.median(math.log(p["with"] / p["without"]) for p in pairs))


random.seed(1)
for job, log in logs.items():
    pairs = by_pairs(log)
    drawn = sorted(median_ratio(random.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    usual = statistics.median(p["without"] for p in pairs)
    calm = {how: statistics.quantiles((p[how] for p in pairs), n=10)[-1] for how in ("without", "with")}
    print(
        "%s %.3f of %.0f/s without, %.3f to %.3f in 19 of 20; the best tenth %.3f of %.0f/s; %d pairs"
        % (
            job,
            median_ratio(pairs),
            usual,
            drawn[DRAWS // 40],
            drawn[-DRAWS // 40],
            calm["with"] / calm["without"],
            calm["without"],
            len(pairs),
        )
    )
