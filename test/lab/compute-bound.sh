#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The GPU is busy all the time, and launches wait for a place in its queue.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
work "$cpu" device deep --count $((32 + 32 * rnd)) --kernels 40 --kernel-us 300 --host-ms 1
healthy 5
