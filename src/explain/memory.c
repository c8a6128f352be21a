// SPDX-License-Identifier: Apache-2.0
/* What each process has from CUDA: how much, at most, what failed, and whether it only ever grows. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define PARTS 6 /* of the time after the warm-up: the least of each must be more than before */
#define GROWS_MIN_NS (30 * 1000000000ull)
#define GROWS_MIN_BYTES (16ull << 20)
#define WARM_UP_SHARE 3 /* the first third */

/* ---- does it only ever grow? ---- */

/* The least that was allocated between two times, if it was `before` at the first. */
static uint64_t least_in(const struct memory_point *p, int n, uint64_t from, uint64_t to)
{
	uint64_t before = 0, least = UINT64_MAX;

	for (int i = 0; i < n && p[i].at_ns <= to; i++) {
		if (p[i].at_ns <= from)
			before = p[i].bytes;
		else
			least = min_u64(least, p[i].bytes);
	}
	return min_u64(least, before);
}

double memory_growth(const struct memory_point *p, int n, struct window w)
{
	uint64_t from = w.from_ns, span, last = 0, first = 0;

	if (n && p[0].at_ns > from)
		from = p[0].at_ns;
	if (w.to_ns < from + GROWS_MIN_NS)
		return 0;
	from += (w.to_ns - from) / WARM_UP_SHARE;
	span = (w.to_ns - from) / PARTS;
	for (int i = 0; i < PARTS; i++) {
		uint64_t least = least_in(p, n, from + i * span, from + (i + 1) * span);

		if (i && least <= last)
			return 0;
		first = i ? first : least;
		last = least;
	}
	if (last - first < GROWS_MIN_BYTES)
		return 0;
	return (double)(last - first) / ((double)span * (PARTS - 1) / 60e9);
}

/* ---- reading ---- */

struct reading {
	struct explanation *e;
	struct memory_summary *now;
	int64_t process;
	struct memory_point *point;
	int points;
};

static struct summary *summary_of(struct explanation *e, int64_t process)
{
	for (int i = 0; i < e->summaries; i++)
		if (e->summary[i].process == process)
			return &e->summary[i];
	return NULL;
}

static void finish(struct reading *r)
{
	if (r->now)
		r->now->growth = memory_growth(r->point, r->points, r->e->window);
	r->now = NULL;
	r->points = 0;
}

static int on_memory(const struct memory_info *info, void *arg)
{
	struct reading *r = arg;
	struct summary *s;
	char kind[16];

	text_safe(kind, sizeof(kind), info->kind);
	if (!r->now || r->process != info->process || !streq(r->now->kind, kind) ||
	    r->now->device != info->device) {
		finish(r);
		s = summary_of(r->e, info->process);
		if (!s)
			return 0;
		s->memory = xrealloc(s->memory, (size_t)s->memories + 1, sizeof(*s->memory));
		r->now = &s->memory[s->memories++];
		*r->now = (struct memory_summary){ .device = info->device };
		str_copy(r->now->kind, sizeof(r->now->kind), kind);
		r->process = info->process;
	}
	r->now->count = info->count;
	r->point = xrealloc(r->point, (size_t)r->points + 1, sizeof(*r->point));
	r->point[r->points++] = (struct memory_point){ info->at_ns, info->count.current };
	return 0;
}

static int on_failed(const struct failed_alloc *row, void *arg)
{
	struct summary *s = summary_of(arg, row->process);
	struct failed_memory *f = s ? &s->failed : NULL;

	if (!f)
		return 0;
	*f = (struct failed_memory){ .bytes = row->bytes, .ret = row->ret, .at_ns = row->at_ns };
	text_safe(f->op, sizeof(f->op), row->op);
	text_safe(f->line.file, sizeof(f->line.file), row->file);
	text_safe(f->line.func, sizeof(f->line.func), row->func);
	f->line.line = row->line;
	return 0;
}

int add_memory(struct store *s, struct explanation *e)
{
	struct reading r = { .e = e };
	int err = store_each_memory(s, e->window, on_memory, &r);

	finish(&r);
	free(r.point);
	return err ? err : store_each_failed_alloc(s, e->window, on_failed, e);
}

/* ---- printing ---- */

static const char *kind_text(const char *kind)
{
#define X(id, text)                                                                                \
	if (streq(kind, #id))                                                                      \
		return text;
	MEMORY_KINDS(X)
#undef X
	return kind;
}

static void print_one(const struct memory_summary *m, FILE *out)
{
	char now[UNITS_CAP], high[UNITS_CAP], n[UNITS_CAP];
	const struct memory_count *c = &m->count;

	fprintf(out, "  memory: %s", kind_text(m->kind));
	if (m->device >= 0)
		fprintf(out, " of GPU %d", m->device);
	fprintf(out, ": %s now, %s at most, %s allocations",
		format_bytes(now, sizeof(now), c->current),
		format_bytes(high, sizeof(high), c->high), format_count(n, sizeof(n), c->allocs));
	if (c->strangers)
		fprintf(out, "; %s frees of what was there before",
			format_count(n, sizeof(n), c->strangers));
	if (c->failed)
		fprintf(out, "; %s failed, the last of %s", format_count(n, sizeof(n), c->failed),
			format_bytes(high, sizeof(high), c->failed_bytes));
	if (c->retried)
		fprintf(out, ", %s went well after frees: full of cached or fragmented memory",
			format_count(n, sizeof(n), c->retried));
	if (m->growth > 0)
		fprintf(out, "; grows steadily, %s a minute: a leak?",
			format_bytes(n, sizeof(n), (uint64_t)m->growth));
	putc('\n', out);
}

void print_memory(const struct summary *s, FILE *out)
{
	char bytes[UNITS_CAP], at[512];

	for (int i = 0; i < s->memories; i++)
		print_one(&s->memory[i], out);
	if (s->failed.op[0])
		fprintf(out, "          last failure: %s of %s, error %d%s\n", s->failed.op,
			format_bytes(bytes, sizeof(bytes), s->failed.bytes), s->failed.ret,
			print_at(&s->failed.line, at, sizeof(at)));
}

void json_memory(struct json *j, const struct summary *s)
{
	json_open(j, "memory", '[');
	for (int i = 0; i < s->memories; i++) {
		const struct memory_summary *m = &s->memory[i];

		json_open(j, NULL, '{');
		json_str(j, "kind", m->kind);
		if (m->device >= 0)
			json_u64(j, "device", (uint64_t)m->device);
		else
			json_null(j, "device");
		json_u64(j, "current_bytes", m->count.current);
		json_u64(j, "high_bytes", m->count.high);
		json_u64(j, "allocations", m->count.allocs);
		json_u64(j, "frees", m->count.frees);
		json_u64(j, "frees_of_unknown", m->count.strangers);
		json_u64(j, "failed", m->count.failed);
		json_u64(j, "failed_bytes", m->count.failed_bytes);
		json_u64(j, "retried", m->count.retried);
		json_f64(j, "growth_bytes_per_minute", m->growth);
		json_close(j, '}');
	}
	json_close(j, ']');
	if (!s->failed.op[0])
		return;
	json_open(j, "failed_allocation", '{');
	json_str(j, "op", s->failed.op);
	json_u64(j, "bytes", s->failed.bytes);
	json_i64(j, "error", s->failed.ret);
	json_u64(j, "at_ns", s->failed.at_ns);
	json_str(j, "file", s->failed.line.file);
	json_str(j, "func", s->failed.line.func);
	json_u64(j, "line", (uint64_t)(s->failed.line.line < 0 ? 0 : s->failed.line.line));
	json_close(j, '}');
}
