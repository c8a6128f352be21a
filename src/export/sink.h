/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as it is written: tracks, and what lies on them. Two forms of it, Perfetto's and
 * Chrome's, of which only their own file knows anything.
 */
#ifndef EXPORT_SINK_H
#define EXPORT_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MARK_ARGS 48
#define MARK_FLOWS 64
#define MARK_TEXT 512 /* longer names and values are cut */

enum track_kind {
	TRACK_GROUP, /* holds others: a node, a GPU */
	TRACK_PROCESS,
	TRACK_THREAD,
	TRACK_SLICES,
	TRACK_COUNTER,
};

struct track {
	enum track_kind kind;
	uint64_t id, parent; /* ids count from 1; parent 0: none */
	const char *name, *unit; /* unit: of a counter */
	uint32_t pid, tid; /* of processes and threads: each once in a timeline */
	const char *cmdline; /* of a process; NULL: none */
};

enum arg_kind { ARG_U64, ARG_I64, ARG_HEX, ARG_F64, ARG_STR };

struct arg {
	const char *name; /* static */
	enum arg_kind kind;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		const char *str;
	};
};

/* How bad: slices of one shade have one colour. */
enum shade { SHADE_NONE, SHADE_LOW, SHADE_MEDIUM, SHADE_HIGH };

/* A slice or, where it has no length, a point. Strings are borrowed for the call. */
struct mark {
	uint64_t track, from_ns, to_ns;
	const char *name;
	const char *category; /* static */
	enum shade shade;
	bool open; /* to_ns is not known yet: sink_close() */
	int args, causes, effects;
	const uint64_t *cause, *effect; /* flows that end here, and that begin here */
	struct arg arg[MARK_ARGS];
};

void mark_init(struct mark *m, uint64_t track, uint64_t from_ns, uint64_t to_ns, const char *name,
	       const char *category);
/* More than MARK_ARGS are left out: the last one then says so. */
void mark_u64(struct mark *m, const char *name, uint64_t value);
void mark_i64(struct mark *m, const char *name, int64_t value);
void mark_hex(struct mark *m, const char *name, uint64_t value);
void mark_f64(struct mark *m, const char *name, double value);
void mark_str(struct mark *m, const char *name, const char *value);

struct sink;

struct sink_ops {
	void (*track)(struct sink *s, const struct track *t);
	void (*sequence)(struct sink *s);
	void (*mark)(struct sink *s, const struct mark *m);
	void (*close)(struct sink *s, uint64_t track, uint64_t at_ns);
	void (*value)(struct sink *s, uint64_t track, uint64_t at_ns, double value);
	void (*finish)(struct sink *s);
	void (*free)(struct sink *s);
};

struct sink {
	const struct sink_ops *ops;
	FILE *out;
	uint64_t base_ns; /* nothing is before it */
	int64_t shift_ns; /* of this sequence: what its clock is behind the others */
	uint64_t marks; /* written */
	struct sink_chrome *chrome;
	struct sink_perfetto *perfetto;
};

/* base_ns: wall clock; zero_ns: the same of the node whose clock is first. Free with s->ops->free(). */
void perfetto_sink(struct sink *s, FILE *out, uint64_t base_ns);
void chrome_sink(struct sink *s, FILE *out, uint64_t base_ns, uint64_t zero_ns);

static inline void sink_track(struct sink *s, const struct track *t)
{
	s->ops->track(s, t);
}

/*
 * From here on time may begin anew; within a sequence it never goes back. Closes what is open. shift_ns:
 * to be added to its times, as far as this is to be compared with other sequences.
 */
static inline void sink_sequence(struct sink *s, int64_t shift_ns)
{
	s->ops->sequence(s);
	s->shift_ns = shift_ns;
}

/* In the order of from_ns; on one track slices are inside one another or apart. */
static inline void sink_mark(struct sink *s, const struct mark *m)
{
	s->marks++;
	s->ops->mark(s, m);
}

/* End the slice of this track that was left open. */
static inline void sink_close(struct sink *s, uint64_t track, uint64_t at_ns)
{
	s->ops->close(s, track, at_ns);
}

static inline void sink_value(struct sink *s, uint64_t track, uint64_t at_ns, double value)
{
	s->ops->value(s, track, at_ns, value);
}

#endif
