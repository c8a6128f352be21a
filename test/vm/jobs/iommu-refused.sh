# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The IOMMU refuses a drive its memory while a checkpoint is written: the drive cannot even fetch the commands, so
# the address is of its queues, and the request is one that was under way. Its driver resets it and tries again.
# append: intel_iommu=on iomem=relaxed nvme_core.io_timeout=1
# qemu: -device intel-iommu,intremap=off
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
: >/mnt/checkpoint.pt
trace
culprit tag set checkpoint_write/run42 /mnt
loop fsync /mnt/checkpoint.pt 4 0 >/tmp/before
# It ends with the write that is refused: Linux 6.1 on this drive often loses the first requests after a reset.
loop direct /mnt/checkpoint.pt 4 65536 >/tmp/worked &
worker=$!
sleep 3
refuse 100
wait $worker
cat /tmp/worked
sleep 2
untrace
dmesg | grep -E 'DMAR.*fault|nvme.*(timeout|reset)' | tail -n 6

culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
has "the fault is told with the file, its owner and its tag" /tmp/report \
	"IOMMU fault: 0000:00:0[0-9a-f].0 (disk) was refused 0x[0-9a-f]*: .*under way on nvme0n1 then: .* write of 64 KiB of /mnt/checkpoint.pt at offset [0-9]*, data of loop (pid [0-9]*), tag checkpoint_write/run42"
has "... is the cause" /tmp/report "the IOMMU refused nvme0n1 its memory [1-9][0-9]* times, at 0x"
has "... and something can be done" /tmp/report "find out why the IOMMU refuses nvme0n1 its memory"
culprit io report --db "$db" --json >/tmp/json
has "... as JSON" /tmp/json '"iommu_faults": *\[{"device": *"0000:.*"hit": *"under-way".*"file": *"/mnt/checkpoint.pt"'
culprit explain --db "$db" >/tmp/explained
has "the wait is explained by it, not by the reset" /tmp/explained \
	"IOMMU: 0000:00:0[0-9a-f].0 (disk) was refused its memory while loop waited for it"

file="FROM io_second JOIN string ON string.id = file WHERE text = '/mnt/checkpoint.pt'"
requests=$(query "SELECT sum(mapped) AS n $file AND iommu_maps > 0")
at_least "requests that the IOMMU was given mappings for" "$requests" 20
at_least "... that were given back" "$(query "SELECT sum(iommu_unmaps) AS n $file")" $((requests * 9 / 10))
is "... not more of them" "$(query "SELECT sum(iommu_unmaps) <= sum(iommu_maps) AS n $file")" 1
at_least "that took time" "$(query "SELECT sum(unmap_ns) / sum(iommu_unmaps) AS n $file")" 100
is "... less than the requests" "$(query "SELECT sum(unmap_ns) < sum(total_ns) AS n $file")" 1
at_least "single requests say it, too, and where they were" "$(query "SELECT count(*) AS n FROM io_request
	JOIN string ON string.id = file WHERE text = '/mnt/checkpoint.pt' AND iova > 0 AND iova_bytes = 65536 AND unmap_ns > 0")" 1
has "the report says it" /tmp/report "IOMMU unmapping on nvme0n1: [1-9].* requests gave theirs back"
