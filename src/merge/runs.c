// SPDX-License-Identifier: Apache-2.0
/*
 * Which run is which. A run is known by its node, boot, start and number in its own file; the hash of these
 * stands above the ids of its rows, so that two files never share one, and a row has the same id
 * whenever and with whatever it is merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "merge/merge_int.h"
#include "store/raw.h"

#define SALTS 64
#define LOCAL_BITS 32

struct identity {
	int64_t node, start_ns, local, salt;
	char boot_id[64];
};

/* 31 bits that are not 0: the id of a row stays positive. */
static int64_t number_of(const struct identity *id)
{
	char text[256];
	uint64_t hash;

	snprintf(text, sizeof(text), "%lld %s %lld %lld %lld", (long long)id->node, id->boot_id,
		 (long long)id->start_ns, (long long)id->local, (long long)id->salt);
	hash = (uint64_t)store_text_id(text);
	hash = (hash ^ hash >> 31) & 0x7fffffff;
	return hash ? (int64_t)hash : 1;
}

/* ---- whose it is ---- */

/* temp.map_node: old, new. A node's id is the hash of its name, whatever the file says. */
static int map_nodes(struct merging *m)
{
	const char *forced = m->force_node;
	int64_t n = 0;
	int err = merge_exec(m, "CREATE TEMP TABLE map_node(old INTEGER PRIMARY KEY, new INTEGER)");

	if (!err && forced)
		err = merge_int(m, &n, "SELECT count(DISTINCT node) FROM src.run");
	if (!err && forced && n > 1)
		return fail(-EINVAL, "%s: has %lld nodes: --force-node would make one of them",
			    m->file, (long long)n);
	if (!err && forced) {
		err = merge_execf(
			m,
			"INSERT INTO temp.map_node SELECT DISTINCT node, text_id(%Q) FROM src.run",
			forced);
		if (!err)
			err = merge_execf(m,
					  "INSERT OR IGNORE INTO main.node VALUES(text_id(%Q), %Q)",
					  forced, forced);
		return err;
	}
	if (!err && !input_has(m, "node"))
		n = 1;
	else if (!err)
		err = merge_int(m, &n,
				"SELECT count(*) FROM src.run LEFT JOIN src.node n ON n.id=run.node"
				" WHERE coalesce(n.name, '')=''");
	if (!err && n)
		return fail(-ENODATA,
			    "%s: does not say which node it is of: name it with --force-node NAME",
			    m->file);
	if (!err)
		err = merge_exec(
			m, "INSERT INTO temp.map_node SELECT id, text_id(name) FROM src.node");
	if (!err)
		err = merge_exec(
			m,
			"INSERT OR IGNORE INTO main.node SELECT text_id(name), name FROM src.node"
			" WHERE name <> ''");
	return err;
}

/* ---- its number ---- */

/* Would rows of this run get ids that others have? Processes and calls are looked at. */
static int is_taken(struct merging *m, const struct identity *id, int64_t number, int64_t old,
		    bool *ret)
{
	int64_t other = 0, differs = 0, call = 0;
	int err = merge_int(
		m, &other,
		"SELECT count(*) FROM main.merged_run WHERE number=%lld AND NOT (node=%lld"
		" AND boot_id=%Q AND start_ns=%lld AND local=%lld AND salt=%lld)",
		number, id->node, id->boot_id, id->start_ns, id->local, id->salt);

	if (!err && !other)
		err = merge_int(m, &differs,
				"SELECT count(*) FROM src.process p JOIN main.process o"
				" ON o.id=((%lld << 32) | (p.id & 4294967295))"
				" WHERE p.run=%lld AND (o.pid<>p.pid OR o.start_ns<>p.start_ns)",
				number, old);
	/* Its first and its last call: numbers may begin anew in another file. */
	if (!err && !other && !differs)
		err = merge_int(
			m, &call,
			"SELECT count(*) FROM src.call c JOIN main.call o"
			" ON o.id=((%lld << 32) | (c.id & 4294967295))"
			" WHERE c.id IN ((SELECT min(id) FROM src.call), (SELECT max(id) FROM src.call))"
			" AND (o.start_ns<>c.start_ns OR o.op<>c.op) AND EXISTS(SELECT 1 FROM src.thread t"
			" JOIN src.process p ON p.id=t.process WHERE t.id=c.thread AND p.run=%lld)",
			number, old);
	*ret = other || differs || call;
	return err;
}

