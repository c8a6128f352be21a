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
