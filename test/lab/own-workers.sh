#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes that the training loop forked itself compute on the CPU that it needs.
# cause: cpu-contention
# culprit: any of them
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
rnd 2
work "$cpu" think helpers --helpers $((rnd + 1))
truth=run_delay
# shellcheck disable=SC2046 # words
guilty $(children_of "$training")
episode 4
