#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Batches are copied to the GPU from pageable memory, so that the loop waits for each.
# cause: copy-bound
# culprit: self
# line: device.py:copy
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
export SIM_COPY_GBPS=$((rnd + 2))
work "$cpu" device copy --count 4 --mb $((8 + 4 * rnd)) ${sick:+"$sick"}
guilty "$training"
episode 4
