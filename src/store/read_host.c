// SPDX-License-Identifier: Apache-2.0
/* Rows out: what happened on the host, how it was, and the incidents. */
#include <string.h>

#include "store/store_int.h"

bool store_is_fault_of_disk(uint64_t obj, const char *name)
{
	return obj && obj <= UINT32_MAX && strstr(name, DEVICE_DISK);
}

static int host_event_row(sqlite3_stmt *stmt, void *arg)
{
	struct host_event_row row = {
		.event = column_text(stmt, 0),
		.comm = column_text(stmt, 1),
		.pid = column_u32(stmt, 2),
		.at_ns = column_u64(stmt, 3),
		.first_ns = column_u64(stmt, 4),
		.obj = column_bits(stmt, 5),
		.count = column_u64(stmt, 6),
		.ns = column_u64(stmt, 7),
		.name = column_text(stmt, 8),
		.cgroup = column_text(stmt, 9),
		.value = column_bits(stmt, 10),
	};
	struct to *to = arg;

	return ((int (*)(const struct host_event_row *, void *))to->fn)(&row, to->arg);
}

int store_each_host_event(struct store *s, struct window w,
			  int (*fn)(const struct host_event_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT event, c.text, pid, at_ns, first_ns, obj, count, ns,"
			      " n.text, g.text, value FROM host_event JOIN string c ON c.id=comm"
			      " LEFT JOIN string n ON n.id=host_event.name"
			      " LEFT JOIN string g ON g.id=cgroup"
			      " WHERE at_ns >= ?1 AND first_ns <= ?2"
			      " ORDER BY at_ns, host_event.rowid",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, host_event_row, &to);
}

/* Negative: not told. */
static int64_t column_told(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? -1 : sqlite3_column_int64(stmt, i);
}

static double column_told_real(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? -1 : sqlite3_column_double(stmt, i);
}

static int system_row(sqlite3_stmt *stmt, void *arg)
{
	struct system_info info = {
		.at_ns = column_u64(stmt, 0),
		.row = {
			.busy_pct = column_told_real(stmt, 1),
			.iowait_pct = column_told_real(stmt, 2),
			.steal_pct = column_told_real(stmt, 3),
			.load1 = column_told_real(stmt, 4),
			.running = column_told(stmt, 5),
			.blocked = column_told(stmt, 6),
			.mem_total_kb = column_told(stmt, 7),
			.mem_available_kb = column_told(stmt, 8),
			.swap_used_kb = column_told(stmt, 9),
			.swap_in_pages = column_told(stmt, 10),
			.swap_out_pages = column_told(stmt, 11),
			.major_faults = column_told(stmt, 12),
			.psi_cpu_us = column_told(stmt, 13),
			.psi_memory_us = column_told(stmt, 14),
			.psi_io_us = column_told(stmt, 15),
		},
	};
	struct to *to = arg;

	return ((int (*)(const struct system_info *, void *))to->fn)(&info, to->arg);
}

int store_each_system(struct store *s, struct window w,
		      int (*fn)(const struct system_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT at_ns, busy_pct, iowait_pct, steal_pct, load1, running, blocked,"
		" mem_total_kb, mem_available_kb, swap_used_kb, swap_in_pages,"
		" swap_out_pages, major_faults, psi_cpu_us, psi_memory_us, psi_io_us"
		" FROM system_second WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY at_ns",
		w, &stmt);

	return err ? err : store_rows(s, stmt, system_row, &to);
}

static int incident_row(sqlite3_stmt *stmt, void *arg)
{
	struct incident_row row = {
		.id = sqlite3_column_int64(stmt, 0),
		.cause = column_text(stmt, 1),
		.comm = column_text(stmt, 2),
		.culprit = column_text(stmt, 3),
		.title = column_text(stmt, 4),
		.severity = column_text(stmt, 5),
		.pid = column_u32(stmt, 6),
		.culprit_pid = column_u32(stmt, 7),
		.first_ns = column_u64(stmt, 8),
		.last_ns = column_u64(stmt, 9),
		.lost_ns = column_u64(stmt, 10),
	};
	struct to *to = arg;

	return ((int (*)(const struct incident_row *, void *))to->fn)(&row, to->arg);
}

int store_each_incident(struct store *s, struct window w,
			int (*fn)(const struct incident_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT i.id, cause, v.text, c.text, t.text, severity, pid, culprit_pid,"
		" first_ns, last_ns, lost_ns FROM incident i"
		" LEFT JOIN string v ON v.id=comm LEFT JOIN string c ON c.id=culprit"
		" LEFT JOIN string t ON t.id=title"
		" WHERE first_ns <= ?2 AND last_ns >= ?1 ORDER BY first_ns, i.id",
		w, &stmt);

	return err ? err : store_rows(s, stmt, incident_row, &to);
}
