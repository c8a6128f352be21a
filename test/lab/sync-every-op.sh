#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop waits for every kernel before it prepares and launches the next.
# cause: sync-too-often
# culprit: self
# line: device.py:sync
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
work "$cpu" device sync --kernels $((50 + 10 * rnd)) --kernel-us 110 --host-ms 4 ${sick:+"$sick"}
guilty "$training"
episode 4
