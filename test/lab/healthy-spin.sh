#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training loop alone, waiting for the GPU on the CPU.
# cause: none
# culprit: nobody
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

rnd "$(nproc)"
cpu=$rnd
rnd 3
train "$cpu" 60 --sync spin --kernel-us $((60 + 30 * rnd))
renice -n -20 "$training" >/dev/null
trace
soon 10 trained
alone 5 1 || skip "others took the CPU of the loop"
untrace
answer
