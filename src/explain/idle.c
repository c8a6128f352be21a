// SPDX-License-Identifier: Apache-2.0
/* What the GPU waited for while it had nothing to do: complete sums, in words. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/explain_int.h"

/* Who is to be named: who it waited for, who had the CPU, or nobody but itself. */
static void name_other(const struct chain *c, const struct hop *end, struct idle_part *ret)
{
	if (STATE_RUNNABLE(end->state) && end->cpu_pid) {
		ret->pid = end->cpu_pid;
		str_copy(ret->comm, sizeof(ret->comm), end->name);
	} else if (end->pid != c->hop[0].pid || end->tid != c->hop[0].tid) {
		ret->pid = end->pid;
		ret->tid = end->pid == c->hop[0].pid ? end->tid : 0;
		memcpy(ret->comm, end->comm, sizeof(ret->comm));
	}
}

void idle_part_of(const struct chain *c, struct idle_part *ret)
{
	const struct hop *first = &c->hop[0], *end;
	bool robbed;

	*ret = (struct idle_part){ .state = STATE_UNKNOWN };
	if (c->hops < 1) { /* a chain that is gone */
		str_add(ret->what, sizeof(ret->what), "%s", state_texts[STATE_UNKNOWN]);
		return;
	}
	end = &c->hop[chain_end(c)];
	robbed = STATE_RUNNABLE(end->state) && end->cpu_pid;
	ret->state = first->state;
	name_other(c, end, ret);
	str_add(ret->what, sizeof(ret->what), "%s",
		first->state == STATE_RUN ? "on CPU in its own code" : state_texts[first->state]);
	if (end != first && end->pid == first->pid)
		str_add(ret->what, sizeof(ret->what), " for its thread %s %u", end->comm, end->tid);
	else if (end != first)
		str_add(ret->what, sizeof(ret->what), " for %s (pid %u)", end->comm, end->pid);
	if (end != first && end->state != STATE_RUN)
		str_add(ret->what, sizeof(ret->what), ", which was %s", state_texts[end->state]);
	if (robbed && end->cpu_pid == PID_IRQ)
		str_add(ret->what, sizeof(ret->what), " that served interrupts");
	else if (robbed)
		str_add(ret->what, sizeof(ret->what), " that %s (pid %u) had", end->name,
			end->cpu_pid);
}

static void add_part(struct summary *sum, const struct idle_part *more)
{
	for (int i = 0; i < sum->idles; i++) {
		if (streq(sum->idle[i].what, more->what)) {
			sum->idle[i].ns += more->ns;
			return;
		}
	}
	sum->idle = xrealloc(sum->idle, (size_t)sum->idles + 1, sizeof(*sum->idle));
	sum->idle[sum->idles++] = *more;
}

static int by_ns(const void *x, const void *y)
{
	const struct idle_part *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

void add_idle(const struct facts *f, const struct thread_facts *first, int n, struct summary *sum)
{
	struct idle_part *part;

	if (!f->chains)
		return;
	part = xcalloc((size_t)f->chains, sizeof(*part));
	/* Each chain once: there are many rows of each. */
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < first[i].idles; k++) {
			const struct idle_ns *row = &first[i].idle[k];

			part[row->chain].ns += row->ns;
			sum->idle_ns += row->ns;
		}
	}
	for (int i = 0; i < f->chains; i++) {
		uint64_t ns = part[i].ns;

		if (!ns)
			continue;
		idle_part_of(&f->chain[i].chain, &part[i]);
		part[i].ns = ns;
		add_part(sum, &part[i]);
	}
	free(part);
	if (sum->idles)
		qsort(sum->idle, (size_t)sum->idles, sizeof(*sum->idle), by_ns);
}
