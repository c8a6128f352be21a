# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Every transfer goes through bounce buffers, as on a machine whose devices cannot reach all memory.
# append: swiotlb=force
# drive: ,throttling.bps-write=4194304
# shellcheck source=test/vm/lib.sh
. /lib.sh

mount -t ext4 /dev/nvme0n1 /mnt
: >/mnt/checkpoint.pt
trace
culprit tag set checkpoint_write/run42 /mnt/checkpoint.pt
loop direct /mnt/checkpoint.pt 10 262144 >/tmp/worked
dd if=/dev/zero of=/mnt/other bs=64k count=16 conv=fsync 2>/dev/null
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
has "... and whose bytes they were" /tmp/report \
	"bounced: .* of /mnt/checkpoint.pt, data of loop (pid [0-9]*), tag checkpoint_write/run42"
has "... and how long mapping took" /tmp/report "DMA mapping on nvme0n1: .*p99 .*, max "
has "as JSON" /tmp/json '"event": *"bounce"'

# Byte by byte: all that the file's requests moved, for its tag; that of others is theirs.
from="FROM io_second JOIN string ON string.id = file"
own="$from JOIN tag ON tag.id = io_second.tag WHERE text = '/mnt/checkpoint.pt' AND label = 'checkpoint_write/run42'"
bytes=$(query "SELECT sum(bytes) AS n $own")
at_least "bytes of the file, with its tag" "$bytes" 1000000
is "each of them was bounced" "$(query "SELECT sum(bounced) AS n $own")" "$bytes"
is "each request was mapped" "$(query "SELECT sum(mapped) = sum(requests + merged) AS n $own")" 1
at_least "that took time" "$(query "SELECT sum(map_ns) / sum(mapped) AS n $own")" 1000
is "bytes of the other file are its own" "$(query "SELECT sum(bounced) AS n $from WHERE text = '/mnt/other' AND tag = 0")" \
	"$(query "SELECT sum(bytes) AS n $from WHERE text = '/mnt/other'")"
is "nobody else has the tag" "$(query "SELECT count(*) AS n $from WHERE text <> '/mnt/checkpoint.pt'
	AND tag IN (SELECT id FROM tag WHERE label = 'checkpoint_write/run42')")" 0
at_least "single requests say it, too" "$(query "SELECT count(*) AS n FROM io_request JOIN string ON string.id = file
	WHERE text = '/mnt/checkpoint.pt' AND bounced = bytes AND map_ns > 0 AND tag <> 0")" 1
