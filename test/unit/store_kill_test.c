// SPDX-License-Identifier: Apache-2.0
/* What store_commit() has acknowledged survives kill -9, and nothing is ever half there. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/fail.h"
#include "test/unit/trace.h"

enum { ROUNDS = 20, BATCH = 500, SEED = 20240611 };

/* The batch's number is in every row; who_count gives each row a child in another table. */
static int write_batch(struct store *s, int64_t thread, uint64_t number)
{
	struct record rec = {
		.op = &op_table[OP_cudaMemcpy],
		.start_ns = number,
		.because = BECAUSE_SLOW,
		.aux = number,
		.who_count = 1,
		.who = { { 4242, 1, 5, "hog" } },
	};
	int err = 0;

	for (int i = 0; !err && i < BATCH; i++)
		err = store_call(s, thread, &rec, NULL);
	return err ? err : store_commit(s);
}

/* Writes batches until it is killed, and says through ack which ones are safe. */
static void victim(uint64_t number, int ack)
{
	int64_t process, thread;
	struct store *s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (store_open(trace_db, STORE_WRITE, &s) || trace_run(s) ||
	    trace_process(s, 1, "victim", &process) ||
	    store_thread(s, process, 1, "victim", 1, &thread))
		_exit(1);
	while (!write_batch(s, thread, number) &&
	       write(ack, &number, sizeof(number)) == sizeof(number))
		number++;
	_exit(1);
}

/* Let it live for us microseconds; *ret is the last batch it acknowledged, or what it was. */
static int live_and_die(uint64_t first, long us, uint64_t *ret)
{
	struct timespec nap = { us / 1000000, us % 1000000 * 1000 };
	int ack[2], status;
	uint64_t number;
	pid_t pid;

	CHECK(!pipe(ack));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		victim(first, ack[1]);
	close(ack[1]);
	nanosleep(&nap, NULL);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	while (read(ack[0], &number, sizeof(number)) == sizeof(number))
		*ret = number;
	close(ack[0]);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return 0;
}

static uint64_t ask_number(struct store *s, const char *sql)
{
	return strtoull(trace_ask(s, sql), NULL, 10);
}

/* Every batch up to the acknowledged one, whole; *ret is the last that is there. */
static int check_trace(uint64_t acked, uint64_t *ret)
{
	struct store *s;
	uint64_t last;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	last = ask_number(s, "SELECT coalesce(max(aux), 0) FROM call");
	CHECK(last >= acked);
	CHECK_U64(ask_number(s, "SELECT count(DISTINCT aux) FROM call"), last);
	CHECK_U64(ask_number(s, "SELECT count(*) FROM (SELECT count(*) AS n FROM call GROUP BY aux)"
				" WHERE n <> 500"),
		  0);
	CHECK_U64(ask_number(s, "SELECT count(*) FROM call_culprit"), last * BATCH);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM call c LEFT JOIN thread t ON t.id=c.thread"
			       " WHERE t.id IS NULL"),
		  "0");
	store_close(s);
	*ret = last;
	return 0;
}

/* One file through all rounds: each life begins with what the last one left behind. */
DIR_TEST(store_keeps_every_acknowledged_batch_through_kill_9)
{
	uint64_t seed = SEED, last = 0, acked = 0;

	for (int round = 0; round < ROUNDS; round++) {
		long us;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		/* A quarter of them die while they open. */
		us = (long)((seed >> 33) % (round % 4 ? 80000 : 3000));
		acked = last;
		if (live_and_die(last + 1, us, &acked) || check_trace(acked, &last)) {
			printf("kill -9: round %d, %ld us, seed %d, %llu acknowledged, %llu before\n",
			       round, us, SEED, (unsigned long long)acked,
			       (unsigned long long)last);
			return 1;
		}
	}
	CHECK(last > 0); /* else nothing was tested */
	return 0;
}
