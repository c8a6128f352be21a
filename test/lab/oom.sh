#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A worker is killed for want of memory, and the loop waits for its replacement.
# cause: oom
# culprit: nobody
# line: loader.py:get
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
group memory
limit_memory 96000000
rnd 3
work "$cpu" loader leak --group "$group" --cpu "$other" --ms $((400 + 100 * rnd)) --leak-mb 4
episode 4
