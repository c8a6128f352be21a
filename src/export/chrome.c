// SPDX-License-Identifier: Apache-2.0
/*
 * Chrome's form: JSON that many viewers read. It knows processes and threads alone, so every other
 * track is a thread with a made-up number. Times are microseconds since the beginning.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "export/sink.h"

#define MADE_UP_TID                                                                                \
	100000000u /* above every pid that Linux gives, so that nobody takes it for one */

struct place {
	uint32_t pid, tid;
	char *counter; /* name of a counter; else NULL */
};

struct sink_chrome {
	struct json json;
	struct place *place; /* by track id */
	uint64_t places;
	uint64_t zero_ns; /* when time is 0 */
	uint32_t made_up;
};

static const struct place *place_of(const struct sink_chrome *c, uint64_t track)
{
	static const struct place nowhere;

	return track && track <= c->places ? &c->place[track - 1] : &nowhere;
}

static void begin_event(struct sink *s, const char *phase, const struct place *at)
{
	struct json *j = &s->chrome->json;

	putc_unlocked('\n', s->out);
	json_open(j, NULL, '{');
	json_str(j, "ph", phase);
	json_u64(j, "pid", at->pid);
	json_u64(j, "tid", at->tid);
}

/* Nanoseconds as microseconds: "1234.567". */
static void put_us(struct sink *s, const char *key, uint64_t ns)
{
	fprintf(s->out, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000),
		(unsigned int)(ns % 1000));
}

static void put_time(struct sink *s, uint64_t at_ns)
{
	uint64_t from = s->chrome->zero_ns;

	at_ns = max_u64(at_ns, s->base_ns) + (uint64_t)s->shift_ns;
	put_us(s, "ts", at_ns > from ? at_ns - from : 0);
}

static void put_meta(struct sink *s, const struct place *at, const char *what, const char *name)
{
	struct json *j = &s->chrome->json;

	begin_event(s, "M", at);
	json_str(j, "name", what);
	json_open(j, "args", '{');
	json_str(j, "name", name);
	json_close(j, '}');
	json_close(j, '}');
}

static void add_place(struct sink_chrome *c, const struct track *t, const char *name)
{
	const struct place *parent = place_of(c, t->parent);
	struct place at = { .pid = t->pid, .tid = t->tid };

	if (t->kind == TRACK_GROUP)
		at = (struct place){ .pid = MADE_UP_TID + ++c->made_up };
	if (t->kind == TRACK_SLICES)
		at = (struct place){ .pid = parent->pid, .tid = MADE_UP_TID + ++c->made_up };
	if (t->kind == TRACK_COUNTER)
		at = (struct place){ .pid = parent->pid, .counter = xstrdup(name) };
	c->place = xrealloc(c->place, c->places + 1, sizeof(*c->place));
	c->place[c->places++] = at;
}

static void on_track(struct sink *s, const struct track *t)
{
	struct sink_chrome *c = s->chrome;
	uint32_t tid = place_of(c, t->parent)->tid;
	char name[MARK_TEXT];

	/* There are no tracks below threads: the name tells whose they are. */
	if ((t->kind == TRACK_COUNTER || t->kind == TRACK_SLICES) && tid)
		snprintf(name, sizeof(name), "%s, thread %u", t->name, tid);
	else
		str_copy(name, sizeof(name), t->name);
	add_place(c, t, name);
	if (t->kind == TRACK_PROCESS || t->kind == TRACK_GROUP)
		put_meta(s, &c->place[c->places - 1], "process_name", name);
	else if (t->kind != TRACK_COUNTER)
		put_meta(s, &c->place[c->places - 1], "thread_name", name);
}

static void put_args(struct json *j, const struct mark *m)
{
	char hex[24];

	json_open(j, "args", '{');
	for (int i = 0; i < m->args; i++) {
		const struct arg *a = &m->arg[i];

		switch (a->kind) {
		case ARG_U64:
			json_u64(j, a->name, a->u64);
			break;
		case ARG_I64:
			json_i64(j, a->name, a->i64);
			break;
		case ARG_HEX:
			snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)a->u64);
			json_str(j, a->name, hex);
			break;
		case ARG_F64:
			json_f64(j, a->name, a->f64);
			break;
		case ARG_STR:
			json_str(j, a->name, a->str);
			break;
		}
	}
	json_close(j, '}');
}

