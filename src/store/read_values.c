// SPDX-License-Identifier: Apache-2.0
/*
 * Rows out, for a timeline: everything that is a value over time, everything with a beginning and an
 * end, and collectives. One more counter is one more row here.
 */
#include "store/store_int.h"
#include "store/timeline.h"

/* ---- values ---- */

#define IN_WINDOW " WHERE at_ns > ?1 AND at_ns <= ?2"
#define OF_GPU(column)                                                                             \
	"SELECT gpu, '', at_ns, " column ", '' FROM gpu_second" IN_WINDOW " AND " column           \
	" IS NOT NULL ORDER BY gpu, at_ns"
#define OF_RUN(table, label, value)                                                                \
	"SELECT r.node, " label ", at_ns, " value ", n.name FROM " table " t"                      \
	" JOIN run r ON r.id=t.run JOIN node n ON n.id=r.node" IN_WINDOW " AND (" value            \
	") IS NOT NULL ORDER BY r.node, 2, at_ns"
#define OF_SYSTEM(column) OF_RUN("system_second", "''", column)
#define OF_THREAD(table, value)                                                                    \
	"SELECT thread, '', at_ns, " value ", '' FROM " table IN_WINDOW                            \
	" GROUP BY thread, at_ns ORDER BY thread, at_ns"

