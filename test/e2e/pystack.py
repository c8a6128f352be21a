#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls the GPU from every kind of Python frame there is, and writes down where it was each time.

pystack.py LIBRARY OUTPUT [churn N | again N | again_forked SECONDS N |
                           flood N | deep N | bench DEPTH CALLS | bench_apart DEPTH CALLS | bench_modules DEPTH CALLS |
                           become PROGRAM ARGUMENT... | became]
Each call passes a number; a line of the output is that number and the interpreter's own stack."""
import asyncio
import ctypes
import ctypes.util
import functools
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

released = ctypes.CDLL(sys.argv[1]).cudaEventSynchronize  # the lock is released meanwhile, ...
held = ctypes.PyDLL(sys.argv[1]).cudaEventSynchronize  # ... or held
libc = ctypes.CDLL(None)
out = open(sys.argv[2], "w")
numbers = itertools.count(1)
writing = threading.RLock()  # two that write to a file at once lose lines


def here():
    """Write down the stack of the caller. To be used as released(here()), on one line."""
    frame, stack = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    number = next(numbers)
    with writing:
        out.write(json.dumps([number, stack]) + "\n")
    return ctypes.c_void_p(number)


def plain():
    return released(here())


class Outer:
    def method(self):
        return plain()

    @classmethod
    def on_class(cls):
        return [released(here()) for _ in range(2)]

    @staticmethod
    def static():
        return (lambda: held(here()))()

    class Inner:
        def deep(self):
            return Outer().method()


class Constructed:
    def __init__(self, x):
        self.x = released(here())


def generator(n):
    for _ in range(n):
        yield released(here())


def delegating(n):
    yield from generator(n)


async def coroutine(n):
    if n:
        return await coroutine(n - 1)
    released(here())
    await asyncio.sleep(0)
    released(here())

    async def inner():
        return released(here())
    return await inner()


def recursive(n):
    if n == 0:
        return released(here())
    return recursive(n - 1)


def several_lines():
    x = 1
    y = 2
    released(here(
    ))
    z = [released(here()), x,
         y]
    try:
        raise ValueError
    except ValueError:
        released(here())
    finally:
        released(here())
    with open(os.devnull):
        released(here())
    return z


def closure(a):
    def inner(b):
        nonlocal a
        a += b
        return released(here())
    return inner


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def compare(_a, _b):
    return released(here())


def start(_arg):
    released(here())
    return 0


class Magic:
    @property
    def value(self):
        return released(here())

    def __getattr__(self, name):
        return released(here())

    def __del__(self):
        released(here())

    def __lt__(self, other):
        return bool(released(here()))


def called_from_c():
    sorted([3, 1, 2], key=lambda v: released(here()))
    functools.reduce(lambda a, b: released(here()), [1, 2, 3])
    list(map(lambda v: released(here()), [1]))
    max([1, 2], key=functools.partial(lambda k, v: released(here()), 1))
    two = (ctypes.c_int * 2)(2, 1)
    libc.qsort(two, ctypes.c_size_t(2), ctypes.c_size_t(4), COMPARE(compare))
    magic = Magic()
    magic.value
    magic.unknown
    magic < 1
    del magic
    "".join(str(released(here())) for _ in range(2))


def c_thread():
    """A thread that Python did not make, which calls into it."""
    thread = ctypes.c_ulong()
    function = START(start)
    libc.pthread_create(ctypes.byref(thread), None, function, None)
    libc.pthread_join(thread, None)


def fresh(i):
    """A function that is made, called once and freed: its memory is used again by the next."""
    source = "\n" * (i % 7) + "def fresh_%d():\n%s  return released(here())\nfresh_%d()" % (
        i, "  x=1\n" * (i % 5), i)
    exec(compile(source, "fresh%d.py" % (i % 3), "exec"), dict(globals()))


FOREIGN = {"released": released, "here": here}
exec(compile("def f\u00f6n\u00e7(x):\n  # c\n  return released(here())\n"
             "def \u51fd\u6570(x):\n\n\n  return f\u00f6n\u00e7(x)\n",
             "d\u00e4tei_\u4e16\u754c.py", "exec"), FOREIGN)


def forked():
    global out
    out.flush()
    pid = os.fork()
    if pid == 0:
        out = open(sys.argv[2] + ".child", "w")
        for _ in range(100000):
            next(numbers)
        plain()
        recursive(5)
        fresh(3)
        out.flush()
        os._exit(0)
    os.waitpid(pid, 0)


