// SPDX-License-Identifier: Apache-2.0
/* The largest part of one slow call or gap names its cause. */
#include "explain/stall.h"

#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define FAULTS_PER_MS 2 /* as many make a page fault storm of a stretch of running */

/* What one cause has of the time so far, with the largest single piece of it. */
struct part {
	uint64_t ns, most_ns;
	struct culprit culprit;
	struct thing object;
	uint64_t stack, culprit_stack;
};

/* True: it is the largest so far. */
static bool add(struct part *to, uint64_t ns, const struct culprit *who, const struct thing *what)
{
	to->ns += ns;
	if (ns <= to->most_ns)
		return false;
	to->most_ns = ns;
	to->culprit = who ? *who : (struct culprit){ 0 };
	to->object = what ? *what : (struct thing){ 0 };
	to->stack = to->culprit_stack = 0;
	return true;
}

static struct culprit culprit_of(const struct chain *c, int who)
{
	const struct hop *last = &c->hop[chain_end(c)];
	struct culprit ret = { 0 };

	if (who == WHO_CPU) {
		ret.pid = last->cpu_pid;
		text_safe(ret.comm, sizeof(ret.comm), last->name);
	} else if (who >= 0) {
		ret.pid = c->hop[who].pid;
		ret.tid = c->hop[who].tid;
		text_safe(ret.comm, sizeof(ret.comm), c->hop[who].comm);
	}
	return ret;
}

/* What the thread's own split says already is left out: its chain has a single hop. */
static bool in_split(const struct chain *c)
{
	enum state state = c->hop[0].state;

	return c->hops == 1 && (STATE_ON_CPU(state) || STATE_RUNNABLE(state) ||
				state == STATE_THROTTLED || state == STATE_RECLAIM_WAIT);
}

static void add_chain(const struct chain *c, uint64_t ns, enum op_class place, struct part *part)
{
	struct around around = { 0 };
	struct thing what = { 0 };
	struct culprit who;
	struct verdict v;

	if (c->hops < 1 || in_split(c))
		return;
	for (int h = 1; h < c->hops && !around.feeder; h++)
		if (c->hop[h].calls && c->hop[h].relation == RELATION_self)
			around.feeder = h;
	v = classify(c, place, &around);
	who = culprit_of(c, v.who);
	if (v.what >= 0) {
		what.kind = c->hop[v.what].object;
		text_safe(what.name, sizeof(what.name), c->hop[v.what].name);
	}
	if (add(&part[v.cause], ns, &who, &what)) {
		part[v.cause].stack = c->hop[0].stack;
		part[v.cause].culprit_stack = v.who > 0 ? c->hop[v.who].stack : 0;
	}
}

/* What running means depends on where: in a call that waits for the GPU it is waiting, too. */
static enum cause_id running(const struct record *rec)
{
	uint64_t ms = rec->dur_ns / 1000000 + 1;

	switch (rec->op->class) {
	case CLASS_GAP:
		return rec->counter[COUNTER_minor] >= FAULTS_PER_MS * ms &&
				       rec->counter[COUNTER_kernel_ns] * 2 >=
					       rec->state_ns[STATE_RUN]
			       ? CAUSE_page_fault
			       : CAUSE_host_bound;
	case CLASS_INIT:
	case CLASS_MODULE:
		return CAUSE_cold_start;
	case CLASS_ALLOC:
		return CAUSE_alloc_churn;
	default:
		return CAUSE_none;
	}
}

static void add_split(const struct record *rec, struct part *part)
{
	const uint64_t *ns = rec->state_ns;
	struct culprit self = { .pid = rec->pid, .tid = rec->tid }, other = { 0 };

	if (rec->who_count && rec->who[0].pid) {
		other.pid = rec->who[0].pid;
		text_safe(other.comm, sizeof(other.comm), rec->who[0].comm);
	}
	add(&part[running(rec)], ns[STATE_RUN], &self, NULL);
	add(&part[CAUSE_python_gc], ns[STATE_GC], &self, NULL);
	add(&part[CAUSE_memory_reclaim], ns[STATE_RECLAIM] + ns[STATE_RECLAIM_WAIT], NULL, NULL);
	add(&part[CAUSE_cpu_quota], ns[STATE_THROTTLED], NULL, NULL);
	add(&part[other.pid ? CAUSE_cpu_contention : CAUSE_none],
	    ns[STATE_PREEMPTED] + ns[STATE_WAKE], &other, NULL);
}

