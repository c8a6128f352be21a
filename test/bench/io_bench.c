// SPDX-License-Identifier: Apache-2.0
/*
 * Storage lineage as `culprit io --summary` has it, attached and detached in turn while something else works:
 * starting the command takes a second, in which the speed of a machine may change by a third. Two pieces are a
 * pair, in any order, so that no rhythm of the work falls together with ours. What the command does besides, which
 * is to read a ring 20 times a second, is not in it.
 *
 * Says "ready" and stays attached until a line comes: whose first write was not seen while it was the only one is
 * one of several writers for long, which is another case. Then, until it is killed, for each piece:
 *
 *   PAIR with|without FROM TO        ms since 1970
 *
 *   io_bench [MS of a piece]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lineage/lineage.h"

#define PIECE_MS 30 /* the speed of a machine changes every tenth of a second, or two */
#define SETTLE_MS 5 /* after the code of the kernel was changed */

static void die(int err)
{
	fprintf(stderr, "bench: %s\n", why(err));
	exit(1);
}

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void piece(struct lineage *l, unsigned pair, bool with, long ms)
{
	uint64_t from;
	int err = with ? lineage_attach(l) : 0;

	if (err)
		die(err);
	nap(SETTLE_MS);
	from = clock_wall_ns();
	nap(ms);
	printf("%u %s %llu %llu\n", pair, with ? "with" : "without",
	       (unsigned long long)from / 1000000, (unsigned long long)clock_wall_ns() / 1000000);
	fflush(stdout);
	if (with)
		lineage_detach(l);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : PIECE_MS;
	struct lineage_opts opts = { 0 };
	struct lineage_fns fns = { 0 };
	struct lineage *l;
	int err = lineage_open(&opts, &l);

	if (err)
		die(err);
	puts("ready");
	fflush(stdout);
	getchar();
	lineage_detach(l);
	srandom((unsigned)clock_wall_ns());
	for (unsigned pair = 0;; pair++) {
		bool first = random() >> 8 & 1;

		piece(l, pair, first, ms);
		piece(l, pair, !first, ms);
		lineage_read(l, &fns);
	}
}
