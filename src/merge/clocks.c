// SPDX-License-Identifier: Apache-2.0
/*
 * How far the clocks of the nodes are apart, by their collectives: no rank's wait ends before the last
 * rank has come. So of two nodes a and b, in every collective of both, end(a) >= start(b) and end(b) >=
 * start(a), which bounds the difference from both sides; and the waits end together, which says where
 * between the bounds it is.
 */
#include <errno.h>

#include "base/fail.h"
#include "merge/merge_int.h"

#define MEETINGS_MIN 3

/* What all collectives of two nodes say. */
static const char meet[] =
	"CREATE TEMP TABLE meet AS SELECT c.hash AS hash, x.seq AS seq, r.node AS node,"
	" max(x.start_ns) AS start, min(x.sync_end_ns) AS end FROM main.collective x"
	" JOIN main.communicator c ON c.id=x.communicator JOIN main.process p ON p.id=c.process"
	" JOIN main.run r ON r.id=p.run JOIN main.op ON op.id=x.op"
	" WHERE c.hash IS NOT NULL AND x.last AND x.joined IN ('stream', 'device')"
	" AND op.class='collective' GROUP BY 1, 2, 3;"
	"CREATE INDEX temp.meet_by ON meet(hash, seq);"
	"CREATE TEMP TABLE pair AS SELECT a.node AS a, b.node AS b, count(*) AS n,"
	" max(a.start - b.end) AS low, min(a.end - b.start) AS high"
	" FROM meet a JOIN meet b USING(hash, seq) WHERE a.node<>b.node GROUP BY 1, 2;"
	"CREATE TEMP TABLE found(node INTEGER PRIMARY KEY, ns INTEGER, low INTEGER, high INTEGER,"
	" n INTEGER, reference INTEGER);"
	/* Whose clock is taken: of the one that met most; of equal ones, by name. */
	"INSERT INTO found SELECT id, 0, 0, 0, 0, id FROM main.node WHERE id=(SELECT n.id FROM main.node n"
	" LEFT JOIN pair ON pair.a=n.id WHERE n.id IN (SELECT node FROM main.run)"
	" GROUP BY n.id ORDER BY total(pair.n) DESC, n.name LIMIT 1)";

/* The middle of where their waits ended, within the bounds. */
static int difference(struct merging *m, int64_t a, int64_t b, int64_t *ret)
{
	int64_t low = 0, high = 0, n = 0;
	int err = merge_int(m, &n, "SELECT n FROM temp.pair WHERE a=%lld AND b=%lld", a, b);

	if (!err)
		err = merge_int(
			m, ret,
			"SELECT a.end - b.end FROM temp.meet a JOIN temp.meet b USING(hash, seq)"
			" WHERE a.node=%lld AND b.node=%lld ORDER BY 1 LIMIT 1 OFFSET %lld",
			a, b, n / 2);
	if (!err)
		err = merge_int(m, &low, "SELECT low FROM temp.pair WHERE a=%lld AND b=%lld", a, b);
	if (!err)
		err = merge_int(m, &high, "SELECT high FROM temp.pair WHERE a=%lld AND b=%lld", a,
				b);
	if (!err &&
	    low <= high) /* else a clock was set on the way: the middle is as good as anything */
		*ret = *ret < low ? low : *ret > high ? high : *ret;
	return err;
}

/* The next node that met one whose clock is known. */
static int next(struct merging *m, bool *ret_done)
{
	int64_t a = 0, b = 0, known = 0, ns = 0;
	const char *best =
		"SELECT pair.%s FROM temp.pair JOIN temp.found f ON f.node=pair.a WHERE pair.n >= %d"
		" AND pair.b NOT IN (SELECT node FROM temp.found) ORDER BY pair.n DESC, pair.a, pair.b"
		" LIMIT 1";
	char *sql_a = sqlite3_mprintf(best, "a", MEETINGS_MIN),
	     *sql_b = sqlite3_mprintf(best, "b", MEETINGS_MIN);
	int err = sql_a && sql_b ? merge_int(m, &a, "%s", sql_a) : fail(-ENOMEM, "no memory");

	if (!err)
		err = merge_int(m, &b, "%s", sql_b);
	sqlite3_free(sql_a);
	sqlite3_free(sql_b);
	*ret_done = !err && !b;
	if (err || !b)
		return err;
	err = merge_int(m, &known, "SELECT ns FROM temp.found WHERE node=%lld", a);
	if (!err)
		err = difference(m, a, b, &ns);
	return err ? err
		   : merge_execf(
			     m,
			     "INSERT INTO temp.found SELECT b, %lld, low + %lld, high + %lld, n, a FROM temp.pair"
			     " WHERE a=%lld AND b=%lld",
			     known + ns, known, known, a, b);
}

int clocks_compare(struct merging *m)
{
	bool done = false;
	int err = merge_exec(m, meet);

	while (!err && !done)
		err = next(m, &done);
	if (!err)
		err = merge_exec(m, "BEGIN; DELETE FROM main.node_clock;"
				    "INSERT INTO main.node_clock SELECT n.id, coalesce(f.ns, 0),"
				    " CASE WHEN f.n > 0 AND f.low <= f.high THEN f.low END,"
				    " CASE WHEN f.n > 0 AND f.low <= f.high THEN f.high END,"
				    " coalesce(f.n, 0), coalesce(f.reference, n.id)"
				    " FROM main.node n LEFT JOIN temp.found f ON f.node=n.id"
				    " WHERE n.id IN (SELECT node FROM main.run); COMMIT");
	return err;
}
