#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The samples are in a file system that a process serves, and it takes its time.
# cause: disk-read
# culprit: the server
LAB=${LAB:-$(dirname "$0")}
# shellcheck source=test/lib.sh
. "$LAB/../lib.sh"

two_cpus
pick s3fs gcsfuse juicefs rclone
name=$picked
pick read read direct map
way=$picked
rnd 3
kb=$((128 + 128 * rnd))
from=$shm/bucket
mkdir "$from"
case $((${2:-1} % 3)) in
0)
	slow=disk
	disk data 96
	from=$disk
	rmdir "$disk/lost+found"
	group io
	slow_disk read $((kb * 1024 * 25))
	inside "$group"
	;;
1) slow="sleep" ;;
2) slow=cpu ;;
esac
disk=$from
files 40 "$kb"
rnd 3
fuse "$other" "$from" --name "$name" --slow "$slow" --ms $((10 + 5 * rnd))
within=
pick loop worker
if [ "$picked" = loop ]; then
	work "$cpu" memory read --path "$fuse" --way "$way"
	line memory.py:read
else
	work "$cpu" loader disk --path "$fuse" --cpu "$other" --way "$way"
	line loader.py:get
fi
guilty "$server"
trace
sleep 2
fault "$server" "$training"
sleep 4
mend "$server" "$training"
sleep 1
untrace
answer