const struct value_kind value_kinds[] = {
	{ OWNER_GPU, "SM activity", "%", OF_GPU("sm_active_pct") },
	{ OWNER_GPU, "utilisation (some kernel ran)", "%", OF_GPU("util_pct") },
	{ OWNER_GPU, "SM occupancy", "%", OF_GPU("occupancy_pct") },
	{ OWNER_GPU, "tensor cores active", "%", OF_GPU("tensor_pct") },
	{ OWNER_GPU, "memory bandwidth used", "%", OF_GPU("dram_pct") },
	{ OWNER_GPU, "memory read or written", "%", OF_GPU("mem_util_pct") },
	{ OWNER_GPU, "memory used", "bytes", OF_GPU("mem_used") },
	{ OWNER_GPU, "SM clock", "MHz", OF_GPU("sm_mhz") },
	{ OWNER_GPU, "memory clock", "MHz", OF_GPU("mem_mhz") },
	{ OWNER_GPU, "power", "W", OF_GPU("power_w") },
	{ OWNER_GPU, "temperature", "C", OF_GPU("temp_c") },
	{ OWNER_GPU, "PCIe out of the GPU", "bytes/s", OF_GPU("pcie_tx") },
	{ OWNER_GPU, "PCIe into the GPU", "bytes/s", OF_GPU("pcie_rx") },

	{ OWNER_NODE, "CPU busy", "%", OF_SYSTEM("busy_pct") },
	{ OWNER_NODE, "CPU waiting for disks", "%", OF_SYSTEM("iowait_pct") },
	{ OWNER_NODE, "CPU taken by the hypervisor", "%", OF_SYSTEM("steal_pct") },
	{ OWNER_NODE, "threads running or ready", "threads", OF_SYSTEM("running") },
	{ OWNER_NODE, "threads blocked on disks", "threads", OF_SYSTEM("blocked") },
	{ OWNER_NODE, "memory available", "KiB", OF_SYSTEM("mem_available_kb") },
	{ OWNER_NODE, "swap used", "KiB", OF_SYSTEM("swap_used_kb") },
	{ OWNER_NODE, "swapped in", "pages/s", OF_SYSTEM("swap_in_pages") },
	{ OWNER_NODE, "swapped out", "pages/s", OF_SYSTEM("swap_out_pages") },
	{ OWNER_NODE, "major page faults", "1/s", OF_SYSTEM("major_faults") },
	{ OWNER_NODE, "stalled for CPU", "us/s", OF_SYSTEM("psi_cpu_us") },
	{ OWNER_NODE, "stalled for memory", "us/s", OF_SYSTEM("psi_memory_us") },
	{ OWNER_NODE, "stalled for disks", "us/s", OF_SYSTEM("psi_io_us") },
	{ OWNER_NODE, "disk requests of followed threads", "1/s",
	  "SELECT r.node, coalesce(d.text, ''), (at_ns / 1000000000 + 1) * 1000000000, total(count),"
	  " n.name FROM host_event t JOIN run r ON r.id=t.run JOIN node n ON n.id=r.node"
	  " LEFT JOIN string d ON d.id=t.name" IN_WINDOW
	  " AND event='block_io' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" },
	{ OWNER_NODE, "mean time of a disk request", "us",
	  "SELECT r.node, coalesce(d.text, ''), (at_ns / 1000000000 + 1) * 1000000000,"
	  " total(ns) / total(count) / 1000, n.name FROM host_event t JOIN run r ON r.id=t.run"
	  " JOIN node n ON n.id=r.node LEFT JOIN string d ON d.id=t.name" IN_WINDOW
	  " AND event='block_io' AND count > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" },
	{ OWNER_NODE, "records dropped", "records", OF_RUN("account", "''", "dropped") },
	{ OWNER_NODE, "lost", "times", OF_RUN("loss", "reason", "count") },
	{ OWNER_NODE, "cost to the process that pays most", "%",
	  OF_RUN("cost_second", "''", "worst_pct") },

	{ OWNER_PROCESS, "CUDA memory", "bytes",
	  "SELECT process, kind || CASE WHEN device < 0 THEN '' ELSE ', device ' || device END,"
	  " at_ns, current, '' FROM memory_second" IN_WINDOW
	  " ORDER BY process, kind, device, at_ns" },
	{ OWNER_PROCESS, "kernel launches (in all since the last value)", "launches",
	  "SELECT process, '', at_ns, total(launches), '' FROM kernel_second"
	  " JOIN kernel k ON k.id=kernel" IN_WINDOW " GROUP BY process, at_ns"
	  " ORDER BY process, at_ns" },
	{ OWNER_THREAD, "calls (sum per second)", "calls",
	  "SELECT thread, '', at_ns, total(calls), '' FROM op_second JOIN op ON op.id=op" IN_WINDOW
	  " AND class<>'gap' GROUP BY thread, at_ns ORDER BY thread, at_ns" },
	{ OWNER_THREAD, "steps (sum per second)", "steps", OF_THREAD("step_second", "steps") },
	{ OWNER_THREAD, "mean step", "ms",
	  OF_THREAD("step_second", "CAST(dur_ns AS REAL) / max(steps, 1) / 1e6") },
	{ OWNER_THREAD, "GPU without work from this thread, at least (sum per second)", "ms",
	  OF_THREAD("idle_second", "total(ns) / 1e6") },
	{ 0 },
};

static int value_row(sqlite3_stmt *stmt, void *arg)
{
	struct value_row row = {
		.owner = sqlite3_column_int64(stmt, 0),
		.label = column_text(stmt, 1),
		.at_ns = column_u64(stmt, 2),
		.value = sqlite3_column_double(stmt, 3),
		.node = column_text(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct value_row *, void *))to->fn)(&row, to->arg);
}

int store_each_value(struct store *s, struct window w, const struct value_kind *kind,
		     int (*fn)(const struct value_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s, kind->sql, w, &stmt);

	return err ? err : store_rows(s, stmt, value_row, &to);
}

static int gpu_place_row(sqlite3_stmt *stmt, void *arg)
{
	struct gpu_place row = {
		.id = sqlite3_column_int64(stmt, 0),
		.node = column_text(stmt, 1),
		.index = column_u32(stmt, 2),
		.name = column_text(stmt, 3),
		.bus_id = column_text(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct gpu_place *, void *))to->fn)(&row, to->arg);
}

