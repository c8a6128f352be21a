#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The memory limit of the group is reached, and who needs memory must first make room.
# cause: memory-reclaim
# culprit: nobody
# line: memory.py:replace
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 3
swap 512
group memory
limit_memory 110000000
inside "$group"
work "$cpu" memory replace --mb $((rnd + 3))
episode 4
