// SPDX-License-Identifier: Apache-2.0
/* Rows in: GPUs, what they say of themselves, who uses them, their errors. */
#include "store/store_int.h"

static const uint64_t per[GPU_VALUE_COUNT] = {
#define X(id, per_, max) per_,
	GPU_VALUES(X)
#undef X
};

int store_gpu(struct store *s, uint64_t first_boot_ns, const struct gpu_row *row, int64_t *ret)
{
	struct row r = row_begin(s, STMT_GPU);
	int err;

	row_i64(&r, s->run);
	row_i64(&r, row->index);
	row_text(&r, row->name);
	row_text(&r, row->uuid);
	row_text(&r, row->bus_id);
	row_time(&r, first_boot_ns);
	err = row_end(&r, "insert gpu");
	if (!err)
		*ret = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_gpu_second(struct store *s, int64_t gpu, uint64_t at_boot_ns, const struct gpu_values *v)
{
	struct row r = row_begin(s, STMT_GPU_SECOND);

	row_i64(&r, gpu);
	row_time(&r, at_boot_ns);
	for (int i = 0; i < GPU_VALUE_COUNT; i++) {
		if (!GPU_KNOWN(v, i))
			row_null(&r);
		else if (per[i] == 1)
			row_u64(&r, v->value[i]);
		else
			row_told_real(&r, (double)v->value[i] / (double)per[i]);
	}
	return row_end(&r, "insert gpu_second");
}

int store_gpu_process(struct store *s, int64_t gpu, uint32_t pid, uint64_t first_boot_ns,
		      uint64_t at_boot_ns, uint64_t bytes)
{
	struct row r = row_begin(s, STMT_GPU_PROCESS);

	row_i64(&r, gpu);
	row_i64(&r, pid);
	row_time(&r, first_boot_ns);
	row_time(&r, at_boot_ns);
	if (bytes == GPU_BYTES_UNKNOWN)
		row_null(&r);
	else
		row_u64(&r, bytes);
	return row_end(&r, "insert gpu_process");
}

int store_gpu_error(struct store *s, const struct gpu_error_row *row)
{
	struct row r = row_begin(s, STMT_GPU_ERROR);

	row_i64(&r, s->run);
	row_time(&r, row->at_ns);
	row_text(&r, row->bus_id);
	row_i64(&r, row->code);
	row_i64(&r, row->pid);
	row_string(&r, row->comm);
	row_string(&r, row->text);
	return row_end(&r, "insert gpu_error");
}
