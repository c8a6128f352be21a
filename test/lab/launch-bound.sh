#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Thousands of tiny kernels in a step: the GPU is faster than they can be launched.
# cause: launch-bound
# culprit: self
# line: device.py:launch
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
work "$cpu" device launch --kernels $((1500 + 500 * rnd)) --kernel-us "1.$((4 * rnd))" \
	--host-ms 0.2 ${sick:+"$sick"}
guilty "$training"
episode 4
