/* SPDX-License-Identifier: Apache-2.0 */
/* Disk requests, into a trace. */
#ifndef STORE_WRITE_IO_H
#define STORE_WRITE_IO_H

#include "store/store.h"

/* Storage lineage; see schema.sql. Strings that are not known are "". */
struct io_what {
	const char *disk, *op, *class, *fs, *file, *owner, *comm, *cgroup;
	uint32_t dev, fs_dev, gen, pid;
	uint64_t ino, tag;
	bool readahead;
};
/* Mapping for DMA: of NVMe, where it is measured. */
struct io_maps {
	uint64_t mapped, ns, max_ns, failed, bounced, iommu;
	uint64_t unmapped, unmap_ns, unmap_max_ns;
	uint32_t hist[HIST_BUCKETS];
};
struct io_counts {
	uint64_t requests, merged, bytes, timed, total_ns, max_ns, slow, errors, requeues;
	uint32_t hist[HIST_BUCKETS];
	struct io_maps map;
};
int store_io_second(struct store *s, uint64_t at_boot_ns, const struct io_what *what,
		    const struct io_counts *counts);

struct io_single {
	uint64_t done_ns; /* boot time where it is written, wall time where it is read */
	uint64_t total_ns, device_ns; /* device_ns 0: not known */
	uint64_t sector, bytes, file_offset;
	uint32_t because, part, queue, flags, tid, submitter_pid, submitter_tid, requeues, error;
	int32_t rq_tag;
	uint32_t map_ns, bounced, iommu; /* map_ns 0: not known */
	int32_t nvme_status, nvme_retries; /* negative: not known */
	uint64_t iova;
	uint32_t iova_bytes, unmap_ns; /* 0: not known, and iova is not */
};
int store_io_request(struct store *s, const struct io_what *what, const struct io_single *one);

#endif
