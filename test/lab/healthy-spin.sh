#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training loop alone, waiting for the GPU on the CPU.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
train "$cpu" 60 --sync spin --kernel-us $((60 + 30 * rnd))
renice -n -20 "$training" >/dev/null
soon 10 trained
healthy 5
