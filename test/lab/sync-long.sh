#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop waits for every kernel, and these take long: the GPU is busy most of the time, and idle while the
# next one is prepared.
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
work "$cpu" device sync --kernels $((50 + 10 * rnd)) --kernel-us 600 --host-ms $((15 + 3 * rnd)) ${sick:+"$sick"}
guilty "$training"
episode 4
