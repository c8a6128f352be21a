#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# inside.sh GROUP COMMAND...: run a command in a control group.
echo $$ >"$1/cgroup.procs" || exit 1
shift
exec "$@"
