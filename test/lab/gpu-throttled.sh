#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The GPU gets too hot, or is given less power, and its kernels take longer.
# cause: gpu-throttled
# culprit: nobody
# line: loop.py:sync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
nvml
pick "reasons 32" "reasons 72" "reasons 136" "reasons 4"
why=$picked
rnd 3
mhz=$((990 + 200 * rnd))
slower=$(awk -v mhz="$mhz" 'BEGIN { printf "%.3f", 1980 / mhz }')
limit=700000
[ "$why" != "reasons 4" ] || limit=350000 # somebody lowered it
work "$cpu" device clocked --slower "$slower"
gpu_says "temp 66" "sm_mhz 1980"
trace
sleep 3
gpu_says "temp 90" "sm_mhz $mhz" "$why" "power_limit_mw $limit" "power_mw 350000"
fault "$training"
sleep 4
mend "$training"
gpu_says "temp 66" "sm_mhz 1980"
sleep 1
untrace
answer
