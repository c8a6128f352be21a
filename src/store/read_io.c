// SPDX-License-Identifier: Apache-2.0
/* Rows out: disk requests, and the waits that end at a file. */
#include <errno.h>

#include "base/fail.h"
#include "store/read_io.h"
#include "store/store_int.h"

static int io_second_row(sqlite3_stmt *stmt, void *arg)
{
	struct io_second_info info = {
		.at_ns = column_u64(stmt, 0),
		.what = {
			.dev = column_u32(stmt, 1),
			.disk = column_text(stmt, 2),
			.op = column_text(stmt, 3),
			.class = column_text(stmt, 4),
			.fs = column_text(stmt, 5),
			.fs_dev = column_u32(stmt, 6),
			.ino = column_bits(stmt, 7),
			.gen = column_u32(stmt, 8),
			.file = column_text(stmt, 9),
			.owner = column_text(stmt, 10),
			.pid = column_u32(stmt, 11),
			.comm = column_text(stmt, 12),
			.cgroup = "",
			.tag = column_bits(stmt, 13),
			.readahead = column_u32(stmt, 14),
		},
		.counts = {
			.requests = column_u64(stmt, 15),
			.merged = column_u64(stmt, 16),
			.bytes = column_u64(stmt, 17),
			.timed = column_u64(stmt, 18),
			.total_ns = column_u64(stmt, 19),
			.max_ns = column_u64(stmt, 20),
			.slow = column_u64(stmt, 21),
			.errors = column_u64(stmt, 22),
			.requeues = column_u64(stmt, 23),
			.map = {
				.mapped = column_u64(stmt, 25),
				.ns = column_u64(stmt, 26),
				.max_ns = column_u64(stmt, 27),
				.failed = column_u64(stmt, 29),
				.bounced = column_u64(stmt, 30),
				.iommu = column_u64(stmt, 31),
				.unmapped = column_u64(stmt, 32),
				.unmap_ns = column_u64(stmt, 33),
				.unmap_max_ns = column_u64(stmt, 34),
			},
		},
	};
	struct to *to = arg;
	int err = column_hist(stmt, 24, info.counts.hist);

	if (!err)
		err = column_hist(stmt, 28, info.counts.map.hist);
	if (err)
		return err;
	return ((int (*)(const struct io_second_info *, void *))to->fn)(&info, to->arg);
}

int store_each_io_second(struct store *s, struct window w,
			 int (*fn)(const struct io_second_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT at_ns, dev, d.text, op, class, fs, fs_dev, ino, gen, f.text,"
			      " owner, pid, c.text, tag, readahead, requests, merged, bytes, timed,"
			      " total_ns, max_ns, slow, errors, requeues, hist, mapped, map_ns,"
			      " map_max_ns, map_hist, map_failed, bounced, iommu_maps,"
			      " iommu_unmaps, unmap_ns, unmap_max_ns FROM io_second"
			      " LEFT JOIN string d ON d.id=disk LEFT JOIN string f ON f.id=file"
			      " LEFT JOIN string c ON c.id=comm"
			      " WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY at_ns, io_second.rowid",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, io_second_row, &to);
}

static int32_t told(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? -1 : sqlite3_column_int(stmt, i);
}

static int io_request_row(sqlite3_stmt *stmt, void *arg)
{
	struct io_request_info info = {
		.what = {
			.dev = column_u32(stmt, 5),
			.disk = column_text(stmt, 6),
			.op = column_text(stmt, 9),
			.class = column_text(stmt, 13),
			.fs = "",
			.fs_dev = column_u32(stmt, 14),
			.ino = column_bits(stmt, 15),
			.gen = column_u32(stmt, 16),
			.file = column_text(stmt, 17),
			.owner = column_text(stmt, 19),
			.pid = column_u32(stmt, 20),
			.comm = column_text(stmt, 22),
			.cgroup = "",
			.tag = column_bits(stmt, 25),
		},
		.one = {
			.done_ns = column_u64(stmt, 0),
			.total_ns = column_u64(stmt, 1),
			.device_ns = column_u64(stmt, 2),
			.because = column_u32(stmt, 3),
			.part = column_u32(stmt, 4),
			.queue = column_u32(stmt, 7),
			.rq_tag = sqlite3_column_int(stmt, 8),
			.flags = column_u32(stmt, 10),
			.sector = column_u64(stmt, 11),
			.bytes = column_u64(stmt, 12),
			.file_offset = column_u64(stmt, 18),
			.tid = column_u32(stmt, 21),
			.submitter_pid = column_u32(stmt, 23),
			.submitter_tid = column_u32(stmt, 24),
			.requeues = column_u32(stmt, 26),
			.error = column_u32(stmt, 27),
			.map_ns = column_u32(stmt, 28),
			.bounced = column_u32(stmt, 29),
			.iommu = column_u32(stmt, 30),
			.nvme_status = told(stmt, 31),
			.nvme_retries = told(stmt, 32),
			.iova = column_bits(stmt, 33),
			.iova_bytes = column_u32(stmt, 34),
			.unmap_ns = column_u32(stmt, 35),
		},
	};
	struct to *to = arg;

	return ((int (*)(const struct io_request_info *, void *))to->fn)(&info, to->arg);
}

