# SPDX-License-Identifier: Apache-2.0
"""Compares py_line() with this interpreter over its standard library.

Usage: pylines.py LIBRARY EVERY: one file in EVERY is compiled; 1 is all of them.
Prints "VERSION FILES CODES INSTRUCTIONS WITHOUT_LINE MISMATCHES".
"""
import ctypes
import os
import sys
import types
import warnings

warnings.simplefilter("ignore")


class Job(ctypes.Structure):
    _fields_ = [("addr2line", ctypes.c_void_p), ("code", ctypes.py_object), ("table", ctypes.c_char_p),
                ("size", ctypes.c_size_t), ("version", ctypes.c_uint), ("first_line", ctypes.c_int),
                ("code_size", ctypes.c_int), ("lasti", ctypes.c_int), ("ours", ctypes.c_int),
                ("theirs", ctypes.c_int)]


compare = ctypes.PyDLL(sys.argv[1]).compare  # keeps the interpreter's lock
compare.argtypes = [ctypes.POINTER(Job)]
addr2line = ctypes.cast(ctypes.pythonapi.PyCode_Addr2Line, ctypes.c_void_p)
hexversion = sys.hexversion >> 16
count = {"files": 0, "codes": 0, "instructions": 0, "without": 0, "bad": 0}


def check(code):
    table = code.co_lnotab if hexversion < 0x30a else code.co_linetable
    count["codes"] += 1
    count["instructions"] += len(code.co_code) // 2
    if hexversion >= 0x30a:
        count["without"] += sum((end - start) // 2 for start, end, line in code.co_lines() if line is None)
    job = Job(addr2line, code, table, len(table), hexversion, code.co_firstlineno, len(code.co_code))
    bad = compare(job)
    if bad:
        print("%s at %d: %d, not %d" % (code, job.lasti, job.ours, job.theirs), file=sys.stderr)
    count["bad"] += bad
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            check(const)


def sources(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("site-packages", "dist-packages"))
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


every = int(sys.argv[2])
for n, path in enumerate(sources(os.path.dirname(os.__file__))):
    if n % every:
        continue
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
    except (SyntaxError, ValueError, OSError, RecursionError):  # tests of the compiler
        continue
    count["files"] += 1
    check(code)
print("%d.%d.%d" % sys.version_info[:3], *count.values())
