#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two to four ranks that keep up with each other.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
rnd 3
job none $((2 + rnd)) 1
truth=
trace
tell_ranks
alone 5 4 || skip "others took the CPU of the ranks"
untrace
answer