/* "python3 (pid 2240) read /data/shard-17.bin" */
static void say(const struct stall *s, char *dst, size_t cap)
{
	static const struct {
		const char *does,
			*thing; /* what the culprit did; what it is called without a name */
	} words[CAUSE_COUNT] = {
		[CAUSE_cpu_contention] = { "had the CPU", "" },
		[CAUSE_disk_read] = { "read", "a file" },
		[CAUSE_disk_write] = { "wrote", "a file" },
		[CAUSE_network_peer] = { "took its time at", "the other end" },
		[CAUSE_lock] = { "held a lock", "" },
		[CAUSE_gil] = { "held Python's interpreter lock", "" },
		[CAUSE_data_loader] = { "had nothing ready", "" },
		[CAUSE_python_gc] = { "collected garbage", "" },
		[CAUSE_host_bound] = { "worked by itself", "" },
		[CAUSE_self_sleep] = { "slept by itself", "" },
		[CAUSE_unknown] = { "ended it; what it did before is not known", "" },
	};
	const char *does = words[s->cause].does, *thing = words[s->cause].thing;
	char who[64];

	if (!s->cause)
		snprintf(dst, cap, "it waited for the GPU, or had nothing to do");
	else if (!does || !s->culprit.pid || !s->culprit.comm[0])
		snprintf(dst, cap, "%s%s%s", causes[s->cause - 1].title,
			 s->object.name[0] ? ": " : "", s->object.name);
	else
		snprintf(dst, cap, "%s %s%s%s",
			 name_who(s->culprit.comm, s->culprit.pid, who, sizeof(who)), does,
			 thing[0] ? " " : "",
			 thing[0] && s->object.name[0] ? s->object.name : thing);
}

void stall_tell(struct stall *s, const char *where, const char *culprit_where)
{
	char dur[UNITS_CAP], usual[UNITS_CAP], why[240];
	bool gap = starts_with(s->op, "before ");

	str_copy(s->where, sizeof(s->where), where);
	str_copy(s->culprit_where, sizeof(s->culprit_where), culprit_where);
	say(s, why, sizeof(why));
	snprintf(s->text, sizeof(s->text), "stalled %s %s%s%s%s%s%s%s: %s%s%s%s%s",
		 format_ns(dur, sizeof(dur), s->dur_ns), gap ? "" : "in ", s->op,
		 where[0] ? ", " : "", s->where, s->usual_ns ? " (usually " : "",
		 s->usual_ns ? format_ns(usual, sizeof(usual), s->usual_ns) : "",
		 s->usual_ns ? ")" : "", s->cause ? cause_name(s->cause) : "", s->cause ? ": " : "",
		 why, culprit_where[0] ? ", " : "", s->culprit_where);
}

void stall_judge(const struct record *rec, const struct chain *chains, const uint64_t *ns, int n,
		 struct stall *ret)
{
	struct part part[CAUSE_COUNT] = { 0 };
	enum cause_id top = CAUSE_none;

	for (int i = 0; i < n; i++)
		add_chain(&chains[i], ns[i], rec->op->class, part);
	add_split(rec, part);
	for (int i = CAUSE_none + 1; i < CAUSE_COUNT; i++)
		if (part[i].ns > part[top].ns)
			top = (enum cause_id)i;
	*ret = (struct stall){
		.cause = top,
		.culprit = part[top].culprit,
		.object = part[top].object,
		.start_ns = rec->start_ns,
		.dur_ns = rec->dur_ns,
		.usual_ns = rec->usual_ns,
		.ns = part[top].ns,
		.stack = part[top].stack,
		.culprit_stack = part[top].culprit_stack,
	};
	if (!top)
		ret->culprit = (struct culprit){ 0 };
	snprintf(ret->op, sizeof(ret->op), "%s%s", rec->next ? "before " : "",
		 rec->next ? rec->next->symbol : rec->op->symbol);
	if (ret->stack < STACK_REASONS)
		ret->stack = rec->stack;
	stall_tell(ret, "", "");
}
