#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One rank has more to compute than the others, which wait for it in every step.
# cause: straggler
# culprit: that rank
# because: host-bound
# line: ranks.py:wait
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
rnd 3
ranks=$((2 + rnd)) ms=$((16 + 4 * rnd))
rnd $((ranks - 1))
late=$((rnd + 1))
job cpu "$ranks" "$late" --ms "$ms"
episode 4