int store_each_io_request(struct store *s, struct window w, int limit,
			  int (*fn)(const struct io_request_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT done_ns, total_ns, device_ns, because, part, dev, d.text, queue,"
		" rq_tag, op, flags, sector, bytes, class, fs_dev, ino, gen, f.text,"
		" file_offset, owner, pid, tid, c.text, submitter_pid, submitter_tid,"
		" tag, requeues, error, map_ns, bounced, iommu_maps, nvme_status,"
		" nvme_retries, iova, iova_bytes, unmap_ns FROM io_request"
		" LEFT JOIN string d ON d.id=disk LEFT JOIN string f ON f.id=file"
		" LEFT JOIN string c ON c.id=comm"
		" WHERE done_ns > ?1 AND done_ns <= ?2"
		" ORDER BY error <> 0 DESC, total_ns DESC LIMIT ?3",
		w, &stmt);

	if (err)
		return err;
	sqlite3_bind_int(stmt, 3, limit);
	return store_rows(s, stmt, io_request_row, &to);
}

static int io_wait_row(sqlite3_stmt *stmt, void *arg)
{
	struct io_wait_info info = {
		.at_ns = column_u64(stmt, 0),
		.ns = column_u64(stmt, 1),
		.count = column_u64(stmt, 2),
		.max_ns = column_u64(stmt, 3),
		.stack = column_bits(stmt, 4),
		.state = column_text(stmt, 5),
		.name = column_text(stmt, 6),
		.comm = column_text(stmt, 7),
		.pid = column_u32(stmt, 8),
		.tid = column_u32(stmt, 9),
		.ino = column_bits(stmt, 10),
		.fs_dev = column_bits(stmt, 11),
		.process_pid = column_u32(stmt, 12),
		.process_comm = column_text(stmt, 13),
	};
	struct to *to = arg;

	return ((int (*)(const struct io_wait_info *, void *))to->fn)(&info, to->arg);
}

/* A fault is one of these where a disk was waited for: 8 is STOP_IOWAIT. */
#define AT_A_FILE "(state IN ('read', 'write', 'fsync', 'path') OR (state = 'fault' AND flags & 8))"

int store_each_io_wait(struct store *s, struct window w, bool idle,
		       int (*fn)(const struct io_wait_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	char sql[1200];
	int err;

	snprintf(sql, sizeof(sql),
		 "SELECT at_ns, ns, count, max_ns, h.stack, h.state, f.text, c.text, h.pid, h.tid,"
		 " CASE WHEN h.state IN ('read', 'write', 'fsync') THEN h.obj ELSE 0 END,"
		 " CASE WHEN h.state IN ('read', 'write', 'fsync') THEN h.obj2 ELSE 0 END,"
		 " p.pid, pc.text"
		 " FROM %s w JOIN hop h ON h.chain=w.chain AND h.n=(SELECT max(n) FROM hop"
		 "  WHERE chain=w.chain AND " AT_A_FILE ")"
		 " JOIN thread t ON t.id=w.thread JOIN process p ON p.id=t.process"
		 " LEFT JOIN string f ON f.id=h.name LEFT JOIN string c ON c.id=h.comm"
		 " LEFT JOIN string pc ON pc.id=p.comm"
		 " WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY at_ns, w.thread, w.chain",
		 idle ? "idle_second" : "wait_second");
	err = store_query(s, sql, w, &stmt);
	return err ? err : store_rows(s, stmt, io_wait_row, &to);
}

static int step_row(sqlite3_stmt *stmt, void *arg)
{
	struct window *w = arg;

	if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		return 0;
	w->from_ns = column_u64(stmt, 0);
	w->to_ns = column_u64(stmt, 1);
	return 0;
}

int store_step_window(struct store *s, uint64_t n, struct window *ret)
{
	struct window found = { 0 };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT min(start_ns - dur_ns), max(start_ns + 2 * dur_ns) FROM step"
			      " WHERE n=?3",
			      found, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, store_number(n));
	err = store_rows(s, stmt, step_row, &found);
	if (err)
		return err;
	if (!found.to_ns)
		return fail(
			-ENOENT,
			"step %llu is not in the trace: only slow steps and samples are kept one "
			"by one",
			(unsigned long long)n);
	*ret = found;
	return 0;
}
