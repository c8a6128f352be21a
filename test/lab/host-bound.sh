#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop prepares its batches in Python, and the GPU has nothing to do meanwhile.
# cause: host-bound
# culprit: self
# line: think.py:host loop.py:busy
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
work "$cpu" think host --ms $((30 + 10 * rnd)) --kernels 30 --host-ms 2 ${sick:+"$sick"}
guilty "$training"
episode 4
