#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody left a sleep in the training loop.
# cause: self-sleep
# culprit: self
# line: think.py:sleep
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
rnd 3
work "$cpu" think sleep --ms $((10 + 15 * rnd)) ${sick:+"$sick"}
guilty "$training"
episode 4
