#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training loop alone, blocked while it waits for the GPU.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
train "$cpu" 60 --sync block --kernel-us $((90 + 100 * rnd))
chrt -f -p 1 "$training"
soon 10 trained
healthy 5
