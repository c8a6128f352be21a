// SPDX-License-Identifier: Apache-2.0
/* Rows out: whose processes were. */
#include "store/read_tenant.h"
#include "store/store_int.h"

/* Traces that were made before these tables came have none of it, which is no error. */
static bool has_tenants(struct store *s)
{
	return sqlite3_table_column_metadata(s->db, NULL, "container", "label", NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

static int container_row(sqlite3_stmt *stmt, void *arg)
{
	struct container_info info = {
		.id = sqlite3_column_int64(stmt, 0),
		.row = {
			.container_id = column_text(stmt, 1),
			.runtime = column_text(stmt, 2),
			.pod_uid = column_text(stmt, 3),
			.namespace = column_text(stmt, 4),
			.pod = column_text(stmt, 5),
			.name = column_text(stmt, 6),
			.image = column_text(stmt, 7),
			.slurm_job = column_text(stmt, 8),
			.unit = column_text(stmt, 9),
			.claimed = sqlite3_column_int(stmt, 10) != 0,
			.label = column_text(stmt, 11),
			.cgroup = column_text(stmt, 12),
			.cgroup_id = column_bits(stmt, 13),
		},
		.first_ns = column_u64(stmt, 14),
		.last_ns = column_u64(stmt, 15),
	};
	struct to *to = arg;

	return ((int (*)(const struct container_info *, void *))to->fn)(&info, to->arg);
}

int store_each_container(struct store *s, int (*fn)(const struct container_info *, void *),
			 void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err;

	if (!has_tenants(s))
		return 0;
	err = store_query(s,
			  "SELECT container.id, container_id, runtime, pod_uid, namespace, pod,"
			  " name, image, slurm_job, unit, claimed, label, string.text, cgroup_id,"
			  " first_ns, last_ns FROM container"
			  " LEFT JOIN string ON string.id=cgroup ORDER BY container.id",
			  (struct window){ 0 }, &stmt);
	return err ? err : store_rows(s, stmt, container_row, &to);
}

static int stay_row(sqlite3_stmt *stmt, void *arg)
{
	struct stay_row row = {
		.process = sqlite3_column_int64(stmt, 0),
		.pid = column_u32(stmt, 1),
		.from_ns = column_u64(stmt, 2),
		.container = sqlite3_column_int64(stmt, 3),
		.cgroup = column_text(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct stay_row *, void *))to->fn)(&row, to->arg);
}

int store_each_stay(struct store *s, struct window w, int (*fn)(const struct stay_row *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err;

	if (!has_tenants(s))
		return 0;
	err = store_query(s,
			  "SELECT process, pid, from_ns, container, string.text"
			  " FROM process_container JOIN process ON process.id=process"
			  " LEFT JOIN string ON string.id=process_container.cgroup"
			  " WHERE from_ns<=?2 AND coalesce(exit_ns, ?2) >= ?1"
			  " ORDER BY pid, from_ns",
			  w, &stmt);
	return err ? err : store_rows(s, stmt, stay_row, &to);
}

static int disk_user_row(sqlite3_stmt *stmt, void *arg)
{
	struct disk_user_row row = {
		.dev = column_u32(stmt, 1),
		.pid = column_u32(stmt, 2),
		.comm = column_text(stmt, 3),
		.cgroup = column_text(stmt, 4),
		.requests = column_u64(stmt, 5),
		.bytes = column_u64(stmt, 6),
		.kernel = sqlite3_column_int(stmt, 7) != 0,
	};
	struct to *to = arg;

	return ((int (*)(uint64_t, const struct disk_user_row *, void *))to->fn)(
		column_u64(stmt, 0), &row, to->arg);
}

int store_each_disk_user(struct store *s, struct window w,
			 int (*fn)(uint64_t at_ns, const struct disk_user_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err;

	if (!has_tenants(s))
		return 0;
	err = store_query(s,
			  "SELECT at_ns, dev, pid, c.text, g.text, requests, bytes, kernel"
			  " FROM disk_user_second LEFT JOIN string c ON c.id=comm"
			  " LEFT JOIN string g ON g.id=cgroup WHERE at_ns > ?1 AND at_ns <= ?2"
			  " ORDER BY at_ns",
			  w, &stmt);
	return err ? err : store_rows(s, stmt, disk_user_row, &to);
}