def everything():
    plain()
    Outer().method()
    Outer.on_class()
    Outer.static()
    Outer.Inner().deep()
    several_lines()
    closure(1)(2)
    for i in range(90):  # often enough for the interpreter to specialise it
        Constructed(i)
    list(generator(3))
    list(delegating(3))
    asyncio.run(coroutine(3))
    called_from_c()
    FOREIGN["\u51fd\u6570"](1)
    for n in (1, 10, 60, 100):
        recursive(n)
    threads = [threading.Thread(target=recursive, args=(k,)) for k in (2, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    c_thread()
    for i in range(200):
        fresh(i)
    for _ in range(50):
        held(here())
    forked()


def become(program, *arguments):
    """Calls as this program, then is another one in the same process."""
    plain()
    recursive(5)
    out.flush()
    os.execv(program, [program, *map(str, arguments)])


def became():
    """The program that it is then: found again after a moment."""
    for _ in range(200000):
        next(numbers)
    time.sleep(2)
    everything()


def churn(n):
    for i in range(n):
        fresh(i)
        time.sleep(0.0005)  # new stacks a second are limited


def again(n):
    """Functions that stay, called again and again, while others are made and freed beside them."""
    def beside():
        for i in range(n, 2 * n):
            fresh(i)
            time.sleep(0.001)

    for _ in range(n):
        recursive(5)
        closure(1)(2)
        time.sleep(0.0005)
    thread = threading.Thread(target=beside)
    thread.start()
    for i in range(n):
        recursive(5)
        fresh(i)
        time.sleep(0.001)
    thread.join()
    for _ in range(n):
        recursive(5)
        closure(1)(2)
        time.sleep(0.0005)


def again_forked(seconds, n):
    """The same in a child: at once, and when it has been found."""
    global out
    out.flush()
    pid = os.fork()
    if pid == 0:
        out = open(sys.argv[2] + ".child", "w")
        for i in range(n):
            fresh(i)
            time.sleep(0.001)
        print("forked", flush=True)
        time.sleep(seconds)
        again(n)
        out.flush()
        os._exit(0)
    os.waitpid(pid, 0)


def flood(n):
    """More code objects made and freed than anybody should watch, for some seconds; then as again()."""
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for _ in range(1000):
            compile("1", "flood.py", "eval")
    again(n)


def bench(depth, calls):
    """Nanoseconds a call takes, that many frames deep."""
    if depth > 2:
        return bench(depth - 1, calls)
    begin = time.perf_counter_ns()
    for _ in range(calls):
        released(None)
    print((time.perf_counter_ns() - begin) // calls)


def all_different():
    """64 functions of eight modules, in no order."""
    folder = tempfile.mkdtemp()
    sys.path.insert(0, folder)
    functions = []
    for m in range(8):
        with open("%s/apart%d.py" % (folder, m), "w") as f:
            for n in range(8):
                f.write("def function_%d_of_%d(rest, last):\n" % (n, m))
                for k in range((5 * n + 3 * m) % 17):
                    f.write("    value_%d = [k * %d for k in (%d, %d)]\n" % (k, k, n, m))
                f.write("    return rest[0](rest[1:], last) if rest else last()\n\n\n")
        module = __import__("apart%d" % m)
        functions += [getattr(module, "function_%d_of_%d" % (n, m)) for n in range(8)]
    shutil.rmtree(folder)
    random.Random(7).shuffle(functions)
    return functions


def bench_apart(depth, calls):
    """The same through functions that are all different."""
    functions = all_different()[:depth - 3]
    functions[0](functions[1:], lambda: bench(2, calls)) if functions else bench(2, calls)


def bench_modules(depth, calls):
    """The same through modules inside modules: each has its own function, behind two that all share."""
    def wrapped_call(rest, last):
        return call(rest, last)

    def call(rest, last):
        return rest[0](rest[1:], last) if rest else last()

    functions = []
    for forward in all_different()[:(depth - 3) // 3]:
        functions += [wrapped_call, forward]
    functions[0](functions[1:], lambda: bench(2, calls)) if functions else bench(2, calls)


what, *given = sys.argv[3:] or ["everything"]
sys.setrecursionlimit(5000)
if what != "became":
    print("ready", flush=True)
    sys.stdin.readline()
{"everything": everything, "churn": churn, "again": again, "again_forked": again_forked, "flood": flood,
 "deep": recursive, "bench": bench, "bench_apart": bench_apart, "bench_modules": bench_modules, "become": become, "became": became}[what](
    *(int(word) if word.isdigit() else word for word in given))
out.flush()
print("done", flush=True)
