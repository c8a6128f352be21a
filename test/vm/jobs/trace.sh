# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The probes load, and every call is counted.
# shellcheck source=test/vm/lib.sh
. /lib.sh

culprit check >/tmp/check
is "check says ready" $? 0
has "a way to attach" /tmp/check "works, will be used"
sed 's/^/     /' /tmp/check

mkfifo /tmp/go
SIM_LAUNCH_US=5 SIM_KERNEL_US=0 storm 5 2000 </tmp/go >/tmp/storm &
storm=$!
exec 3>/tmp/go
trace
sleep 2
echo go >&3
wait $storm
sleep 1
untrace
made=$(sed -n 's/^total //p' /tmp/storm)
culprit explain --db "$db" --per-process --json >/tmp/explained
tail -n 15 /tmp/said
seen=$(sed -n 's/^ *cuLaunchKernel *\([0-9,]*\) .*/\1/p' /tmp/said | tail -n 1 | tr -d ,)
at_least "launches" "$made" 1000
is "launches, each counted" "$seen" "$made"
sed 's/^/     /' /tmp/err
grep -q "not followed\|not seen\|verifier" /tmp/err
is "all probes are there" $? 1
has "nothing was lost" /tmp/said "dropped 0"
