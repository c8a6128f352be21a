// SPDX-License-Identifier: Apache-2.0
/* Reads what the rules need, once. */
#include "explain/facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/util.h"

static int on_thread(const struct thread_info *info, void *arg)
{
	struct facts *f = arg;
	struct thread_facts *t;

	f->thread = xrealloc(f->thread, (size_t)f->threads + 1, sizeof(*f->thread));
	t = &f->thread[f->threads++];
	*t = (struct thread_facts){
		.id = info->thread, .process = info->process, .pid = info->pid, .tid = info->tid
	};
	/* Names come from tenants: made harmless here, printed anywhere. */
	text_safe(t->node, sizeof(t->node), info->node);
	text_safe(t->process_comm, sizeof(t->process_comm), info->process_comm);
	text_safe(t->comm, sizeof(t->comm), info->comm);
	text_safe(t->cmdline, sizeof(t->cmdline), info->cmdline);
	return 0;
}

static int thread_order(const void *x, const void *y)
{
	const struct thread_facts *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static struct thread_facts *find_thread(struct facts *f, int64_t id)
{
	struct thread_facts key = { .id = id };

	if (!f->threads)
		return NULL;
	return bsearch(&key, f->thread, (size_t)f->threads, sizeof(key), thread_order);
}

/* The interval that ends at at_ns or, a call that outlasts a second having its row later, after it. */
static struct second *find_second(struct facts *f, int64_t thread, uint64_t at_ns)
{
	struct thread_facts *t = find_thread(f, thread);
	int lo = 0, hi = t ? t->seconds : 0;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (t->second[mid].at_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t && lo < t->seconds ? &t->second[lo] : NULL;
}

/* Rows come by thread and time, so the interval is the last one or a new one. */
static struct second *make_second(struct facts *f, int64_t thread, uint64_t at_ns)
{
	struct thread_facts *t = find_thread(f, thread);

	if (!t)
		return NULL;
	if (!t->seconds || t->second[t->seconds - 1].at_ns != at_ns) {
		t->second = xrealloc(t->second, (size_t)t->seconds + 1, sizeof(*t->second));
		t->second[t->seconds++] = (struct second){ .at_ns = at_ns };
	}
	return &t->second[t->seconds - 1];
}

static int on_op_second(const struct op_second_row *row, void *arg)
{
	struct second *s = make_second(arg, row->thread, row->at_ns);

	if (!s)
		return 0;
	for (int i = 0; i < STATE_COUNT; i++)
		s->state_ns[i] += row->state_ns[i];
	if (streq(row->class, class_names[CLASS_SYNC])) {
		s->sync_wait_ns += row->state_ns[STATE_RUN] + row->state_ns[STATE_BLOCKED];
		s->sync_runnable_ns += row->state_ns[STATE_PREEMPTED] + row->state_ns[STATE_WAKE];
	}
	if (streq(row->class, class_names[CLASS_LAUNCH]))
		s->launches += row->calls;
	if (!streq(row->class, class_names[CLASS_GAP]))
		s->calls += row->calls;
	return 0;
}

static int on_blame(const struct blame_row *row, void *arg)
{
	struct second *s = find_second(arg, row->thread, row->at_ns);
	struct second_blame *b;

	if (!s)
		return 0;
	s->blame = xrealloc(s->blame, (size_t)s->blames + 1, sizeof(*s->blame));
	b = &s->blame[s->blames++];
	*b = (struct second_blame){ .pid = row->pid, .cpu = row->cpu, .ns = row->ns };
	text_safe(b->comm, sizeof(b->comm), row->comm);
	return 0;
}

static int process_order(const void *x, const void *y)
{
	const struct thread_facts *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return thread_order(x, y);
}

int facts_load(struct store *s, struct window w, struct facts *ret)
{
	int err;

	*ret = (struct facts){ .window = w };
	err = store_each_thread(s, w, on_thread, ret);
	if (!err)
		err = store_each_op_second(s, w, on_op_second, ret);
	if (!err)
		err = store_each_blame(s, w, on_blame, ret);
	if (err) {
		facts_release(ret);
		return err;
	}
	if (ret->threads)
		qsort(ret->thread, (size_t)ret->threads, sizeof(*ret->thread), process_order);
	return 0;
}

void facts_release(struct facts *f)
{
	for (int i = 0; i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++)
			free(f->thread[i].second[k].blame);
		free(f->thread[i].second);
	}
	free(f->thread);
	*f = (struct facts){ 0 };
}

/* ---- shared by the rules ---- */

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A fifth of the time where it happened, or a tenth of the whole window, wakes somebody up. */
enum severity severity_of(const struct facts *f, const struct finding *found)
{
	double of_window = percent(found->lost_ns, f->window.to_ns - f->window.from_ns);

	if (found->lost_pct >= 20 || of_window >= 10)
		return SEVERITY_HIGH;
	return found->lost_pct >= 10 || of_window >= 5 ? SEVERITY_MEDIUM : SEVERITY_LOW;
}

void add_fix(struct finding *found, const char *fmt, ...)
{
	va_list ap;

	if (found->fixes == FIXES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(found->fix[found->fixes++], sizeof(found->fix[0]), fmt, ap);
	va_end(ap);
}
