# SPDX-License-Identifier: Apache-2.0
"""What the turns of test/gpu/turns say: turns.py STEPS TURNS.

STEPS has lines "START SECONDS SPEED", one for each step of the loop, TURNS what turns printed. The turns of a
round lie within two seconds of each other: each variant is compared with "nothing" of its own round.
"""
import bisect
import math
import random
import statistics
import sys

DRAWS = 1000
LEAST = 5  # steps in a turn
QUANTILE = 0.3  # of the steps of a turn: neighbours make some of them slow, and none fast
SPEED = 0.4  # of what a change of the machine's speed is, so much shows in a step (fitted: 0.3 to 0.5)


def read(steps, turns):
    rows = [tuple(map(float, line.split())) for line in open(steps) if line[-1] == "\n" and len(line.split()) == 3]
    at = [row[0] for row in rows]
    rounds, untraced = {}, []
    for number, variant, start, end in (line.split() for line in open(turns)):
        first, last = bisect.bisect(at, float(start)), bisect.bisect(at, float(end)) - 1
        took = sorted(math.log(row[1]) - SPEED * math.log(row[2]) for row in rows[first:last])
        if len(took) >= LEAST:
            rounds.setdefault(number, {})[variant] = took[int(len(took) * QUANTILE)]
        if variant == "nothing":
            untraced.extend(row[1] for row in rows[first:last])
    return list(rounds.values()), statistics.median(untraced)


def percent(rounds, variant):
    found = sorted(r[variant] - r["nothing"] for r in rounds if variant in r and "nothing" in r)
    cut = len(found) // 5  # of both ends: something else happened in one of the two
    return 100 * math.expm1(statistics.fmean(found[cut:len(found) - cut])) if found else math.nan


def interval(measure, rounds):
    draw = random.Random(1)
    found = sorted(measure(draw.choices(rounds, k=len(rounds))) for _ in range(DRAWS))
    return found[DRAWS // 40], found[-1 - DRAWS // 40]


def main():
    rounds, untraced = read(*sys.argv[1:3])
    variants = sorted({v for r in rounds for v in r} - {"nothing"})
    print(f"{len(rounds)} rounds, {1e3 * untraced:.3f} ms a step untraced")
    for variant in variants:
        low, high = interval(lambda r: percent(r, variant), rounds)
        print(f"{variant:10} step time {percent(rounds, variant):+6.2f} %  (95 % interval {low:+.2f} .. {high:+.2f})")
    for ours, floor in (("no-limit", "same"), ("returns", "session")):
        if ours in variants and floor in variants:
            ratio = lambda r: percent(r, ours) / percent(r, floor)
            low, high = interval(ratio, rounds)
            print(f"{ours} against an empty program at the same functions: {ratio(rounds):.3f} times "
                  f"({low:.3f} .. {high:.3f})")


if __name__ == "__main__":
    main()
