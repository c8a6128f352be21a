// SPDX-License-Identifier: Apache-2.0
/* What the agent cost, and what it did not look at to cost less: rows in and out. */
#include "store/store_int.h"

int store_cost(struct store *s, uint64_t at_boot_ns, const struct cost_row *row)
{
	struct row r = row_begin(s, STMT_COST);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_u64(&r, row->launch_ns);
	row_u64(&r, row->call_ns);
	row_u64(&r, row->stepped_ns);
	row_u64(&r, row->record_ns);
	row_u64(&r, row->stack_ns);
	row_u64(&r, row->switch_ns);
	row_u64(&r, row->related_ns);
	row_u64(&r, row->other_ns);
	row_u64(&r, row->agent_ns);
	row_u64(&r, row->cpus_ns);
	row_told_real(&r, row->worst_pct);
	row_told_real(&r, row->budget_pct);
	return row_end(&r, "insert cost");
}

int store_shed(struct store *s, const struct shed_row *row)
{
	struct row r = row_begin(s, STMT_SHED);

	row_i64(&r, s->run);
	row_text(&r, row->what);
	row_time(&r, row->from_ns);
	row_time(&r, row->to_ns);
	row_told_real(&r, row->cost_pct);
	row_u64(&r, row->calls);
	return row_end(&r, "insert shed");
}

static int cost_row(sqlite3_stmt *stmt, void *arg)
{
	*(struct cost_row *)arg = (struct cost_row){
		.launch_ns = column_u64(stmt, 0),
		.call_ns = column_u64(stmt, 1),
		.stepped_ns = column_u64(stmt, 2),
		.record_ns = column_u64(stmt, 3),
		.stack_ns = column_u64(stmt, 4),
		.switch_ns = column_u64(stmt, 5),
		.related_ns = column_u64(stmt, 6),
		.other_ns = column_u64(stmt, 7),
		.agent_ns = column_u64(stmt, 8),
		.cpus_ns = column_u64(stmt, 9),
		.worst_pct = sqlite3_column_double(stmt, 10),
		.budget_pct = sqlite3_column_double(stmt, 11),
	};
	return 0;
}

int store_cost_total(struct store *s, struct window w, struct cost_row *ret)
{
	sqlite3_stmt *stmt;
	int err =
		store_query(s,
			    "SELECT total(launch_ns), total(call_ns), total(stepped_ns),"
			    " total(record_ns), total(stack_ns), total(switch_ns),"
			    " total(related_ns), total(other_ns), total(agent_ns), total(cpus_ns),"
			    " coalesce(max(worst_pct), 0), coalesce(max(budget_pct), 0)"
			    " FROM cost_second WHERE at_ns > ?1 AND at_ns <= ?2",
			    w, &stmt);

	return err ? err : store_rows(s, stmt, cost_row, ret);
}

static int shed_row(sqlite3_stmt *stmt, void *arg)
{
	struct shed_row row = {
		.what = column_text(stmt, 0),
		.from_ns = column_u64(stmt, 1),
		.to_ns = column_u64(stmt, 2),
		.cost_pct = sqlite3_column_double(stmt, 3),
		.calls = column_u64(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct shed_row *, void *))to->fn)(&row, to->arg);
}

int store_each_shed(struct store *s, struct window w, int (*fn)(const struct shed_row *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT what, from_ns, to_ns, cost_pct, calls FROM shed"
			      " WHERE to_ns > ?1 AND from_ns < ?2 ORDER BY from_ns",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, shed_row, &to);
}
