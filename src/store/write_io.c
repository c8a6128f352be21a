// SPDX-License-Identifier: Apache-2.0
/* Rows in: disk requests, with the file and the owner behind them. */
#include "store/write_io.h"

#include "store/store_int.h"

int store_io_second(struct store *s, uint64_t at_boot_ns, const struct io_what *what,
		    const struct io_counts *counts)
{
	struct row r = row_begin(s, STMT_IO_SECOND);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_i64(&r, what->dev);
	row_string(&r, what->disk);
	row_text(&r, what->op);
	row_text(&r, what->class);
	row_text(&r, what->fs);
	row_i64(&r, what->fs_dev);
	row_bits(&r, what->ino);
	row_i64(&r, what->gen);
	row_string(&r, what->file);
	row_text(&r, what->owner);
	row_i64(&r, what->pid);
	row_string(&r, what->comm);
	row_string(&r, what->cgroup);
	row_bits(&r, what->tag);
	row_i64(&r, what->readahead);
	row_u64(&r, counts->requests);
	row_u64(&r, counts->merged);
	row_u64(&r, counts->bytes);
	row_u64(&r, counts->timed);
	row_u64(&r, counts->total_ns);
	row_u64(&r, counts->max_ns);
	row_u64(&r, counts->slow);
	row_u64(&r, counts->errors);
	row_u64(&r, counts->requeues);
	row_hist(&r, counts->hist);
	row_u64(&r, counts->map.mapped);
	row_u64(&r, counts->map.ns);
	row_u64(&r, counts->map.max_ns);
	row_hist(&r, counts->map.hist);
	row_u64(&r, counts->map.failed);
	row_u64(&r, counts->map.bounced);
	row_u64(&r, counts->map.iommu);
	row_u64(&r, counts->map.unmapped);
	row_u64(&r, counts->map.unmap_ns);
	row_u64(&r, counts->map.unmap_max_ns);
	return row_end(&r, "insert io_second");
}

/* 0: not known. */
static void row_known(struct row *r, uint64_t value)
{
	if (value)
		row_u64(r, value);
	else
		row_null(r);
}

int store_io_request(struct store *s, const struct io_what *what, const struct io_single *one)
{
	struct row r = row_begin(s, STMT_IO_REQUEST);

	row_i64(&r, s->run);
	row_time(&r, one->done_ns);
	row_u64(&r, one->total_ns);
	row_known(&r, one->device_ns);
	row_i64(&r, one->because);
	row_i64(&r, one->part);
	row_i64(&r, what->dev);
	row_string(&r, what->disk);
	row_i64(&r, one->queue);
	row_i64(&r, one->rq_tag);
	row_text(&r, what->op);
	row_i64(&r, one->flags);
	row_u64(&r, one->sector);
	row_u64(&r, one->bytes);
	row_text(&r, what->class);
	row_i64(&r, what->fs_dev);
	row_bits(&r, what->ino);
	row_i64(&r, what->gen);
	row_string(&r, what->file);
	row_u64(&r, one->file_offset);
	row_text(&r, what->owner);
	row_i64(&r, what->pid);
	row_i64(&r, one->tid);
	row_string(&r, what->comm);
	row_i64(&r, one->submitter_pid);
	row_i64(&r, one->submitter_tid);
	row_bits(&r, what->tag);
	row_i64(&r, one->requeues);
	row_i64(&r, one->error);
	row_known(&r, one->map_ns);
	row_i64(&r, one->bounced);
	row_i64(&r, one->iommu);
	row_told(&r, one->nvme_status);
	row_told(&r, one->nvme_retries);
	if (one->iova_bytes)
		row_bits(&r, one->iova);
	else
		row_null(&r);
	row_known(&r, one->iova_bytes);
	row_known(&r, one->unmap_ns);
	return row_end(&r, "insert io_request");
}
