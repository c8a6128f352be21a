// SPDX-License-Identifier: Apache-2.0
/* One stepper per thread. */
#include "agent/rhythm.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"
#include "step/blind.h"

#define STEPS_MAX 64 /* single steps stored per second and thread; all are in the sums */

struct pulse {
	struct stepper *stepper;
	struct blind blind; /* while launches are seen now and then only */
	bool was_blind;
	struct step_sum sum; /* of the present second */
	int stored;
};

struct rhythm {
	struct hash *pulses; /* serial -> struct pulse */
	struct beat *seen; /* as the stepper is to have them */
	size_t room;
	bool blind;
	/* While storing: */
	const struct roster *roster;
	struct idling *idling;
	struct store *store;
	struct pulse *pulse;
	int64_t thread;
	uint64_t now;
	int err;
};

struct rhythm *rhythm_new(void)
{
	struct rhythm *r = xcalloc(1, sizeof(*r));

	r->pulses = hash_new(sizeof(uint32_t), sizeof(struct pulse));
	return r;
}

static bool drop_pulse(const void *key, void *value, void *arg)
{
	struct pulse *pulse = value;

	(void)key;
	(void)arg;
	stepper_free(pulse->stepper);
	return true;
}

void rhythm_free(struct rhythm *r)
{
	if (!r)
		return;
	hash_each(r->pulses, drop_pulse, NULL);
	hash_free(r->pulses);
	free(r->seen);
	free(r);
}

void rhythm_exit(struct rhythm *r, uint32_t serial)
{
	struct pulse *pulse = hash_get(r->pulses, &serial);

	if (!pulse)
		return;
	stepper_free(pulse->stepper);
	hash_drop(r->pulses, &serial);
}

static void note(struct rhythm *r, int err)
{
	if (err && !r->err)
		r->err = err;
}

static void on_step(const struct step *step, void *arg)
{
	struct rhythm *r = arg;
	struct step_sum *sum = &r->pulse->sum;
	uint64_t median = 0;
	uint32_t beats;

	sum->steps++;
	sum->max_ns = max_u64(sum->max_ns, step->dur_ns);
	sum->sum.dur_ns += step->dur_ns;
	sum->sum.host_ns += step->host_ns;
	sum->sum.data_ns += step->data_ns;
	sum->sum.copy_ns += step->copy_ns;
	sum->sum.sync_ns += step->sync_ns;
	sum->sum.coll_ns += step->coll_ns;
	sum->sum.other_ns += step->other_ns;
	sum->sum.idle_ns += step->idle_ns;
	sum->hist[hist_bucket(step->dur_ns)]++;
	(void)stepper_period(r->pulse->stepper, &beats, &median);
	/* The first of a second is the sample; the slow ones are what people look for. */
	if (r->pulse->stored < STEPS_MAX && (sum->steps == 1 || step->dur_ns * 2 > median * 3)) {
		note(r, store_step(r->store, r->thread, step));
		r->pulse->stored++;
	}
}

/* With launches seen now and then, the rhythm is that of the other calls. */
static void add_blind(struct rhythm *r, struct pulse *pulse, const struct beat *beats, size_t n)
{
	size_t room = 2 * n + 1;

	if (r->room < room) {
		r->seen = xrealloc(r->seen, room, sizeof(*r->seen));
		r->room = room;
	}
	n = blind_beats(&pulse->blind, beats, n, r->seen);
	stepper_add(pulse->stepper, r->seen, n, on_step, r);
}

static void on_beats(uint32_t serial, const struct beat *beats, size_t n, bool broken, void *arg)
{
	struct rhythm *r = arg;
	const struct person *p = roster_find(r->roster, serial);
	struct pulse *pulse;

	if (!p)
		return;
	if (r->blind)
		idling_blind(r->idling, p, beats[n].end_ns);
	else
		idling_beats(r->idling, p, serial, beats, n, broken);
	pulse = hash_put(r->pulses, &serial);
	if (!pulse->stepper)
		pulse->stepper = stepper_new();
	if (broken || pulse->was_blind != r->blind) {
		stepper_break(pulse->stepper);
		pulse->blind = (struct blind){ 0 };
	}
	pulse->was_blind = r->blind;
	stepper_blind(pulse->stepper, r->blind);
	r->pulse = pulse;
	r->thread = p->thread;
	if (r->blind)
		add_blind(r, pulse, beats, n);
	else
		stepper_add(pulse->stepper, beats, n, on_step, r);
}

int rhythm_read(struct rhythm *r, struct capture *capture, const struct roster *roster,
		struct idling *idling, struct store *store)
{
	r->idling = idling;
	r->roster = roster;
	r->store = store;
	r->err = 0;
	r->blind = capture_blind(capture);
	capture_each_tape(capture, on_beats, r);
	return r->err;
}

static bool store_pulse(const void *key, void *value, void *arg)
{
	struct rhythm *r = arg;
	struct pulse *pulse = value;
	const struct person *p = roster_find(r->roster, *(const uint32_t *)key);

	if (p && pulse->sum.steps)
		note(r, store_step_second(r->store, p->thread, r->now, &pulse->sum));
	pulse->sum = (struct step_sum){ 0 };
	pulse->stored = 0;
	return false;
}

int rhythm_store(struct rhythm *r, const struct roster *roster, struct store *store, uint64_t now)
{
	r->roster = roster;
	r->store = store;
	r->now = now;
	r->err = 0;
	hash_each(r->pulses, store_pulse, r);
	return r->err;
}
