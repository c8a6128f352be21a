#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training loop alone, blocked while it waits for the GPU.
# cause: none
# culprit: nobody
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

rnd "$(nproc)"
cpu=$rnd
rnd 3
train "$cpu" 60 --sync block --kernel-us $((60 + 30 * rnd))
chrt -f -p 1 "$training"
trace
soon 10 trained
alone 5 1 || skip "others took the CPU of the loop"
untrace
answer
