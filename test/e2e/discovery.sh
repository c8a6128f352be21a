#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whoever maps a traced library is found within a second, however it came to have it.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

count=10007
trap_undo() {
	umount "$dir/mnt" 2>/dev/null
}
undo=trap_undo

# A library beside the caller's usual one: its folder.
copy_of() {
	mkdir "$dir/$1"
	cp "$sim/libcudart.so.13" "$dir/$1/"
	echo "$dir/$1"
}

cat >"$dir/fork.py" <<'END'
import os, sys, time
import simgpu

gpu = simgpu.Gpu(alloc_us=0)
print("ready", flush=True)
sys.stdin.readline()
child = os.fork()
for _ in range(1009 if child else 2003):
    gpu.malloc(64)
if child:
    print("child", child, os.waitpid(child, 0)[1], flush=True)
END
cat >"$dir/late.py" <<'END'
import sys, time
print("ready", flush=True)
sys.stdin.readline()
import simgpu
gpu = simgpu.Gpu(alloc_us=0)
time.sleep(1)
for _ in range(3001):
    gpu.malloc(64)
END

# Before the tracer.
hold cudaMalloc $count 3
before=$caller
waiting "$python" "$dir/fork.py"
fork=$caller
waiting "$python" "$dir/late.py"
late=$caller
waiting env SIM_DIR="$(copy_of deleted-before)" "$sim/calls" --wait cudaMalloc $count 2
deleted_before=$caller
rm "$dir/deleted-before/libcudart.so.13"
trace

# After it.
hold cudaMalloc $count 3
after=$caller
waiting env SIM_DIR="$(copy_of copy)" "$sim/calls" --wait cudaMalloc $count 2
copy=$caller
mkdir "$dir/link"
ln "$dir/copy/libcudart.so.13" "$dir/link/"
waiting env SIM_DIR="$dir/link" "$sim/calls" --wait cudaMalloc $count 2
link=$caller
waiting env SIM_DIR="$(copy_of deleted-after)" "$sim/calls" --wait cudaMalloc $count 2
deleted_after=$caller
rm "$dir/deleted-after/libcudart.so.13"
mkdir "$dir/mnt"
# shellcheck disable=SC2016 # for the inner shell; make-rprivate fails where / is no mount point
waiting unshare -m --propagation unchanged sh -c 'mount --make-rprivate / 2>/dev/null
	mount -t tmpfs none "$1" && cp "$2" "$1" &&
	SIM_DIR=$1 exec "$3" --wait cudaMalloc "$4" 2' - \
	"$dir/mnt" "$sim/libcudart.so.13" "$sim/calls" $count
elsewhere=$caller
is "outside that mount namespace" "$(ls "$dir/mnt")" ""
go "$late" # loads its library now, sleeps a second itself
sleep 1 # what is promised
go "$before" "$fork" "$deleted_before" "$after" "$copy" "$link" "$deleted_after" "$elsewhere"
for caller in "$before" "$fork" "$deleted_before" "$after" "$copy" "$link" "$deleted_after" \
	"$elsewhere" "$late"; do
	ends "$caller"
done
untrace

child=$(sed -n 's/^child \([0-9]*\) 0$/\1/p' "$dir/out.$fork")
is "ran before the tracer" "$(calls_of "$before" cudaMalloc)" $count
is "started after it" "$(calls_of "$after" cudaMalloc)" $count
is "loads the library late" "$(calls_of "$late" cudaMalloc)" 3001
is "forks" "$(calls_of "$fork" cudaMalloc)" 1009
is "was forked" "$(calls_of "${child:-0}" cudaMalloc)" 2003
is "a copy" "$(calls_of "$copy" cudaMalloc)" $count
is "a hard link to the copy" "$(calls_of "$link" cudaMalloc)" $count
is "deleted before" "$(calls_of "$deleted_before" cudaMalloc)" $count
is "deleted after" "$(calls_of "$deleted_after" cudaMalloc)" $count
is "in another mount namespace" "$(calls_of "$elsewhere" cudaMalloc)" $count
is "each has its coverage row" "$(sql "SELECT count(DISTINCT pid) FROM coverage
	JOIN process ON process.id = process WHERE note = '' AND ops > 0 AND pid IN ($before, $after,
	$late, $fork, $copy, $link, $deleted_before, $deleted_after, $elsewhere)")" 9
