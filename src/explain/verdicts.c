// SPDX-License-Identifier: Apache-2.0
/* Every wait gets its verdict, once: its chain, and what else happened in that second. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "explain/facts.h"

#define NEAR_NS 1000000000ull /* the host is asked once a second: it may be the second beside */
#define KILLED_NS 2000000000ull /* how long a killed process is missed */
#define RESENT_MIN 3 /* a single packet is no loss worth the name */
#define FLAGGED_MIN_PCT 10.0 /* of the waits on a connection in that second */

/* ---- who descends from whom ---- */

static void add_descent(struct facts *f, struct hash *known, uint32_t parent, uint32_t child)
{
	struct descent d = { parent, child };
	bool *seen = hash_put(known, &d);

	if (*seen || parent == child)
		return;
	*seen = true;
	f->descent = xrealloc(f->descent, (size_t)f->descents + 1, sizeof(*f->descent));
	f->descent[f->descents++] = d;
}

static void find_descents(struct facts *f)
{
	struct hash *known = hash_new(sizeof(struct descent), sizeof(bool));

	for (int i = 0; i < f->chains; i++) {
		const struct chain *c = &f->chain[i].chain;

		for (int h = 1; h < c->hops; h++)
			if (c->hop[h].relation == RELATION_child)
				add_descent(f, known, c->hop[0].pid, c->hop[h].pid);
	}
	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event != HOST_fork)
			continue;
		add_descent(f, known, e->pid, (uint32_t)e->obj);
		for (int k = 0, n = f->descents; k < n; k++) /* of a child, of everybody above */
			if (f->descent[k].child == e->pid)
				add_descent(f, known, f->descent[k].parent, (uint32_t)e->obj);
	}
	hash_free(known);
}

/* ---- what else happened ---- */

/* Seen from the other end, or from here: remote address << 32 | remote port << 16 | own port. */
bool same_socket(uint64_t ours, uint64_t theirs)
{
	uint16_t remote = (uint16_t)(ours >> 16), own = (uint16_t)ours;

	if (!remote || !own)
		return false;
	if ((uint32_t)ours == (uint32_t)theirs) /* we sent it ourselves */
		return true;
	return (uint16_t)(theirs >> 16) == own && (uint16_t)theirs == remote;
}

static bool sent_again(const struct facts *f, uint64_t socket, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (int i = 0; f->resends && i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event == HOST_retransmit && e->at_ns + NEAR_NS >= from &&
		    e->first_ns <= to + NEAR_NS && same_socket(socket, e->obj))
			n += e->count;
	}
	return n >= RESENT_MIN;
}

/* Out-of-order packets are marked on single waits; those beside them wait for the same repair. */
static bool out_of_order(const struct facts *f, const struct second *s, uint64_t socket)
{
	uint64_t flagged = 0, all = 0;

	for (int i = 0; i < s->waits; i++) {
		const struct chain *c = &f->chain[s->wait[i].chain].chain;
		int h = chain_tcp(c);

		if (h < 0 || c->hop[h].obj2 != socket)
			continue;
		all += s->wait[i].ns;
		flagged += c->hop[h].flags & STOP_PACKET_LOSS ? s->wait[i].ns : 0;
	}
	return flagged && percent(flagged, all) >= FLAGGED_MIN_PCT;
}

static bool killed(const struct facts *f, uint32_t pid, uint64_t from, uint64_t to)
{
	for (int i = 0; f->kills && i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event == HOST_oom_kill && facts_child(f, pid, e->pid) && e->first_ns <= to &&
		    e->at_ns + KILLED_NS >= from)
			return true;
	}
	return false;
}

static bool feeds(const struct facts *f, const struct thread_facts *but, uint32_t tid)
{
	for (int i = 0; i < f->threads; i++) {
		const struct thread_facts *t = &f->thread[i];

		if (t->process == but->process && t->tid == tid)
			return t->feeds && t != but;
	}
	return false;
}

/* ---- devices that failed ---- */

#define STUCK_NS 10000000000ull /* as probe/host.bpf.h has it */
#define FAULT_WAIT_NS                                                                              \
	100000000ull /* a shorter wait is not for a device that was refused something */

static bool disk_gave_up(const struct host_facts *e)
{
	return e->event == HOST_disk_timeout || e->event == HOST_disk_reset;
}

bool facts_disk_stuck(const struct host_facts *e)
{
	return disk_gave_up(e) || (e->event == HOST_disk_slow && starts_with(e->name, "nvme"));
}

static bool waits_for_disk(const struct verdict *v)
{
	return (v->cause == CAUSE_disk_read || v->cause == CAUSE_disk_write) && v->what >= 0;
}