int store_each_gpu_place(struct store *s, int (*fn)(const struct gpu_place *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT g.id, node.name, n, g.name, bus_id FROM gpu g"
			      " JOIN run ON run.id=g.run JOIN node ON node.id=run.node"
			      " ORDER BY node.name, n, g.id",
			      (struct window){ 0, 0 }, &stmt);

	return err ? err : store_rows(s, stmt, gpu_place_row, &to);
}

/* ---- spans ---- */

#define AT_NODE(table) " FROM " table " t JOIN run r ON r.id=t.run JOIN node n ON n.id=r.node"

const struct span_kind span_kinds[] = {
	{ "recording", NULL, NULL, "version, kernel",
	  "SELECT n.name, 0, start_ns, coalesce(end_ns,"
	  " (SELECT max(at_ns) FROM account WHERE run=r.id), start_ns),"
	  " CASE WHEN record_all THEN 'recording: every call' ELSE"
	  " 'recording: every call is counted, slow and sampled ones are kept' END, '',"
	  " version || ', ' || kernel, 0, 0 FROM run r JOIN node n ON n.id=r.node"
	  " WHERE start_ns <= ?2 AND coalesce(end_ns, ?2) >= ?1 ORDER BY n.name, start_ns",
	  false },
	{ "lost records", "lost", NULL, NULL,
	  "SELECT n.name, 0, at_ns, at_ns, reason, '', '', count, 0" AT_NODE("loss") IN_WINDOW
	  " AND count > 0 ORDER BY n.name, at_ns",
	  false },
	{ "not looked at, to cost less", "calls not counted, estimated", "cost in percent", NULL,
	  "SELECT n.name, 0, from_ns, to_ns, what, '', '', calls, cost_pct" AT_NODE(
		  "shed") " WHERE to_ns > ?1 AND from_ns < ?2 ORDER BY n.name, from_ns",
	  false },
	{ "GPU errors", "code", NULL, "message",
	  "SELECT n.name, t.pid, at_ns, at_ns, 'Xid ' || code, 'HIGH', x.text, code, 0" AT_NODE(
		  "gpu_error") " LEFT JOIN string x ON x.id=t.text" IN_WINDOW
			       " ORDER BY n.name, at_ns",
	  false },
	{ "host events, summed", "count", "ms", "who",
	  "SELECT n.name, t.pid, first_ns, at_ns, event, '', trim(coalesce(c.text, '') || ' ' ||"
	  " coalesce(x.text, '')), count, ns / 1e6" AT_NODE(
		  "host_event") " LEFT JOIN string c ON c.id=t.comm LEFT JOIN string x ON x.id=t.name"
				" WHERE at_ns >= ?1 AND first_ns <= ?2 AND event<>'block_io'"
				" ORDER BY n.name, first_ns, at_ns DESC",
	  false },
	{ "incidents", NULL, "lost ms", "culprit",
	  "SELECT n.name, t.pid, first_ns, last_ns, x.text, severity, CASE WHEN culprit_pid > 0"
	  " THEN c.text || ' (pid ' || culprit_pid || ')' ELSE c.text END, 0,"
	  " lost_ns / 1e6" AT_NODE(
		  "incident") " LEFT JOIN string c ON c.id=t.culprit LEFT JOIN string x ON x.id=t.title"
			      " WHERE first_ns <= ?2 AND last_ns >= ?1"
			      " ORDER BY n.name, first_ns, last_ns DESC",
	  true },
	{ "libraries that could not be attached", NULL, NULL, "library",
	  "SELECT n.name, p.pid, since_ns, since_ns, t.note, '', x.text, 0, 0 FROM coverage t"
	  " JOIN process p ON p.id=t.process JOIN run r ON r.id=p.run JOIN node n ON n.id=r.node"
	  " LEFT JOIN string x ON x.id=t.library WHERE since_ns >= ?1 AND since_ns <= ?2"
	  " AND note<>'' ORDER BY n.name, since_ns",
	  true },
	{ 0 },
};

