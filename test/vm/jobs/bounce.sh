# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Every transfer goes through bounce buffers, as on a machine whose devices cannot reach all memory.
# append: swiotlb=force
# drive: ,throttling.bps-write=4194304
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
trace
loop direct /mnt/checkpoint.pt 10 262144 >/tmp/worked
sleep 2
untrace
culprit explain --db "$db" >/tmp/explained
culprit explain --db "$db" --json >/tmp/json
has "it is told" /tmp/explained "were copied through bounce buffers"
has "which device" /tmp/explained "(disk)"
culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
has "the report names the file" /tmp/report "/mnt/checkpoint.pt"
has "... and the bounces" /tmp/report "SWIOTLB bounces"
has "as JSON" /tmp/json '"event": *"bounce"'
