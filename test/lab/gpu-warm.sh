#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The GPU is as hot and its clocks are as low as where it is throttled, but that costs nothing: the
# kernels wait for memory; or it has nothing to do; or it is at the power limit that it has always had.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
nvml
pick "reasons 32" "reasons 1" "reasons 4"
work "$cpu" device clocked
gpu_says "temp 66" "sm_mhz 1980"
truth=
trace
alone 2 1 || skip "others took the CPU of the loop"
gpu_says "temp 90" "sm_mhz 1190" "$picked" "power_mw 700000"
alone 4 1 || skip "others took the CPU of the loop"
untrace
answer
