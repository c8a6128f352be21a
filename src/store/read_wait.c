// SPDX-License-Identifier: Apache-2.0
/* Rows out: the time that is charged to chains, and the chains. */
#include <errno.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"

static int wait_row(sqlite3_stmt *stmt, void *arg)
{
	struct wait_info row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.chain = sqlite3_column_int64(stmt, 1),
		.symbol = column_text(stmt, 2),
		.class = column_text(stmt, 3),
		.at_ns = column_u64(stmt, 4),
		.ns = column_u64(stmt, 5),
		.count = column_u64(stmt, 6),
		.max_ns = column_u64(stmt, 7),
	};
	struct to *to = arg;

	return ((int (*)(const struct wait_info *, void *))to->fn)(&row, to->arg);
}

int store_each_wait(struct store *s, struct window w, int (*fn)(const struct wait_info *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT thread, chain, symbol, class, at_ns, ns, count, max_ns"
			      " FROM wait_second JOIN op ON op.id=wait_second.op"
			      " WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY thread, at_ns, op, chain",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, wait_row, &to);
}

int store_each_idle(struct store *s, struct window w, int (*fn)(const struct wait_info *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT thread, chain, '', '', at_ns, ns, count, max_ns"
			      " FROM idle_second WHERE at_ns > ?1 AND at_ns <= ?2"
			      " ORDER BY thread, at_ns, chain",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, wait_row, &to);
}

static int call_wait_row(sqlite3_stmt *stmt, void *arg)
{
	struct to *to = arg;

	return ((int (*)(int64_t, uint64_t, void *))to->fn)(sqlite3_column_int64(stmt, 0),
							    column_u64(stmt, 1), to->arg);
}

int store_each_call_wait(struct store *s, int64_t call,
			 int (*fn)(int64_t chain, uint64_t ns, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT chain, ns FROM call_wait WHERE call=?3"
			      " ORDER BY ns DESC, chain",
			      (struct window){ 0, 0 }, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, call);
	return store_rows(s, stmt, call_wait_row, &to);
}

/* ---- chains ---- */

static unsigned int value_of(const char *const *names, unsigned int count, const char *name,
			     unsigned int unknown)
{
	for (unsigned int i = 0; i < count; i++) {
		if (streq(names[i], name))
			return i;
	}
	return unknown;
}

struct found {
	struct chain chain;
	bool any, cut; /* cut: a hop is missing, or one too many; what follows it is not told */
};

static int hop_row(sqlite3_stmt *stmt, void *arg)
{
	struct found *f = arg;
	int64_t nr = sqlite3_column_int64(stmt, 11), irq = sqlite3_column_int64(stmt, 17);
	struct hop *hop;

	if (!f->any)
		f->chain.complete = sqlite3_column_int64(stmt, 0) != 0;
	f->any = true;
	if (sqlite3_column_type(stmt, 1) == SQLITE_NULL)
		return 0; /* a chain without hops */
	if (f->cut || f->chain.hops >= HOPS_MAX || sqlite3_column_int64(stmt, 1) != f->chain.hops) {
		f->cut = true;
		return 0;
	}
	hop = &f->chain.hop[f->chain.hops++];
	*hop = (struct hop){
		.pid = column_u32(stmt, 2),
		.tid = column_u32(stmt, 3),
		.relation = value_of(relation_names, RELATION_COUNT, column_text(stmt, 5),
				     RELATION_foreign),
		.state = value_of(state_names, STATE_COUNT, column_text(stmt, 6), STATE_UNKNOWN),
		.by = value_of(waker_names, WAKER_COUNT, column_text(stmt, 7), WAKER_other),
		.object = value_of(object_names, OBJECT_COUNT, column_text(stmt, 8), OBJECT_none),
		.cpu = column_u32(stmt, 9),
		.cpu_pid = column_u32(stmt, 10),
		.nr = nr < 0 || nr > INT16_MAX ? -1 : (int)nr,
		.irq = irq < 0 || irq > INT16_MAX ? -1 : (int)irq,
		.fd = -1,
		.flags = column_u32(stmt, 12),
		.obj = column_bits(stmt, 13),
		.obj2 = column_bits(stmt, 14),
		.stack = column_bits(stmt, 16),
	};
	str_copy(hop->comm, sizeof(hop->comm), column_text(stmt, 4));
	str_copy(hop->name, sizeof(hop->name), column_text(stmt, 15));
	str_copy(hop->device, sizeof(hop->device), column_text(stmt, 18));
	return 0;
}

int store_find_chain(struct store *s, int64_t id, struct chain *ret)
{
	struct found f = { 0 };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT complete, n, pid, tid, c.text, relation, state, waker, object,"
		" cpu, cpu_pid, nr, flags, obj, obj2, w.text, hop.stack, irq, d.text FROM chain"
		" LEFT JOIN hop ON hop.chain=chain.id AND n >= 0"
		" LEFT JOIN string c ON c.id=comm LEFT JOIN string w ON w.id=hop.name"
		" LEFT JOIN string d ON d.id=device"
		" WHERE chain.id=?3 ORDER BY n",
		(struct window){ 0, 0 }, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, id);
	err = store_rows(s, stmt, hop_row, &f);
	if (err)
		return err;
	if (!f.chain.hops)
		return fail(-ENOENT, "no chain %lld", (long long)id);
	if (f.cut)
		f.chain.complete = false;
	*ret = f.chain;
	return 0;
}
