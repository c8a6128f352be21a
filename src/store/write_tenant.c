// SPDX-License-Identifier: Apache-2.0
/* Rows in: whose processes are. */
#include "store/store_int.h"

int store_container(struct store *s, uint64_t at_boot_ns, const struct container_row *row,
		    int64_t *ret)
{
	struct row r = row_begin(s, STMT_CONTAINER);
	int64_t id = store_text_id(row->identity);

	row_i64(&r, id);
	row_text(&r, row->container_id);
	row_text(&r, row->runtime);
	row_text(&r, row->pod_uid);
	row_text(&r, row->namespace);
	row_text(&r, row->pod);
	row_text(&r, row->name);
	row_text(&r, row->image);
	row_text(&r, row->slurm_job);
	row_text(&r, row->unit);
	row_i64(&r, row->claimed);
	row_text(&r, row->label);
	row_string(&r, row->cgroup);
	if (row->cgroup_id)
		row_bits(&r, row->cgroup_id);
	else
		row_null(&r);
	row_time(&r, at_boot_ns);
	*ret = id;
	return row_end(&r, "insert container");
}

int store_container_seen(struct store *s, int64_t container, uint64_t at_boot_ns)
{
	struct row r = row_begin(s, STMT_CONTAINER_SEEN);

	row_i64(&r, container);
	row_time(&r, at_boot_ns);
	return row_end(&r, "container seen");
}

static int move_process(struct store *s, int64_t process, const char *cgroup)
{
	struct row r = row_begin(s, STMT_PROCESS_CGROUP);

	row_i64(&r, process);
	row_string(&r, cgroup);
	return row_end(&r, "move process");
}

int store_process_container(struct store *s, int64_t process, uint64_t from_boot_ns,
			    int64_t container, const char *cgroup)
{
	struct row r = row_begin(s, STMT_PROCESS_CONTAINER);
	int err;

	row_i64(&r, process);
	row_time(&r, from_boot_ns);
	if (container)
		row_i64(&r, container);
	else
		row_null(&r);
	row_string(&r, cgroup);
	err = row_end(&r, "insert process_container");
	return err ? err : move_process(s, process, cgroup);
}

int store_cgroup_container(struct store *s, const char *cgroup, int64_t container)
{
	struct row r = row_begin(s, STMT_CGROUP_CONTAINER);

	row_string(&r, cgroup);
	row_i64(&r, container);
	return row_end(&r, "insert cgroup_container");
}

int store_disk_user(struct store *s, uint64_t at_boot_ns, const struct disk_user_row *row)
{
	struct row r = row_begin(s, STMT_DISK_USER);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_i64(&r, row->dev);
	row_i64(&r, row->pid);
	row_string(&r, row->comm);
	row_string(&r, row->cgroup);
	row_u64(&r, row->requests);
	row_u64(&r, row->bytes);
	row_i64(&r, row->kernel);
	return row_end(&r, "insert disk_user_second");
}
