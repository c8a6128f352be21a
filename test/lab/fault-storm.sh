#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The loop writes to memory that it has not got yet: every page is a fault.
# cause: page-fault
# culprit: self
# line: memory.py:write
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
pick fresh cow
kind=$picked
rnd 3
work "$cpu" memory "$kind" --mb $((12 + 6 * rnd)) ${sick:+"$sick"}
guilty "$training"
episode 4
