/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules look at: the time of every calling thread, second by second, and who is to blame. */
#ifndef EXPLAIN_FACTS_H
#define EXPLAIN_FACTS_H

#include "explain/explain.h"

struct second_blame {
	uint32_t pid, cpu;
	char comm[COMM_LEN];
	uint64_t ns;
};

/* One interval between two looks of the agent, about a second. */
struct second {
	uint64_t at_ns; /* its end */
	uint64_t state_ns[STATE_COUNT];
	uint64_t sync_wait_ns; /* on CPU or blocked inside synchronising calls: waits for the GPU */
	uint64_t
		sync_runnable_ns; /* waiting for a CPU inside such calls: the GPU may be busy anyway */
	uint64_t launches, calls;
	struct second_blame *blame;
	int blames;
};

struct thread_facts {
	int64_t id, process;
	uint32_t pid, tid;
	char node[65], process_comm[COMM_LEN], comm[COMM_LEN], cmdline[256];
	struct second *second;
	int seconds;
};

struct facts {
	struct window window;
	int cpus;
	struct thread_facts *thread;
	int threads;
};

int facts_load(struct store *s, struct window w, struct facts *ret);
void facts_release(struct facts *f);

/* All time of an interval. */
static inline uint64_t second_total(const struct second *s)
{
	uint64_t sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += s->state_ns[i];
	return sum;
}

/*
 * One rule, one file. Judges the threads [first, first + n) of one process; true: ret is filled.
 * The caller adds where it was, the evidence rows and the effects.
 */
typedef bool (*rule_fn)(const struct facts *f, const struct thread_facts *first, int n,
			struct finding *ret);

bool rule_cpu_contention(const struct facts *f, const struct thread_facts *first, int n,
			 struct finding *ret);
bool rule_cpu_contention_own(const struct facts *f, const struct thread_facts *first, int n,
			     struct finding *ret);
bool rule_cpu_quota(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret);

/* Shared by rules: severity from shares, a fix line, percent. */
enum severity severity_of(const struct facts *f, const struct finding *found);
void add_fix(struct finding *found, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double percent(uint64_t part, uint64_t whole);

#endif