static void put_flows(struct sink *s, const struct mark *m, const char *phase, const uint64_t *flow,
		      int n)
{
	struct json *j = &s->chrome->json;

	for (int i = 0; i < n; i++) {
		begin_event(s, phase, place_of(s->chrome, m->track));
		json_str(j, "name", "cause");
		json_str(j, "cat", "flow");
		json_u64(j, "id", flow[i]);
		if (streq(phase, "f"))
			json_str(j, "bp", "e");
		put_time(s, m->from_ns);
		json_close(j, '}');
	}
}

static void on_mark(struct sink *s, const struct mark *m)
{
	static const char *const colour[] = { NULL, "olive", "bad", "terrible" };
	struct json *j = &s->chrome->json;
	bool point = !m->open && m->to_ns == m->from_ns;

	begin_event(s, m->open ? "B" : point ? "i" : "X", place_of(s->chrome, m->track));
	json_str(j, "name", m->name);
	json_str(j, "cat", m->category);
	put_time(s, m->from_ns);
	if (point)
		json_str(j, "s", "t");
	else if (!m->open)
		put_us(s, "dur", m->to_ns - m->from_ns);
	if (m->shade)
		json_str(j, "cname", colour[m->shade]);
	if (m->args)
		put_args(j, m);
	json_close(j, '}');
	put_flows(s, m, "f", m->cause, m->causes);
	put_flows(s, m, "s", m->effect, m->effects);
}

static void on_close(struct sink *s, uint64_t track, uint64_t at_ns)
{
	begin_event(s, "E", place_of(s->chrome, track));
	put_time(s, at_ns);
	json_close(&s->chrome->json, '}');
}

static void on_value(struct sink *s, uint64_t track, uint64_t at_ns, double value)
{
	const struct place *at = place_of(s->chrome, track);
	struct json *j = &s->chrome->json;

	begin_event(s, "C", at);
	json_str(j, "name", at->counter ? at->counter : "");
	put_time(s, at_ns);
	json_open(j, "args", '{');
	if (fabs(value) < 9e15 && value == trunc(value))
		json_i64(j, "value", (int64_t)value);
	else
		json_f64(j, "value", value);
	json_close(j, '}');
	json_close(j, '}');
}

static void on_sequence(struct sink *s)
{
	(void)s; /* in JSON every event has its whole time */
}

static void on_finish(struct sink *s)
{
	json_close(&s->chrome->json, ']');
	json_close(&s->chrome->json, '}');
	putc('\n', s->out);
}

static void on_free(struct sink *s)
{
	for (uint64_t i = 0; i < s->chrome->places; i++)
		free(s->chrome->place[i].counter);
	free(s->chrome->place);
	free(s->chrome);
}

void chrome_sink(struct sink *s, FILE *out, uint64_t base_ns, uint64_t zero_ns)
{
	static const struct sink_ops ops = {
		.track = on_track,
		.sequence = on_sequence,
		.mark = on_mark,
		.close = on_close,
		.value = on_value,
		.finish = on_finish,
		.free = on_free,
	};
	struct json *j;

	*s = (struct sink){ .ops = &ops, .out = out, .base_ns = base_ns };
	s->chrome = xcalloc(1, sizeof(*s->chrome));
	s->chrome->zero_ns = zero_ns;
	j = &s->chrome->json;
	*j = JSON_TO(out);
	json_open(j, NULL, '{');
	json_str(j, "displayTimeUnit", "ns");
	json_open(j, "otherData", '{');
	json_str(j, "exporter", "culprit " VERSION);
	json_u64(j, "start_unix_ns", zero_ns);
	json_close(j, '}');
	json_open(j, "traceEvents", '[');
}