/* Of a run of a file that was merged before: it was told apart there, and stays so. */
static int find_identity(struct merging *m, int64_t old, struct identity *ret)
{
	sqlite3_stmt *stmt;
	char *sql = m->merged
			    ? sqlite3_mprintf(
				      "SELECT n.new, r.boot_id, r.start_ns, r.local, r.salt"
				      " FROM src.merged_run r JOIN temp.map_node n ON n.old=r.node"
				      " WHERE r.run=%lld",
				      old)
			    : sqlite3_mprintf(
				      "SELECT n.new, r.boot_id, r.start_ns, r.id, 0 FROM src.run r"
				      " JOIN temp.map_node n ON n.old=r.node WHERE r.id=%lld",
				      old);
	int rc = sql ? sqlite3_prepare_v2(m->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return merge_fail(m, "whose run it is");
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *boot = (const char *)sqlite3_column_text(stmt, 1);

		ret->node = sqlite3_column_int64(stmt, 0);
		str_copy(ret->boot_id, sizeof(ret->boot_id), boot ? boot : "");
		ret->start_ns = sqlite3_column_int64(stmt, 2);
		ret->local = sqlite3_column_int64(stmt, 3);
		ret->salt = sqlite3_column_int64(stmt, 4);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW
		       ? 0
		       : fail(-EBADMSG, "%s: run %lld has no node", m->file, (long long)old);
}

/* The last thing that the file says of it. */
static int seen(struct merging *m, int64_t old, int64_t *ret)
{
	return merge_int(
		m, ret,
		"SELECT max(start_ns, coalesce(end_ns, 0), coalesce((SELECT max(at_ns) FROM src.account"
		" WHERE run=r.id), 0)) FROM src.run r WHERE id=%lld",
		old);
}

static int map_run(struct merging *m, int64_t old)
{
	struct identity id = { 0 };
	int64_t number = 0, seen_ns = 0, known_ns = -1, runs = 0;
	enum mode mode = MODE_FRESH;
	bool taken = true;
	int err = find_identity(m, old, &id);

	for (int i = 0; !err && taken && i < SALTS; i++) {
		id.salt += i > 0;
		number = number_of(&id);
		err = is_taken(m, &id, number, old, &taken);
	}
	if (!err && taken)
		err = fail(-EEXIST, "%s: its ids are in use; was it changed by hand?", m->file);
	if (!err)
		err = seen(m, old, &seen_ns);
	if (!err)
		err = merge_int(m, &runs, "SELECT count(*) FROM main.merged_run WHERE number=%lld",
				number);
	if (!err && runs)
		err = merge_int(m, &known_ns,
				"SELECT seen_ns FROM main.merged_run WHERE number=%lld", number);
	if (err)
		return err;
	if (runs)
		mode = seen_ns > known_ns ? MODE_NEWER : MODE_OLDER;
	m->modes[mode] = true;
	m->result.added += mode == MODE_FRESH && !m->is_output;
	m->result.known += mode != MODE_FRESH && !m->is_output;
	err = merge_execf(
		m, "INSERT INTO temp.map_run VALUES(%lld, (%lld << 32) | (%lld & 4294967295), %d)",
		old, number, id.local, mode);
	if (err)
		return err;
	return merge_execf(
		m,
		"INSERT INTO main.merged_run VALUES((%lld << 32) | (%lld & 4294967295), %lld, %lld, %Q, %lld,"
		" %lld, %lld, %lld) ON CONFLICT(run) DO UPDATE SET seen_ns=max(seen_ns, excluded.seen_ns)",
		number, id.local, number, id.node, id.boot_id, id.start_ns, id.local, id.salt,
		seen_ns);
}

static int map_runs(struct merging *m)
{
	sqlite3_stmt *stmt;
	int64_t *run = NULL;
	size_t n = 0;
	int err = 0;

	if (sqlite3_prepare_v2(m->db, "SELECT id FROM src.run ORDER BY id", -1, &stmt, NULL))
		return merge_fail(m, "its runs");
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		run = xrealloc(run, n + 1, sizeof(*run));
		run[n++] = sqlite3_column_int64(stmt, 0);
	}
	if (sqlite3_finalize(stmt) != SQLITE_OK)
		err = merge_fail(m, "its runs");
	for (size_t i = 0; !err && i < n; i++)
		err = map_run(m, run[i]);
	free(run);
	return err;
}

/* ---- everything below ---- */

/* Ids that do not fit into their half could meet those of another run. */
static int check_ids(struct merging *m, const struct table *t)
{
	int64_t bad = 0;
	int err;

	if (m->merged || !input_has(m, t->name))
		return 0;
	err = merge_int(m, &bad, "SELECT count(*) FROM src.\"%w\" WHERE id < 0 OR id > 4294967295",
			t->name);
	return err || !bad
		       ? err
		       : fail(-EBADMSG, "%s: table %s has ids that no trace has", m->file, t->name);
}

/* A table with local ids has those of its run above its own. */
static int map_table(struct merging *m, const struct table *t)
{
	int err = merge_execf(
		m,
		"CREATE TEMP TABLE \"map_%w\"(old INTEGER PRIMARY KEY, new INTEGER, mode INTEGER)",
		t->name);

	if (err || !t->ref[0].column || !input_has(m, t->name))
		return err;
	err = check_ids(m, t);
	if (err || streq(t->name, "call")) /* too many to be noted: see copy.c */
		return err;
	return merge_execf(
		m,
		"INSERT INTO temp.\"map_%w\" SELECT t.id, ((p.new >> 32) << 32) | (t.id & 4294967295), p.mode"
		" FROM src.\"%w\" t JOIN temp.\"map_%w\" p ON p.old=t.\"%w\"",
		t->name, t->name, t->ref[0].table, t->ref[0].column);
}

int runs_number(struct merging *m, int64_t *ret)
{
	struct identity id = { 0 };
	int64_t last = 0;
	int err = merge_exec(m, "DROP TABLE IF EXISTS temp.map_node");

	if (!err)
		err = map_nodes(m);
	if (!err)
		err = merge_int(m, &last, "SELECT max(id) FROM src.run");
	if (!err)
		err = find_identity(m, last, &id);
	*ret = number_of(&id);
	return err;
}

int runs_map(struct merging *m)
{
	int err = merge_exec(m, "DROP TABLE IF EXISTS temp.map_node");

	memset(m->modes, 0, sizeof(m->modes));
	for (const struct table *t = store_tables; !err && t->name; t++)
		if (t->ids == IDS_LOCAL)
			err = merge_execf(m, "DROP TABLE IF EXISTS temp.\"map_%w\"", t->name);
	if (!err)
		err = map_nodes(m);
	for (const struct table *t = store_tables; !err && t->name; t++) {
		if (t->ids == IDS_LOCAL)
			err = map_table(m, t);
		if (!err && streq(t->name, "run"))
			err = map_runs(m);
	}
	return err;
}
