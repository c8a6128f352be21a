// SPDX-License-Identifier: Apache-2.0
/*
 * Perfetto's form: packets of protocol buffers. Names are told once in a sequence and then by number,
 * times are differences. The fields used here are listed in test/timeline/trace.proto.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "export/proto.h"
#include "export/sink.h"

enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK = 58, /* of the defaults, too */
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,

	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,

	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_DESC_PROCESS = 3,
	TRACK_DESC_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_DESC_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6,

	EVENT_CATEGORY_IID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48,
	EVENT_CORRELATION = 52,

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	ARG_NAME_IID = 1,
	ARG_UINT = 3,
	ARG_INT = 4,
	ARG_DOUBLE = 5,
	ARG_STRING = 6,
	ARG_POINTER = 7,
	ARG_NAME = 10,
	ARG_STRING_IID = 17,

	INTERN_CATEGORY = 1,
	INTERN_NAME = 2,
	INTERN_ARG_NAME = 3,
	INTERN_ARG_STRING = 29,
	ENTRY_IID = 1,
	ENTRY_TEXT = 2,

	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_OWN = 64, /* the first that belongs to a sequence */
};

#define PACKET_CAP 65536
#define INTERNED_MAX 65536 /* names of a sequence; more are written out */

struct pending {
	uint64_t at_ns, track;
};

struct sink_perfetto {
	uint32_t sequence; /* of the last packet; 0: none yet */
	bool begun; /* it has its first packet */
	uint64_t last_ns;
	struct pending *heap; /* ends of slices to come, the next one first */
	size_t ends, cap;
	struct hash *interned; /* hash of the text and its kind -> number */
	uint64_t numbers;
	struct proto event, fresh; /* of the packet that is being made; fresh: what it interns */
	uint8_t event_bytes[PACKET_CAP / 2], fresh_bytes[PACKET_CAP / 2], bytes[PACKET_CAP + 64];
};

/* ---- packets ---- */

static void write_packet(struct sink *s, const struct proto *p)
{
	uint8_t head[16];
	struct proto h;

	assert(!p->full); /* texts and their number are bounded: see sink.h */
	proto_init(&h, head, sizeof(head));
	proto_bytes(&h, TRACE_PACKET, NULL, 0); /* tag and length; the length is put right: */
	h.at--;
	for (size_t len = proto_len(p);; len >>= 7) {
		*h.at++ = (uint8_t)(len >= 0x80 ? len | 0x80 : len);
		if (len < 0x80)
			break;
	}
	(void)fwrite_unlocked(head, 1, proto_len(&h), s->out); /* ferror() tells at the end */
	(void)fwrite_unlocked(p->start, 1, proto_len(p), s->out);
}

static void begin_sequence(struct sink *s);

static void begin_event(struct sink *s)
{
	struct sink_perfetto *p = s->perfetto;

	if (!p->begun)
		begin_sequence(s);
	proto_init(&p->event, p->event_bytes, sizeof(p->event_bytes));
	proto_init(&p->fresh, p->fresh_bytes, sizeof(p->fresh_bytes));
}

