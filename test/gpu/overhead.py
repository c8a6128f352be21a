# SPDX-License-Identifier: Apache-2.0
"""The loops of test/gpu/overhead, and what their windows say.

usage: overhead.py launch-bound|gpu-bound STEPS     works until it is stopped; a line "START SECONDS SPEED" for
                                                    each step goes to the file STEPS
       overhead.py report STEPS WINDOWS KIND        WINDOWS has lines "VARIANT FROM TO"
       overhead.py calm                             the CPU that is fastest at the moment
"""
import bisect
import math
import os
import random
import statistics
import sys
import time


def launch_bound():
    """A small transformer, eager, with an unfused optimizer: tens of thousands of launches a second."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4), nn.Linear(256, 10)).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    data = [(torch.randn(16, 64, 256).pin_memory(), torch.randint(0, 10, (16, 64)).pin_memory())
            for _ in range(8)]

    def step(i):
        x, y = (t.cuda(non_blocking=True) for t in data[i % len(data)])
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    return step, 30


def gpu_bound():
    """Large matrix products, one synchronisation each fifty."""
    import torch

    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def step(_):
        c = b
        for _ in range(50):
            c = torch.nn.functional.normalize(a @ c, dim=0)
        return c[0, 0].item()

    return step, 4


def speed():
    """The seconds that a piece of work takes which no probe sees: how fast the CPU is at the moment."""
    start, seen = time.perf_counter(), {}
    for i in range(1200):
        seen[i & 127] = (i, str(i))
    return time.perf_counter() - start


def calm():
    """Neighbours make some CPUs slow for a while: the one that they leave alone."""
    found = []
    for cpu in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {cpu})
        speed()
        found.append((statistics.median(speed() for _ in range(15)), cpu))
    return min(found)[1]


def run(kind, path):
    step, warm = {"launch-bound": launch_bound, "gpu-bound": gpu_bound}[kind]()
    for i in range(warm):
        step(i)
    print("warm", flush=True)
    with open(path, "w", buffering=1 << 16) as out:
        told = i = 0
        before = speed()
        while True:
            at, start = time.time(), time.perf_counter()
            step(i)
            took, after = time.perf_counter() - start, speed()
            out.write(f"{at:.6f} {took:.7f} {(before + after) / 2:.7f}\n")
            before = after
            i += 1
            if at - told > 0.5:
                out.flush()
                told = at


class Steps:
    """What steps took at the speed that the machine had. It has several, by what its neighbours do, for tenths
    of seconds up to minutes: they change a step by half, a hundred times what is to be measured here. So steps
    are compared with untraced ones at the same speed, and only where that is about the best one."""

    def __init__(self, path, windows):
        rows = [list(map(float, line.split())) for line in open(path) if len(line.split()) == 3 and line[-1] == "\n"]
        at = [row[0] for row in rows]
        slowest = [max(row[2] for row in rows[max(0, i - 1):i + 2]) for i in range(len(rows))]
        limit = sorted(slowest)[len(rows) // 20] * CALM
        self.windows = []  # (variant, {bin: [log of seconds]})
        for variant, start, end in (line.split() for line in open(windows)):
            bins = {}
            for i in range(bisect.bisect(at, float(start)), bisect.bisect(at, float(end)) - 1):
                if slowest[i] <= limit:
                    bins.setdefault(int(math.log(rows[i][2]) / BIN), []).append(math.log(rows[i][1]))
            self.windows.append((variant, bins))
        self.trim()

    def trim(self):
        """All steps count, as a limit that is kept by looking now and then shows in some only; but for those that
        took much longer: something else happened. Windows become sums, {bin: (count, sum)}."""
        together = {}
        for variant, bins in self.windows:
            for place, values in bins.items():
                together.setdefault((variant, place), []).extend(values)
        most = {key: statistics.median(values) + math.log(ILL) for key, values in together.items()}
        self.windows = [(variant, {place: (len(kept), sum(kept)) for place, values in bins.items()
                                   if (kept := [v for v in values if v <= most[variant, place]])})
                        for variant, bins in self.windows]

    def of(self, variant):
        return [bins for name, bins in self.windows if name == variant]


def sums(windows):
    total = {}
    for bins in windows:
        for place, (count, value) in bins.items():
            n, v = total.get(place, (0, 0))
            total[place] = (n + count, v + value)
    return total


def dearer(traced, untraced):
    """Percent, and how many steps that rests on. None: there are too few of one speed."""
    a, b = sums(traced), sums(untraced)
    both = [(min(a[p][0], b[p][0]), a[p][1] / a[p][0] - b[p][1] / b[p][0]) for p in a
            if p in b and min(a[p][0], b[p][0]) >= LEAST]
    steps = sum(n for n, _ in both)
    return (100 * (math.exp(sum(n * d for n, d in both) / steps) - 1), steps) if steps else None


BIN = 0.03  # speeds within 3 % are one
LEAST = 10  # steps of a speed
CALM = 1.25
ILL = 1.3  # times the median
DRAWS = 1000


def interval(measure, *groups):
    """The 95 % interval of what is measured, by drawing the windows of each group again."""
    draw = random.Random(1)
    found = sorted(v for v in (measure(*(draw.choices(g, k=len(g)) for g in groups)) for _ in range(DRAWS))
                   if v is not None)
    return (found[len(found) // 40], found[-1 - len(found) // 40]) if len(found) > DRAWS / 2 else (-math.inf, math.inf)


def percent(traced, untraced):
    found = dearer(traced, untraced)
    return found and found[0]


def ratio(traced, floor, untraced):
    a, b = percent(traced, untraced), percent(floor, untraced)
    return a / b if a is not None and b is not None and b > 0.5 else None


def say(name, traced, untraced, more=""):
    found = dearer(traced, untraced)
    if found:
        low, high = interval(percent, traced, untraced)
        print(f"{name:10} step time {found[0]:+6.2f} %  (95 % interval {low:+.2f} .. {high:+.2f}, "
              f"{found[1]} steps of {len(traced)} windows){more}")
    else:
        print(f"{name:10} not to be told: the machine was never calm")


def report(path, windows, kind):
    steps = Steps(path, windows)
    untraced = steps.of("nothing")
    n, total = map(sum, zip(*sums(untraced).values()))
    print(f"== {kind}: {1e3 * math.exp(total / n):.3f} ms a step untraced where the machine is calm, as in {n} steps")
    variants = [v for v in dict.fromkeys(name for name, _ in steps.windows) if v != "nothing"]
    for variant in variants:
        say(variant, steps.of(variant), untraced)
    say("nothing", untraced[::2], untraced[1::2], " beside nothing: the noise")
    for ours, floor, what in (("no-limit", "empty", "launches"), ("no-limit", "same", "all functions of ours"),
                              ("returns", "session", "all, with returns"),
                              ("returns-quiet", "session", "all, with returns")):
        if ours in variants and floor in variants:
            groups = steps.of(ours), steps.of(floor), untraced
            found = ratio(*groups)
            print(f"{ours} against an empty program at {what}: " + (
                "{:.2f} times ({:.2f} .. {:.2f})".format(found, *interval(ratio, *groups)) if found
                else "not to be told, that costs less than the noise"))


if __name__ == "__main__":
    if sys.argv[1] == "report":
        report(*sys.argv[2:5])
    elif sys.argv[1] == "calm":
        print(calm())
    else:
        run(sys.argv[1], sys.argv[2])
