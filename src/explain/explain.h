/* SPDX-License-Identifier: Apache-2.0 */
/* Facts in, findings out. Rules are pure: no I/O, no clock. Text and JSON print the same findings. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/store.h"

#define CULPRITS_MAX 8
#define FIXES_MAX 4
#define EVIDENCE_MAX 6
#define EFFECTS_MAX 2

enum severity { SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };

/* How sure: arithmetic on complete records, one record, or a rule with a stated assumption. */
enum evidence { EVIDENCE_PROVEN, EVIDENCE_OBSERVED, EVIDENCE_INFERRED };

struct culprit {
	uint32_t pid; /* 0: nobody, the CPU was idle */
	char comm[COMM_LEN];
	uint64_t ns;
	double share; /* of the time lost */
	uint64_t cpus; /* bit per CPU where it happened; CPUs above 63 are not shown */
};

/* How an op changed between the time outside the finding and inside it. */
struct effect {
	char op[64];
	uint64_t p50_before, p99_before, p50_during, p99_during;
};

struct finding {
	const char *cause; /* an id of causes[] */
	enum severity severity;
	enum evidence evidence;
	char title[160];
	uint64_t lost_ns; /* on the thread that waited longest */
	uint64_t affected_ns; /* that thread's time in the intervals where it happened */
	double lost_pct; /* lost / affected */
	double gain_low_pct, gain_high_pct; /* of the affected time */
	uint64_t count; /* slow calls and gaps that carry it */
	uint64_t first_ns, last_ns;
	int64_t thread;
	uint32_t pid, tid;
	char node[65], comm[COMM_LEN], thread_comm[COMM_LEN], cmdline[256], op[64];
	struct culprit culprit[CULPRITS_MAX];
	int culprits;
	int64_t id[EVIDENCE_MAX]; /* rows of `call` */
	int ids;
	struct effect effect[EFFECTS_MAX];
	int effects;
	double rate_before, rate_during; /* calls per second of the thread; 0: not known */
	char fix[FIXES_MAX][384]; /* a command in it is never cut */
	int fixes;
	char basis[160]; /* what the evidence class rests on */
};

/* Where the time of a process went: its busiest calling thread. */
struct summary {
	uint32_t pid, tid;
	char comm[COMM_LEN], cmdline[256];
	uint64_t total_ns; /* of that thread, while traced */
	uint64_t state_ns[STATE_COUNT];
	uint64_t sync_ns; /* of these: on CPU or blocked inside a synchronising call */
	uint64_t launches, calls;
	int threads;
};

struct explanation {
	struct run_info run;
	struct window window;
	struct finding *finding;
	int findings;
	struct summary *summary;
	int summaries;
	struct account_row account;
	struct {
		char reason[32];
		uint64_t count;
	} loss[LOSS_COUNT];
	int losses;
};

/* Read the window, judge, rank by time lost. Free with explain_free(). -ENODATA: nothing there. */
int explain(struct store *s, struct window w, struct explanation *ret);
void explain_free(struct explanation *e);

/* The closed list of causes this version can find. */
struct cause {
	const char *id, *title;
};
extern const struct cause causes[];

void explain_text(const struct explanation *e, FILE *out);
void explain_json(struct store *s, const struct explanation *e, FILE *out);

#endif
