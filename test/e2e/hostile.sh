#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names and libraries made to harm: the output stays clean, the tracer goes on.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cpu=$(last_cpu)
cat >"$dir/hostile.py" <<'END'
import ctypes, os, sys, time

def rename(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)

os.sched_setaffinity(0, {int(sys.argv[1])})
wake, waker = os.pipe()
if os.fork() == 0:  # it will be somebody's culprit
    ctypes.CDLL(None).prctl(1, 9)
    rename(b"\x1b]0;h\x07\xc2\x9b2J\xff\r\n")
    os.read(wake, 1)
    while True:
        pass
import simgpu
rename(b"\x1b[31m\xff\xfe\xc2\x9b\x07\n\"\\")
gpu = simgpu.Gpu()
print("ready", flush=True)
sys.stdin.readline()
os.write(waker, b"!")
end = time.monotonic() + 3
while time.monotonic() < end:
    gpu.malloc(64)
    gpu.sync()
print("calls", gpu.counter("cudaMalloc"), flush=True)
END
cat >"$dir/fakes.py" <<'END'
"""Files that are called libcudart.so.13 and are not what they seem, mapped as code."""
import mmap, os, struct, sys

real = open(os.path.join(os.environ["SIM_DIR"], "libcudart.so.13"), "rb").read()

def symbols_to(address):
    """The library with each of its functions at another address."""
    data = bytearray(real)
    shoff, = struct.unpack_from("<Q", data, 40)
    entsize, count = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, shoff + i * entsize)
        if kind == 11:  # SHT_DYNSYM
            for at in range(offset, offset + size, 24):
                info, = struct.unpack_from("<B", data, at + 4)
                section, = struct.unpack_from("<H", data, at + 6)
                if info & 15 == 2 and section:  # STT_FUNC, defined
                    struct.pack_into("<Q", data, at + 8, address)
    return bytes(data)

fakes = {
    "text": b"#!/bin/sh\necho no library\n" * 200,
    "empty-elf": real[:64] + b"\0" * 8000,
    "short": real[:5000],
    "half": real[:len(real) // 2],
    "far": symbols_to(0x7fffffffffff0000),
    "data": symbols_to(0),
    "no-sections": real[:40] + struct.pack("<Q", 2**64 - 64) + real[48:],  # still a library
}
fakes["written"] = real  # and still open for writing
maps = []
for name, data in fakes.items():
    path = os.path.join(sys.argv[1], name, "libcudart.so.13")
    os.mkdir(os.path.dirname(path))
    with open(path, "wb") as f:
        f.write(data)
    with open(path, "r+b" if name == "written" else "rb") as f:
        maps.append(mmap.mmap(f.fileno(), len(data), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print("ready", len(maps), flush=True)
sys.stdin.readline()
END

# clean WHAT FILE: UTF-8 without control characters
clean() {
	if "$python" - "$2" <<'END'
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")
found = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
sys.exit(repr(found) if found else 0)
END
	then good "$1" clean; else bad "$1" "control characters" none; fi
}

waiting "$python" "$dir/hostile.py" "$cpu"
hostile=$caller
waiting "$python" "$dir/fakes.py" "$dir"
fakes=$caller
hold cudaMalloc 10007 3
honest=$caller
trace
go "$hostile" "$honest"
ends "$honest" 'cudaMalloc 10007'
ends "$hostile"
go "$fakes"
ends "$fakes"
untrace

clean "trace: text" "$trace_out"
clean "trace: messages" "$trace_err"
"$culprit" explain --db "$db" >"$dir/explain.txt"
clean "explain: text" "$dir/explain.txt"
"$culprit" explain --db "$db" --json >"$dir/explain.json"
is_json "explain: JSON" "$dir/explain.json"
clean "explain: JSON" "$dir/explain.json"
is "calls of the one with the name" "calls $(calls_of "$hostile" cudaMalloc)" "$(sed -n '/^calls/p' "$dir/out.$hostile")"
is "its child is to blame" "$(findings_of "$hostile" | jq '.[0].culprits[0].comm | length > 0')" true

is "fakes seen" "$(sql "SELECT count(*) FROM coverage JOIN process ON process.id = process
	WHERE pid = $fakes")" 8
is "each with the reason" "$(sql "SELECT count(*) FROM coverage JOIN process ON process.id = process
	WHERE pid = $fakes AND note <> '' AND ops = 0")" 7
is "one that is being written" "$(sql "SELECT note FROM coverage JOIN string ON string.id = library
	WHERE text LIKE '%/written/%'")" 'somebody has it open for writing: not traced until that is over'
sql "SELECT text, note, ops, refused FROM coverage JOIN process ON process.id = process
	JOIN string ON string.id = library WHERE pid = $fakes"
is "wrong section headers, which no loader reads" "$(sql "SELECT note, ops > 0 FROM coverage
	JOIN string ON string.id = library WHERE text LIKE '%/no-sections/%'")" '|1'
is "others are traced" "$(calls_of "$honest" cudaMalloc)" 10007

# The same while it traces, as JSON, and in what check says.
db=$dir/json.db
waiting "$python" "$dir/hostile.py" "$cpu"
trace_with --json
go "$caller"
"$culprit" check >"$dir/check"
clean "check: text" "$dir/check"
"$culprit" check --json >"$dir/check"
is_json "check: JSON" "$dir/check"
ends "$caller"
untrace
is_json "trace: JSON" "$trace_out"
clean "trace: JSON" "$trace_out"
