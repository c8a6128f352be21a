# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A drive that does not answer in time: the driver gives the request up, resets the controller, and tries
# again; the loop that wrote a checkpoint waits for all of it.
# append: nvme_core.io_timeout=1
# drive: ,throttling.bps-write=65536
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
trace
culprit tag set checkpoint_write/run42 /mnt
loop fsync /mnt/checkpoint.pt 4 0 >/tmp/before
loop direct /mnt/checkpoint.pt 15 65536 >/tmp/worked
cat /tmp/worked
sleep 2
untrace
dmesg | grep -i nvme | tail -n 12
tail -n 12 /tmp/said
culprit explain --db "$db" >/tmp/explained
cat /tmp/explained
has "the cause" /tmp/explained "Disk timeout"

culprit io report --db "$db" >/tmp/report
has "the report names the file" /tmp/report "/mnt/checkpoint.pt"
has "... and the disk" /tmp/report "nvme0n1"
has "... and the tag" /tmp/report "ai_tag:  checkpoint_write/run42"
has "... and why" /tmp/report "did not answer: its driver gave up"
sed 's/^/     /' /tmp/report

# The log has the number of a request and of its queue, from 1 on: so has its row, with the file and the tag.
dmesg | sed -n 's/.*I\/O \(tag \)\{0,1\}\([0-9]*\) .*QID \([0-9]*\) timeout.*/\2 \3/p' >/tmp/timeouts
found=0
while read -r number queue; do
	found=$((found + $(query "SELECT count(*) > 0 FROM io_request JOIN string ON string.id = file
		JOIN tag ON tag.id = io_request.tag WHERE text = '/mnt/checkpoint.pt' AND label = 'checkpoint_write/run42'
		AND rq_tag = $number AND queue + 1 = $queue AND total_ns > 900000000 AND map_ns > 0")))
done </tmp/timeouts
at_least "timeouts of the log that are found as requests of the file, with its tag" $found 1
