#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many threads with a stream each, and long kernels.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 5
work "$cpu" device threads --count $((8 + rnd)) --sync block --kernel-us 8000
healthy 5
