// SPDX-License-Identifier: Apache-2.0
/* Rows in: what happened on the host, how it was, and the incidents made of it. */
#include <errno.h>
#include <math.h>

#include "base/fail.h"
#include "store/store_int.h"

int store_host_event(struct store *s, const struct host_key *key, const struct host_count *fresh,
		     const char *name, const char *cgroup)
{
	struct row r;

	if (key->event >= HOST_COUNT)
		return fail(-EBADMSG, "host event %u of %d", key->event, HOST_COUNT);
	r = row_begin(s, STMT_HOST_EVENT);
	row_i64(&r, s->run);
	row_time(&r, fresh->last_ns);
	row_time(&r, fresh->first_ns);
	row_text(&r, host_event_names[key->event]);
	row_i64(&r, key->pid);
	row_comm(&r, fresh->comm);
	row_bits(&r, key->obj);
	row_string(&r, name);
	row_string(&r, cgroup);
	row_u64(&r, fresh->count);
	row_u64(&r, fresh->ns);
	row_bits(&r, fresh->value);
	return row_end(&r, "insert host_event");
}

int store_system_second(struct store *s, uint64_t at_boot_ns, const struct system_row *row)
{
	struct row r = row_begin(s, STMT_SYSTEM_SECOND);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_told_real(&r, row->busy_pct);
	row_told_real(&r, row->iowait_pct);
	row_told_real(&r, row->steal_pct);
	row_told_real(&r, row->load1);
	row_told(&r, row->running);
	row_told(&r, row->blocked);
	row_told(&r, row->mem_total_kb);
	row_told(&r, row->mem_available_kb);
	row_told(&r, row->swap_used_kb);
	row_told(&r, row->swap_in_pages);
	row_told(&r, row->swap_out_pages);
	row_told(&r, row->major_faults);
	row_told(&r, row->psi_cpu_us);
	row_told(&r, row->psi_memory_us);
	row_told(&r, row->psi_io_us);
	return row_end(&r, "insert system_second");
}

int store_core_second(struct store *s, uint64_t at_boot_ns, int cpu, double busy_pct, int64_t mhz)
{
	struct row r;

	if (!isfinite(busy_pct) || busy_pct < 0)
		return 0; /* nothing is known of this core: no row */
	r = row_begin(s, STMT_CORE_SECOND);
	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_i64(&r, cpu);
	row_told_real(&r, busy_pct);
	row_told(&r, mhz);
	return row_end(&r, "insert core_second");
}

int store_incident(struct store *s, struct incident_row *row)
{
	struct row r = row_begin(s, row->id ? STMT_INCIDENT_MORE : STMT_INCIDENT);
	int err;

	row_text(&r, row->severity);
	row_string(&r, row->title);
	row_i64(&r, (int32_t)row->culprit_pid);
	row_string(&r, row->culprit);
	row_u64(&r, row->first_ns);
	row_u64(&r, row->last_ns);
	row_u64(&r, row->lost_ns);
	if (row->id) {
		row_i64(&r, row->id);
		err = row_end(&r, "extend incident");
		if (!err && !sqlite3_changes(s->db))
			err = fail(-ENOENT, "no incident %lld", (long long)row->id);
		return err;
	}
	row_i64(&r, s->run);
	row_text(&r, row->cause);
	row_i64(&r, row->pid);
	row_string(&r, row->comm);
	err = row_end(&r, "insert incident");
	if (!err)
		row->id = sqlite3_last_insert_rowid(s->db);
	return err;
}
