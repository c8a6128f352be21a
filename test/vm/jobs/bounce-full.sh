# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Every transfer goes through bounce buffers, and there are too few of them: mapping fails, and is tried again.
# append: swiotlb=512,force
# drive: ,throttling.bps-write=4194304
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
: >/mnt/checkpoint.pt
trace
culprit tag set checkpoint_write/run42 /mnt/checkpoint.pt
loops=
for i in 1 2 3 4 5; do
	loop direct "/mnt/other$i" 10 1048576 >/dev/null &
	loops="$loops $!"
done
loop direct /mnt/checkpoint.pt 10 1048576 >/tmp/worked
# shellcheck disable=SC2086 # words
wait $loops
sleep 2
untrace
dmesg | grep -i "swiotlb" | tail -n 3
from="FROM io_second JOIN string ON string.id = file"
at_least "requests that could not be mapped" "$(query "SELECT sum(map_failed) $from WHERE text LIKE '/mnt/%'")" 1
own="$from JOIN tag ON tag.id = io_second.tag WHERE text = '/mnt/checkpoint.pt' AND label = 'checkpoint_write/run42'"
at_least "of the file, with its tag" "$(query "SELECT sum(map_failed) $own")" 1
is "they were bounced in the end" "$(query "SELECT sum(bounced) = sum(bytes) $own")" 1
culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
has "the report says it" /tmp/report "[1-9][0-9]* requests of nvme0n1 could not be mapped at first"
