# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What mapping requests for DMA takes is known on a drive that is well: of each request, of its file, of the disk.
# drive: ,throttling.bps-write=8388608
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
: >/mnt/checkpoint.pt
trace
loop direct /mnt/checkpoint.pt 5 262144 >/tmp/worked
sleep 2
untrace
cat /tmp/err
file="FROM io_second JOIN string ON string.id = file WHERE text = '/mnt/checkpoint.pt'"
requests=$(query "SELECT sum(requests + merged) AS n $file")
at_least "requests of the file" "$requests" 5
is "each was mapped" "$(query "SELECT sum(mapped) AS n $file")" "$requests"
at_least "that took time" "$(query "SELECT sum(map_ns) / sum(mapped) AS n $file")" 100
is "... less than the requests" "$(query "SELECT sum(map_ns) < sum(total_ns) AS n $file")" 1
is "nothing was bounced" "$(query "SELECT sum(bounced) AS n $file")" 0
is "nothing failed" "$(query "SELECT sum(map_failed) AS n $file")" 0
at_least "single requests say it, too" "$(query "SELECT count(map_ns) AS n FROM io_request
	JOIN string ON string.id = file WHERE text = '/mnt/checkpoint.pt'")" 1

culprit io report --db "$db" >/tmp/report
sed 's/^/     /' /tmp/report
# Normal or slow: what is fast has no meaning where every instruction is emulated.
has "the report says it" /tmp/report "DMA mapping on nvme0n1: [a-z]*, p50 .*, p99 .*, max "
culprit io report --db "$db" --json >/tmp/json
has "... as JSON" /tmp/json '"dma_map": *{ *"verdict": *"[a-z]*", *"requests": *[1-9]'

culprit io --json >/tmp/live 2>/tmp/live.err &
live=$!
for _ in $(seq 300); do
	grep -q tracing /tmp/live.err && break
	sleep 0.1
done
dd if=/dev/zero of=/mnt/live bs=64k count=4 conv=fsync 2>/dev/null
sleep 2
kill -INT $live
wait $live
cat /tmp/live.err
grep '"/mnt/live"' /tmp/live >/tmp/own
has "live, a request has the time" /tmp/own '"type": *"request".*"map_ns": *[1-9]'
has "... and the sums" /tmp/own '"type": *"sum".*"map_p99_ns": *[1-9]'
