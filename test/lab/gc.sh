#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Python searches a large graph of objects for garbage, again and again.
# cause: python-gc
# culprit: self
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

cpus
either --sick
sick=$chosen
pick --explicit --explicit ""
explicit=$picked
rnd 3
work "$cpu" think collect --objects $((200000 + 100000 * rnd)) ${explicit:+"$explicit"} ${sick:+"$sick"}
guilty "$training"
if [ -n "$explicit" ]; then line think.py:collect; else line think.py:rubbish; fi
episode 4
