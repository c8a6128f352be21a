# SPDX-License-Identifier: Apache-2.0
"""The loops of test/gpu/overhead, and what their windows say.

usage: overhead.py launch-bound|gpu-bound SECONDS     a window of SECONDS for each line of stdin
       overhead.py report FILE KIND                   lines "VARIANT MS LAUNCHES": medians and intervals
"""
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


def run(kind, seconds):
    step, warm = {"launch-bound": launch_bound, "gpu-bound": gpu_bound}[kind]()
    for i in range(warm):
        step(i)
    print("warm", flush=True)
    for n, _ in enumerate(sys.stdin, 1):
        took = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            step(len(took))
            took.append(time.perf_counter() - start)
        # The mean, not the median: a limit that is kept by looking now and then shows in some steps only.
        print(f"window {n} {1e3 * statistics.fmean(took):.5f} {1e3 * statistics.median(took):.5f}", flush=True)


def interval(values):
    """The median and its 95 % interval, by drawing again."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[3899]


def report(path, kind):
    rows = [line.split() for line in open(path)]
    base = [i for i, row in enumerate(rows) if row[0] == "nothing"]
    print(f"== {kind}: {statistics.median(float(rows[i][1]) for i in base):.3f} ms a step untraced, "
          f"{len(base)} rounds")
    dearer = {}
    for variant in dict.fromkeys(row[0] for row in rows):
        if variant == "nothing":
            continue
        dearer[variant] = []
        for i, row in enumerate(rows):
            if row[0] != variant:
                continue
            beside = [min((b for b in base if b < i), key=lambda b: i - b)]
            beside += [b for b in base if b > i][:1]
            off = statistics.fmean(float(rows[b][1]) for b in beside)
            dearer[variant].append(100 * (float(row[1]) / off - 1))
        mid, low, high = interval(dearer[variant])
        print(f"{variant:10} step time {mid:+6.2f} %  (95 % interval {low:+.2f} .. {high:+.2f}, "
              f"{len(dearer[variant])} windows)")
    noise = [100 * (float(rows[b][1]) / float(rows[a][1]) - 1) for a, b in zip(base, base[1:])]
    if len(noise) > 1:
        print("nothing    against the next nothing {:+.2f} %  ({:+.2f} .. {:+.2f}): the noise".format(*interval(noise)))
    if "empty" in dearer and "no-limit" in dearer:
        ours, floor = interval(dearer["no-limit"])[0], interval(dearer["empty"])[0]
        print("no limit against an empty probe: " + (f"{ours / floor:.2f} times" if floor > 0.5 else
                                                     "not to be told, that costs less than the noise"))


if __name__ == "__main__":
    if sys.argv[1] == "report":
        report(sys.argv[2], sys.argv[3])
    else:
        run(sys.argv[1], float(sys.argv[2]))