static void end_event(struct sink *s, uint64_t at_ns)
{
	struct sink_perfetto *p = s->perfetto;
	struct proto packet;

	at_ns = max_u64(at_ns, p->last_ns);
	proto_init(&packet, p->bytes, sizeof(p->bytes));
	proto_u64(&packet, PACKET_TIMESTAMP, at_ns - p->last_ns);
	proto_u64(&packet, PACKET_SEQUENCE, p->sequence);
	proto_u64(&packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	if (proto_len(&p->fresh))
		proto_bytes(&packet, PACKET_INTERNED, p->fresh.start, proto_len(&p->fresh));
	proto_bytes(&packet, PACKET_TRACK_EVENT, p->event.start, proto_len(&p->event));
	packet.full |= p->event.full || p->fresh.full;
	write_packet(s, &packet);
	p->last_ns = at_ns;
}

static void put_clock(struct proto *p, uint64_t id, uint64_t ns, bool incremental)
{
	size_t clock = proto_open(p, SNAPSHOT_CLOCK);

	proto_u64(p, CLOCK_ID, id);
	proto_u64(p, CLOCK_TIMESTAMP, ns);
	if (incremental)
		proto_u64(p, CLOCK_INCREMENTAL, 1);
	proto_close(p, clock);
}

/*
 * The trace's own clock is called boot time by default: here it is the wall clock, as we store it. A
 * node whose clock is behind begins later.
 */
static void begin_sequence(struct sink *s)
{
	struct sink_perfetto *p = s->perfetto;
	struct proto packet;
	size_t part;

	proto_init(&packet, p->bytes, sizeof(p->bytes));
	proto_u64(&packet, PACKET_SEQUENCE, ++p->sequence);
	proto_u64(&packet, PACKET_FLAGS, FLAG_CLEARED);
	part = proto_open(&packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(&packet, CLOCK_BOOTTIME_ID, s->base_ns + (uint64_t)s->shift_ns, false);
	put_clock(&packet, CLOCK_REALTIME_ID, s->base_ns + (uint64_t)s->shift_ns, false);
	put_clock(&packet, CLOCK_OWN, 0, true);
	proto_close(&packet, part);
	part = proto_open(&packet, PACKET_DEFAULTS);
	proto_u64(&packet, PACKET_TIMESTAMP_CLOCK, CLOCK_OWN);
	proto_close(&packet, part);
	write_packet(s, &packet);
	hash_free(p->interned);
	p->interned = hash_new(sizeof(uint64_t), sizeof(uint64_t));
	p->numbers = 0;
	p->last_ns = s->base_ns;
	p->begun = true;
}

/* ---- names ---- */

static uint64_t text_hash(unsigned int kind, const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ kind;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash ^ hash >> 29;
}

/* The field `by_number` of p says what text is; where there is no number left, `by_text`. */
static void put_name(struct sink_perfetto *s, struct proto *p, unsigned int kind,
		     unsigned int by_number, unsigned int by_text, const char *text)
{
	uint64_t hash = text_hash(kind, text), *number = hash_get(s->interned, &hash);
	char safe[MARK_TEXT];
	size_t entry;

	if (number) {
		proto_u64(p, by_number, *number);
		return;
	}
	text_safe(safe, sizeof(safe), text);
	if (s->numbers == INTERNED_MAX) {
		proto_str(p, by_text, safe);
		return;
	}
	*(uint64_t *)hash_put(s->interned, &hash) = ++s->numbers;
	entry = proto_open(&s->fresh, kind);
	proto_u64(&s->fresh, ENTRY_IID, s->numbers);
	proto_str(&s->fresh, ENTRY_TEXT, safe);
	proto_close(&s->fresh, entry);
	proto_u64(p, by_number, s->numbers);
}

/* ---- ends to come: a heap ---- */

static void swap_ends(struct pending *a, struct pending *b)
{
	struct pending was = *a;

	*a = *b;
	*b = was;
}

static void push_end(struct sink_perfetto *p, uint64_t at_ns, uint64_t track)
{
	size_t i = p->ends++;

	if (p->ends > p->cap) {
		p->cap = p->cap ? p->cap * 2 : 64;
		p->heap = xrealloc(p->heap, p->cap, sizeof(*p->heap));
	}
	p->heap[i] = (struct pending){ at_ns, track };
	for (; i && p->heap[i].at_ns < p->heap[(i - 1) / 2].at_ns; i = (i - 1) / 2)
		swap_ends(&p->heap[i], &p->heap[(i - 1) / 2]);
}

static struct pending pop_end(struct sink_perfetto *p)
{
	struct pending first = p->heap[0];
	size_t i = 0, least;

	p->heap[0] = p->heap[--p->ends];
	for (;; i = least) {
		least = i;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < p->ends; child++)
			if (p->heap[child].at_ns < p->heap[least].at_ns)
				least = child;
		if (least == i)
			return first;
		swap_ends(&p->heap[i], &p->heap[least]);
	}
}

static void put_end(struct sink *s, uint64_t track, uint64_t at_ns)
{
	struct sink_perfetto *p = s->perfetto;

	begin_event(s);
	proto_u64(&p->event, EVENT_TYPE, TYPE_END);
	proto_u64(&p->event, EVENT_TRACK, track);
	end_event(s, at_ns);
}

static void end_until(struct sink *s, uint64_t at_ns)
{
	struct sink_perfetto *p = s->perfetto;

	while (p->ends && p->heap[0].at_ns <= at_ns) {
		struct pending end = pop_end(p);

		put_end(s, end.track, end.at_ns);
	}
}

/* ---- what a sink does ---- */

static void on_sequence(struct sink *s)
{
	end_until(s, UINT64_MAX);
	s->perfetto->begun = false; /* one without events is not written at all */
}

static void put_process(struct proto *p, const struct track *t, const char *name)
{
	size_t part = proto_open(p, TRACK_DESC_PROCESS);
	char safe[MARK_TEXT];

	proto_u64(p, PROCESS_PID, t->pid);
	if (t->cmdline)
		proto_str(p, PROCESS_CMDLINE, text_safe(safe, sizeof(safe), t->cmdline));
	proto_str(p, PROCESS_NAME, name);
	proto_close(p, part);
}

static void put_thread(struct proto *p, const struct track *t, const char *name)
{
	size_t part = proto_open(p, TRACK_DESC_THREAD);

	proto_u64(p, THREAD_PID, t->pid);
	proto_u64(p, THREAD_TID, t->tid);
	proto_str(p, THREAD_NAME, name);
	proto_close(p, part);
}

static void on_track(struct sink *s, const struct track *t)
{
	struct sink_perfetto *p = s->perfetto;
	char name[MARK_TEXT], unit[64];
	struct proto packet;
	size_t desc, part;

	if (!p->begun)
		begin_sequence(s);
	text_safe(name, sizeof(name), t->name);
	proto_init(&packet, p->bytes, sizeof(p->bytes));
	proto_u64(&packet, PACKET_SEQUENCE, p->sequence);
	desc = proto_open(&packet, PACKET_TRACK);
	proto_u64(&packet, TRACK_UUID, t->id);
	proto_str(&packet, TRACK_NAME, name);
	if (t->parent)
		proto_u64(&packet, TRACK_PARENT, t->parent);
	if (t->kind == TRACK_PROCESS)
		put_process(&packet, t, name);
	if (t->kind == TRACK_THREAD)
		put_thread(&packet, t, name);
	if (t->kind == TRACK_COUNTER) {
		part = proto_open(&packet, TRACK_DESC_COUNTER);
		proto_str(&packet, COUNTER_UNIT_NAME, text_safe(unit, sizeof(unit), t->unit));
		proto_close(&packet, part);
	}
	proto_close(&packet, desc);
	write_packet(s, &packet);
}

static void put_arg(struct sink_perfetto *p, const struct arg *a)
{
	size_t part = proto_open(&p->event, EVENT_ANNOTATION);

	put_name(p, &p->event, INTERN_ARG_NAME, ARG_NAME_IID, ARG_NAME, a->name);
	switch (a->kind) {
	case ARG_U64:
		proto_u64(&p->event, ARG_UINT, a->u64);
		break;
	case ARG_I64:
		proto_i64(&p->event, ARG_INT, a->i64);
		break;
	case ARG_HEX:
		proto_u64(&p->event, ARG_POINTER, a->u64);
		break;
	case ARG_F64:
		proto_double(&p->event, ARG_DOUBLE, a->f64);
		break;
	case ARG_STR:
		put_name(p, &p->event, INTERN_ARG_STRING, ARG_STRING_IID, ARG_STRING, a->str);
		break;
	}
	proto_close(&p->event, part);
}

static void on_mark(struct sink *s, const struct mark *m)
{
	struct sink_perfetto *p = s->perfetto;
	bool point = !m->open && m->to_ns == m->from_ns;

	end_until(s, m->from_ns);
	begin_event(s);
	proto_u64(&p->event, EVENT_TYPE, point ? TYPE_INSTANT : TYPE_BEGIN);
	proto_u64(&p->event, EVENT_TRACK, m->track);
	put_name(p, &p->event, INTERN_NAME, EVENT_NAME_IID, EVENT_NAME, m->name);
	put_name(p, &p->event, INTERN_CATEGORY, EVENT_CATEGORY_IID, EVENT_CATEGORY, m->category);
	for (int i = 0; i < m->args; i++)
		put_arg(p, &m->arg[i]);
	for (int i = 0; i < m->effects; i++)
		proto_fixed64(&p->event, EVENT_FLOW, m->effect[i]);
	for (int i = 0; i < m->causes; i++)
		proto_fixed64(&p->event, EVENT_LAST_FLOW, m->cause[i]);
	if (m->shade)
		proto_u64(&p->event, EVENT_CORRELATION, m->shade);
	end_event(s, m->from_ns);
	if (!point && !m->open)
		push_end(p, m->to_ns, m->track);
}

static void on_close(struct sink *s, uint64_t track, uint64_t at_ns)
{
	end_until(s, at_ns);
	put_end(s, track, at_ns);
}

static void on_value(struct sink *s, uint64_t track, uint64_t at_ns, double value)
{
	struct sink_perfetto *p = s->perfetto;
	int64_t whole = value >= -9e15 && value <= 9e15 ? (int64_t)value : 0;

	end_until(s, at_ns);
	begin_event(s);
	proto_u64(&p->event, EVENT_TYPE, TYPE_COUNTER);
	proto_u64(&p->event, EVENT_TRACK, track);
	if ((double)whole == value)
		proto_i64(&p->event, EVENT_COUNTER, whole);
	else
		proto_double(&p->event, EVENT_DOUBLE_COUNTER, value);
	end_event(s, at_ns);
}

static void on_finish(struct sink *s)
{
	end_until(s, UINT64_MAX);
}

static void on_free(struct sink *s)
{
	free(s->perfetto->heap);
	hash_free(s->perfetto->interned);
	free(s->perfetto);
}

void perfetto_sink(struct sink *s, FILE *out, uint64_t base_ns)
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

	*s = (struct sink){ .ops = &ops, .out = out, .base_ns = base_ns };
	s->perfetto = xcalloc(1, sizeof(*s->perfetto));
}