/* Of a disk that is stuck everybody's requests are; so the file must be on it, and wait as long. */
static bool disk_stuck(const struct facts *f, const struct second *s, const struct wait *w)
{
	const struct chain *c = &f->chain[w->chain].chain;

	if (!waits_for_disk(&w->verdict) || w->max_ns < FAULT_WAIT_NS)
		return false;
	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (!disk_gave_up(e) && w->max_ns < STUCK_NS)
			continue; /* its driver has said nothing: only as long a wait is that */
		if (facts_disk_stuck(e) && e->obj == c->hop[w->verdict.what].obj2 &&
		    e->at_ns + NEAR_NS >= second_start(s) && e->first_ns <= s->at_ns + NEAR_NS)
			return true;
	}
	return false;
}

/* `exact`: only a fault of the very disk; else one of a device of that kind, where no more is known of it. */
static bool device_refused(const struct facts *f, const struct second *s, const struct wait *w,
			   bool exact)
{
	const char *kind = w->verdict.healthy == HEALTHY_gpu ? DEVICE_GPU : DEVICE_DISK;
	const struct chain *c = &f->chain[w->chain].chain;
	bool disk = waits_for_disk(&w->verdict);

	if ((w->verdict.healthy != HEALTHY_gpu && !disk) || w->max_ns < FAULT_WAIT_NS)
		return false;
	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event != HOST_iommu_fault || !strstr(e->name, kind) ||
		    e->at_ns + NEAR_NS < second_start(s) || e->first_ns > s->at_ns + NEAR_NS ||
		    store_is_fault_of_disk(e->obj, e->name) != exact)
			continue;
		if (!exact || (disk && e->obj == c->hop[w->verdict.what].obj2))
			return true;
	}
	return false;
}

/* A disk that was refused its memory cannot answer: that comes first, where it is this disk. */
static void judge_devices(const struct facts *f, const struct second *s, struct wait *w)
{
	enum cause_id cause = device_refused(f, s, w, true)    ? CAUSE_iommu_fault
			      : disk_stuck(f, s, w)            ? CAUSE_nvme_timeout
			      : device_refused(f, s, w, false) ? CAUSE_iommu_fault
							       : CAUSE_none;

	if (!cause)
		return;
	w->verdict.cause = cause;
	w->verdict.healthy = HEALTHY_no;
	w->verdict.who = WHO_NOBODY;
	w->verdict.inferred = cause == CAUSE_iommu_fault;
}

/* ---- the verdicts ---- */

/* Adds to what is known of the second what is known of this chain in it. */
static void look_around(const struct facts *f, const struct thread_facts *t, const struct second *s,
			const struct chain *c, struct around *ret)
{
	uint64_t from = second_start(s), to = s->at_ns;
	const struct hop *last;
	int tcp = chain_tcp(c);

	if (!c->hops)
		return;
	last = &c->hop[chain_end(c)];
	if (tcp >= 0)
		ret->resent = sent_again(f, c->hop[tcp].obj2, from, to) ||
			      out_of_order(f, s, c->hop[tcp].obj2);
	if (last->state == STATE_FAULT)
		ret->swapping = facts_swapping(f, from, to);
	for (int h = 1; h < c->hops && !ret->feeder; h++)
		if (c->hop[h].relation == RELATION_self && feeds(f, t, c->hop[h].tid))
			ret->feeder = h;
}

static void judge_second(const struct facts *f, const struct thread_facts *t, struct second *s)
{
	bool family_killed = killed(f, t->pid, second_start(s), s->at_ns);

	for (int i = 0; i < s->waits; i++) {
		struct wait *w = &s->wait[i];
		const struct chain *c = &f->chain[w->chain].chain;
		struct around around = { .killed = family_killed };

		look_around(f, t, s, c, &around);
		w->verdict = classify(c, w->place, &around);
		if (f->failures)
			judge_devices(f, s, w);
	}
}

/* How much of its time it spends in the kernel anyway: while it neither faults nor swaps much. */
static void find_quiet_kernel(struct thread_facts *t)
{
	uint64_t kernel = 0, total = 0;

	for (int i = 0; i < t->seconds; i++) {
		if (second_faults(&t->second[i]))
			continue;
		kernel += t->second[i].gap_counter[COUNTER_kernel_ns];
		total += second_total(&t->second[i]);
	}
	t->quiet_kernel = total ? (double)kernel / (double)total : 0;
	t->always_faults = !total;
}

void facts_classify(struct facts *f)
{
	find_descents(f);
	for (int i = 0; i < f->events; i++) {
		f->kills += f->event[i].event == HOST_oom_kill;
		f->resends += f->event[i].event == HOST_retransmit;
		f->failures +=
			facts_disk_stuck(&f->event[i]) || f->event[i].event == HOST_iommu_fault;
	}
	for (int i = 0; i < f->threads; i++)
		find_quiet_kernel(&f->thread[i]);
	for (int i = 0; i < f->threads; i++)
		for (int k = 0; k < f->thread[i].seconds; k++)
			judge_second(f, &f->thread[i], &f->thread[i].second[k]);
	facts_loads(f);
}
