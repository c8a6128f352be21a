// SPDX-License-Identifier: Apache-2.0
/* What both forms of a timeline share: a mark and its arguments. */
#include "export/sink.h"

void mark_init(struct mark *m, uint64_t track, uint64_t from_ns, uint64_t to_ns, const char *name,
	       const char *category)
{
	m->track = track;
	m->from_ns = from_ns;
	m->to_ns = to_ns < from_ns ? from_ns : to_ns;
	m->name = name[0] ? name : "(no name)"; /* no viewer does without */
	m->category = category[0] ? category : "other";
	m->shade = SHADE_NONE;
	m->open = false;
	m->args = m->causes = m->effects = 0;
	m->cause = m->effect = NULL;
}

static struct arg *next_arg(struct mark *m, const char *name, enum arg_kind kind)
{
	struct arg *a = &m->arg[m->args < MARK_ARGS ? m->args : MARK_ARGS - 1];

	if (m->args == MARK_ARGS) {
		*a = (struct arg){ .name = "more", .kind = ARG_STR, .str = "left out" };
		return NULL;
	}
	m->args++;
	a->name = name;
	a->kind = kind;
	return a;
}

void mark_u64(struct mark *m, const char *name, uint64_t value)
{
	struct arg *a = next_arg(m, name, ARG_U64);

	if (a)
		a->u64 = value;
}

void mark_i64(struct mark *m, const char *name, int64_t value)
{
	struct arg *a = next_arg(m, name, ARG_I64);

	if (a)
		a->i64 = value;
}

void mark_hex(struct mark *m, const char *name, uint64_t value)
{
	struct arg *a = next_arg(m, name, ARG_HEX);

	if (a)
		a->u64 = value;
}

void mark_f64(struct mark *m, const char *name, double value)
{
	struct arg *a = next_arg(m, name, ARG_F64);

	if (a)
		a->f64 = value;
}

void mark_str(struct mark *m, const char *name, const char *value)
{
	struct arg *a = next_arg(m, name, ARG_STR);

	if (a)
		a->str = value;
}
