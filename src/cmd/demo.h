/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's scenarios, and the stage on which one is played. */
#ifndef CMD_DEMO_H
#define CMD_DEMO_H

#include <stdbool.h>
#include <sys/types.h>

#define INTRUDERS_MAX 3
#define WORDS_MAX 8

/*
 * A fault, made for real: what the training loop is told to do, and who comes in its way meanwhile.
 * calm_s seconds before and after, fault_s of it; calm_s is 0 where the fault is in the beginning.
 */
struct scenario {
	const char *name, *summary, *story;
	const char *cause; /* what explain is to find */
	const char *recording; /* SQL text, embedded */
	unsigned calm_s, fault_s;
	const char *train[WORDS_MAX]; /* further words for the training loop; NULL ends them */
	const char *knob[WORDS_MAX]; /* of the simulated GPU: name, value, ...; NULL ends them */
	const char *intruder[INTRUDERS_MAX]; /* processes that spin on the training loop's CPU */
	unsigned spin_ms, rest_ms; /* by turns; 0: without a rest */
	const char *tenant; /* another process that uses the same GPU */
};

extern const struct scenario scenarios[]; /* ends with a NULL name */

const struct scenario *scenario_find(const char *name);

/* A folder with the training loops and the simulated GPU, and the processes of the play. */
struct stage {
	char dir[64];
	bool gpu; /* a real one */
	int cpu;
	pid_t train, tenant;
	int gate; /* closed: the training loop begins */
	pid_t intruder[INTRUDERS_MAX];
};

/* Errors are told with fail(). */
int stage_set(struct stage *st);
void stage_clear(struct stage *st); /* ends all its processes, too */

int stage_train(struct stage *st, const struct scenario *sc); /* it waits for stage_begin() */
void stage_begin(struct stage *st);
int stage_intrude(struct stage *st, const struct scenario *sc);
void stage_leave(struct stage *st); /* intruders and the tenant */

/* 0: the training loop is alive. */
int stage_alive(struct stage *st);

#endif
