// SPDX-License-Identifier: Apache-2.0
/* Rows in: complete counts, single calls, steps. */
#include "store/store_int.h"

static int store_nested(struct store *s, int64_t thread, uint64_t at_boot_ns,
			const struct op_delta *delta)
{
	struct row r = row_begin(s, STMT_NESTED_SECOND);

	row_i64(&r, thread);
	row_op(&r, delta->op);
	row_time(&r, at_boot_ns);
	row_u64(&r, delta->nested);
	row_u64(&r, delta->nested_bytes);
	return row_end(&r, "insert nested_second");
}

int store_op_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		    const struct op_delta *delta)
{
	struct row r = row_begin(s, STMT_OP_SECOND);
	int err;

	row_i64(&r, thread);
	row_op(&r, delta->op);
	row_time(&r, at_boot_ns);
	row_u64(&r, delta->calls);
	row_u64(&r, delta->done);
	row_u64(&r, delta->errors);
	row_u64(&r, delta->bytes);
	row_u64(&r, delta->total_ns);
	row_u64(&r, delta->max_ns);
	row_states(&r, delta->state_ns);
	row_counters(&r, delta->counter);
	row_hist(&r, delta->hist);
	err = row_end(&r, "insert op_second");
	return err || !delta->nested ? err : store_nested(s, thread, at_boot_ns, delta);
}

int store_blame_second(struct store *s, int64_t thread, uint64_t at_boot_ns, const struct who *who)
{
	struct row r = row_begin(s, STMT_BLAME);

	row_i64(&r, thread);
	row_time(&r, at_boot_ns);
	row_i64(&r, (int32_t)who->pid); /* PID_IRQ is -1 */
	row_i64(&r, who->cpu);
	row_comm(&r, who->comm);
	row_u64(&r, who->ns);
	return row_end(&r, "insert blame");
}

int store_blamed(struct store *s, uint64_t at_boot_ns, uint32_t pid, const char *comm,
		 const char *cgroup)
{
	struct row r = row_begin(s, STMT_BLAMED);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_i64(&r, pid);
	row_string(&r, comm);
	row_string(&r, cgroup);
	return row_end(&r, "insert blamed");
}

static int store_culprit(struct store *s, int64_t call, const struct who *who)
{
	struct row r = row_begin(s, STMT_CULPRIT);

	row_i64(&r, call);
	row_i64(&r, (int32_t)who->pid);
	row_i64(&r, who->cpu);
	row_comm(&r, who->comm);
	row_u64(&r, who->ns);
	return row_end(&r, "insert culprit");
}

int store_call(struct store *s, int64_t thread, const struct record *rec, int64_t *ret_call)
{
	struct row r;
	int64_t id;
	int err;

	if (store_packs(rec)) {
		if (ret_call)
			*ret_call = 0;
		return store_pack(s, thread, rec);
	}
	r = row_begin(s, STMT_CALL);
	row_i64(&r, thread);
	row_op(&r, rec->op);
	row_op(&r, rec->next);
	row_time(&r, rec->start_ns);
	row_u64(&r, rec->dur_ns);
	row_i64(&r, rec->because);
	row_i64(&r, rec->depth);
	row_i64(&r, rec->ret);
	row_u64(&r, rec->bytes);
	row_bits(&r, rec->stream);
	row_bits(&r, rec->aux);
	row_bits(&r, rec->out);
	row_u64(&r, rec->usual_ns);
	row_bits(&r, rec->site);
	row_bits(&r, rec->stack);
	row_states(&r, rec->state_ns);
	row_counters(&r, rec->counter);
	err = row_end(&r, "insert call");
	if (err)
		return err;
	id = sqlite3_last_insert_rowid(s->db);
	for (uint32_t i = 0; !err && i < rec->who_count; i++)
		err = store_culprit(s, id, &rec->who[i]);
	if (!err && ret_call)
		*ret_call = id;
	return err;
}

static void row_parts(struct row *r, const struct step *step)
{
	row_u64(r, step->host_ns);
	row_u64(r, step->data_ns);
	row_u64(r, step->copy_ns);
	row_u64(r, step->sync_ns);
	row_u64(r, step->coll_ns);
	row_u64(r, step->other_ns);
	row_u64(r, step->idle_ns);
}

int store_step(struct store *s, int64_t thread, const struct step *step)
{
	struct row r = row_begin(s, STMT_STEP);

	row_i64(&r, thread);
	row_u64(&r, step->index);
	row_time(&r, step->start_ns);
	row_u64(&r, step->dur_ns);
	row_parts(&r, step);
	return row_end(&r, "insert step");
}

int store_step_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct step_sum *row)
{
	struct row r = row_begin(s, STMT_STEP_SECOND);

	row_i64(&r, thread);
	row_time(&r, at_boot_ns);
	row_u64(&r, row->steps);
	row_u64(&r, row->sum.dur_ns);
	row_u64(&r, row->max_ns);
	row_parts(&r, &row->sum);
	row_hist(&r, row->hist);
	return row_end(&r, "insert step_second");
}
