#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers make the batches and keep up: each is there before it is needed.
# cause: none
# culprit: nobody
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick pipe queue
via=$picked
rnd 2
work "$cpu" loader cpu --via "$via" --cpu "$other" --workers $((rnd + 1)) --worker-ms 4 --prefetch 3
healthy 5
