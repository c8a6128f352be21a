#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One rank gets its data late, and with it all the others.
# cause: straggler
# culprit: that rank
# because: data-loader
# line: ranks.py:wait
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
rnd 3
ranks=$((2 + rnd)) ms=$((12 + 4 * rnd))
rnd $((ranks - 1))
late=$((rnd + 1))
job data "$ranks" "$late" --ms "$ms"
episode 4
