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
    of seconds up to minutes: they change a step by half, a hundred times what is to be measured here."""

    def __init__(self, path):
        rows = [list(map(float, line.split())) for line in open(path) if len(line.split()) == 3 and line[-1] == "\n"]
        self.at = [row[0] for row in rows]
        self.took = [math.log(row[1]) for row in rows]
        self.speed = [math.log(statistics.median(row[2] for row in rows[max(0, i - NEAR):i + NEAR + 1]))
                      for i in range(len(rows))]

    def between(self, start, end):
        return range(bisect.bisect(self.at, start), bisect.bisect(self.at, end) - 1)

    def settle(self, untraced):
        """Only times of about the best speed count, and a step is put right for what the speed differs then."""
        speeds = sorted(self.speed)
        self.best = speeds[len(speeds) // 20] + math.log(CALM)
        calm = [i for i in untraced if self.speed[i] <= self.best]
        self.slope = statistics.linear_regression(
            [self.speed[i] for i in calm], [self.took[i] for i in calm]).slope

    def mean(self, window):
        """Of the logarithm. None: there was too little calm to tell. All steps count, as a limit that is kept by
        looking now and then shows in some only; but for those that took much longer: something else happened."""
        values = [self.took[i] - self.slope * self.speed[i] for i in window if self.speed[i] <= self.best]
        if len(values) < max(10, len(window) / 5):
            return None
        most = statistics.median(values) + math.log(ILL)
        return statistics.fmean(v for v in values if v <= most)


NEAR = 5  # steps before and after: one measurement of the speed alone is not sure enough
CALM = 1.25
ILL = 1.3  # times the median


def interval(values):
    """The mean and its 95 % interval, by drawing again."""
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(4000))
    return statistics.fmean(values), means[100], means[3899]


def beside(means, i):
    """The mean of the untraced windows next to this one that tell something."""
    found = [means[k][1] for k in (i - 1, i + 1) if 0 <= k < len(means) and means[k][1] is not None]
    return statistics.fmean(found) if found else None


def report(path, windows, kind):
    steps = Steps(path)
    parts = [(variant, steps.between(float(start), float(end)))
             for variant, start, end in (line.split() for line in open(windows))]
    steps.settle([i for variant, part in parts if variant == "nothing" for i in part])
    means = [(variant, steps.mean(part)) for variant, part in parts]
    untraced = [m for variant, m in means if variant == "nothing" and m is not None]
    usual = math.exp(statistics.median(untraced) + steps.slope * (steps.best - math.log(CALM)))
    print(f"== {kind}: {1e3 * usual:.3f} ms a step untraced where the machine is calm, as in "
          f"{len(untraced)} of {sum(variant == 'nothing' for variant, _ in means)} such windows")
    dearer = {}
    for i, (variant, m) in enumerate(means):
        if variant != "nothing" and m is not None and (off := beside(means, i)) is not None:
            dearer.setdefault(variant, []).append(100 * (math.exp(m - off) - 1))
    for variant, values in dearer.items():
        print("{:10} step time {:+6.2f} %  (95 % interval {:+.2f} .. {:+.2f}, {} windows)".format(
            variant, *interval(values), len(values)))
    noise = [100 * (math.exp(b - (a + c) / 2) - 1) for a, b, c in zip(untraced, untraced[1:], untraced[2:])]
    if len(noise) > 1:
        print("nothing    beside nothing {:+.2f} %  ({:+.2f} .. {:+.2f}): the noise".format(*interval(noise)))
    for ours, floor, what in (("no-limit", "empty", "launches"), ("no-limit", "same", "all functions of ours"),
                              ("returns", "session", "all, with returns")):
        if ours in dearer and floor in dearer:
            a, b = interval(dearer[ours])[0], interval(dearer[floor])[0]
            print(f"{ours} against an empty program at {what}: " + (
                f"{a / b:.2f} times" if b > 0.5 else "not to be told, that costs less than the noise"))


if __name__ == "__main__":
    if sys.argv[1] == "report":
        report(*sys.argv[2:5])
    elif sys.argv[1] == "calm":
        print(calm())
    else:
        run(sys.argv[1], sys.argv[2])
