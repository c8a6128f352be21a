#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The working set does not fit into the memory limit; what is needed was swapped out.
# cause: swap
# culprit: nobody
# line: memory.py:touch
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
swap 512
group memory
limit_memory 110000000
inside "$group"
work "$cpu" memory touch --count $((500 + 200 * rnd))
episode 4