static int span_row(sqlite3_stmt *stmt, void *arg)
{
	struct span_row row = {
		.node = column_text(stmt, 0),
		.pid = column_u32(stmt, 1),
		.from_ns = column_u64(stmt, 2),
		.to_ns = column_u64(stmt, 3),
		.name = column_text(stmt, 4),
		.severity = column_text(stmt, 5),
		.detail = column_text(stmt, 6),
		.count = column_u64(stmt, 7),
		.value = sqlite3_column_double(stmt, 8),
	};
	struct to *to = arg;

	return ((int (*)(const struct span_row *, void *))to->fn)(&row, to->arg);
}

int store_each_span(struct store *s, struct window w, const struct span_kind *kind,
		    int (*fn)(const struct span_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s, kind->sql, w, &stmt);

	return err ? err : store_rows(s, stmt, span_row, &to);
}

/* ---- collectives ---- */

static int64_t column_rank(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? -1 : sqlite3_column_int64(stmt, i);
}

static int met_row(sqlite3_stmt *stmt, void *arg)
{
	struct met_collective row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.process = sqlite3_column_int64(stmt, 1),
		.symbol = column_text(stmt, 2),
		.hash = column_bits(stmt, 3),
		.seq = column_u64(stmt, 4),
		.start_ns = column_u64(stmt, 5),
		.end_ns = column_u64(stmt, 6),
		.rank = column_rank(stmt, 7),
		.nranks = column_rank(stmt, 8),
		.bytes = column_u64(stmt, 9),
		.waited = sqlite3_column_int(stmt, 10) != 0,
		.sure = sqlite3_column_int(stmt, 11) != 0,
		.place = column_u64(stmt, 12),
		.places = column_u64(stmt, 13),
		.last_start_ns = column_u64(stmt, 14),
	};
	struct to *to = arg;

	return ((int (*)(const struct met_collective *, void *))to->fn)(&row, to->arg);
}

/* Who is not known to belong to others, or sends to one of them, meets nobody: a number of its own. */
#define MEETING                                                                                    \
	"(PARTITION BY CASE WHEN op.class='coll' THEN coalesce(m.hash, -m.id) ELSE -m.id END,"     \
	" op.class, seq"

/* Times of several nodes are compared by one clock: `shift` is what is added to this one's. */
#define MET(shift, join)                                                                           \
	"SELECT c.thread, m.process, op.symbol, m.hash, seq, c.start_ns,"                          \
	" CASE WHEN joined<>'none' THEN max(coalesce(sync_end_ns, 0), c.start_ns)"                 \
	" ELSE c.start_ns + dur_ns END, m.rank, m.nranks, coalesce(c.bytes, 0),"                   \
	" joined<>'none', joined IN ('stream', 'device'),"                                         \
	" row_number() OVER " MEETING " ORDER BY c.start_ns + " shift ", m.id),"                   \
	" count(*) OVER " MEETING "), max(c.start_ns + " shift ") OVER " MEETING ") - " shift      \
	" FROM collective c JOIN communicator m ON m.id=c.communicator"                            \
	" JOIN op ON op.id=c.op" join                                                              \
	" WHERE c.start_ns >= ?1 AND c.start_ns <= ?2 ORDER BY c.thread, c.start_ns, 7 DESC"
#define WITH_CLOCK                                                                                 \
	" JOIN process p ON p.id=m.process JOIN run r ON r.id=p.run"                               \
	" LEFT JOIN node_clock k ON k.node=r.node"

int store_each_met(struct store *s, struct window w,
		   int (*fn)(const struct met_collective *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err =
		store_query(s,
			    store_has(s, "node_clock") ? MET("coalesce(k.offset_ns, 0)", WITH_CLOCK)
						       : MET("0", ""),
			    w, &stmt);

	return err ? err : store_rows(s, stmt, met_row, &to);
}
