#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop allocates its buffers anew in every step, which is dear.
# cause: alloc-churn
# culprit: self
# line: device.py:alloc
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
export SIM_ALLOC_US=$((800 + 400 * rnd))
work "$cpu" device alloc --count 10 ${sick:+"$sick"}
guilty "$training"
episode 4
