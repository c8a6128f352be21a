/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Launches in a row: one or two functions again and again, with nothing in between. Such a launch is only put
 * down, on a few cache lines of its thread; the accounts, which are spread over a dozen others and one for each
 * kernel, hear of all of them when something else comes. See put_down().
 *
 * Only the thread itself puts down, and only on the CPU whose cpu_row names it. What ends the row is the thread's
 * next event of another kind, or the switch away from that CPU; cpu_row.busy tells the switch that it came
 * in the middle of a launch, and then it is left to the event.
 *
 * A thread is known by where its registers are kept on entry to the kernel, and a function by its address: both are
 * at hand, whereas the task and the cookie are to be asked for. A launch comes after thousands of other
 * instructions: what it costs is cache lines, most of them of our own code.
 */
#ifndef PROBE_ROW_BPF_H
#define PROBE_ROW_BPF_H

#include "probe/cells.bpf.h"
#include "probe/cost.bpf.h"
#include "probe/irq.bpf.h"
#include "probe/tally.bpf.h"
#include "probe/tape.bpf.h"

_Static_assert(TAPES <= ROWS, "a thread without a tape has no row");

static __always_inline struct launch_row *row_of(const struct thread *t)
{
	__u32 i = t->tape - 1;

	return i < ROWS ? &rows[index_below(i, ROWS)] : NULL;
}

static __always_inline struct tally *tally_in_row(__u32 i)
{
	i--;
	return bpf_map_lookup_elem(&tallies, &i);
}

/* ---- kernels ---- */

/*
 * The account of a kernel is a cache line that nobody has looked at for long. So a row counts them itself, and tells when
 * that was long ago.
 */
#define KERNELS_OLD_NS 250000000

static __always_inline struct kernel_set *kernels_like(struct launch_row *r, __u64 kernel)
{
	return &r->kernels[((__u32)(kernel >> 4) * 2654435761u >> 27) & (ROW_SETS - 1)];
}

/* False: it is not among those that are counted here. */
static __always_inline bool count_in_row(struct launch_row *r, __u64 kernel)
{
	struct kernel_set *set = kernels_like(r, kernel);

	for (int i = 0; i < ROW_WAYS; i++) {
		if (set->handle[i] == kernel) {
			set->count[i]++;
			return true;
		}
	}
	return false;
}

struct told {
	struct thread *t;
	struct launch_row *r;
};

static long tell_set(__u32 i, struct told *told)
{
	struct kernel_set *set = &told->r->kernels[i & (ROW_SETS - 1)];
	struct kernel_cell *c;

	for (int way = 0; way < ROW_WAYS; way++) {
		__u32 n;

		if (!set->count[way])
			continue;
		/* Once: the thread's exit and the end of the trace may both be here. */
		n = __sync_lock_test_and_set(&set->count[way], 0);
		c = kernel_cell_of(told->t, set->handle[way]);
		if (c)
			c->count += n;
		else
			__sync_fetch_and_add(&stats.loss[LOSS_no_kernel], n);
		set->handle[way] = 0;
	}
	return 0;
}

/* The accounts of kernels hear of them. */
__noinline int tell_kernels(struct thread *t)
{
	struct told told = { .t = t, .r = NULL };

	if (!t)
		return 0;
	told.r = row_of(t);
	if (!told.r || told.r->serial != t->serial)
		return 0;
	told.r->told_ns = t->now.ns;
	bpf_loop(ROW_SETS, tell_set, &told, 0);
	return 0;
}

static __always_inline void tell_old_kernels(struct thread *t, const struct launch_row *r)
{
	if (unlikely(t->now.ns - r->told_ns > KERNELS_OLD_NS))
		tell_kernels(t);
}

/* ---- the accounts ---- */

/* What is told of a row: one function after the other, of each as often as it comes again. */
struct accounts {
	struct thread *t;
	struct launch_row *r;
	struct tally *gap;
	__u64 which; /* of the functions; ROW_FUNCTIONS: none yet */
	__u64 began; /* ... of the launches of the row */
};

/* So many calls of one function. t->now is at the entry of the last. */
static __always_inline void end_run(struct accounts *all, __u64 n)
{
	const struct row_function *f = &all->r->function[all->which & (ROW_FUNCTIONS - 1)];
	struct tally *y = tally_in_row(f->tally);

	if (!n)
		return;
	beat_again(all->t, n - 1);
	if (!y)
		return;
	y->calls += n;
	y->done += n;
	y->summed += n;
}

static __always_inline void begin_run(struct accounts *all, __u64 which)
{
	const struct row_function *f = &all->r->function[which];
	struct work_on work = { .stream = all->r->stream };
	struct thread *t = all->t;

	all->which = which;
	t->gap_after = f->op;
	beat(t, f->op, t->now.ns, 0, work);
}

/* One of them, as on_count() would have counted it. t->now is at its entry. */
static __always_inline void account(struct accounts *all, const struct put_down *p, __u64 which)
{
	const struct row_function *f = &all->r->function[which];
	__u32 in_ns = p->how >> ROW_IN_SHIFT;
	struct thread *t = all->t;
	struct tally *y;

	add_duration(all->gap, p->gap_ns);
	if (clock_draws(t->now.ns))
		learn(usual_of(t, OP_GAP, 0, (__u64)t->gap_after << 16 | f->op), p->gap_ns);
	if (likely(!in_ns))
		return;
	y = tally_in_row(f->tally);
	if (y)
		add_duration(y, in_ns);
}

static __always_inline void account_bytes(struct launch_row *r)
{
	for (int i = ROW_LAUNCHES; i < ROW_FUNCTIONS; i++) {
		struct tally *y = r->function[i].bytes ? tally_in_row(r->function[i].tally) : NULL;

		if (y)
			y->bytes += r->function[i].bytes;
		r->function[i].bytes = 0;
	}
}

static long account_next(__u32 i, struct accounts *all)
{
	const struct put_down *p;
	__u64 which;

	if (i >= ROW_MAX)
		return 1;
	p = &all->r->launch[i];
	which = p->how & (ROW_FUNCTIONS - 1);
	if (unlikely(which != all->which))
		end_run(all, i - all->began);
	all->t->now.ns += p->gap_ns;
	account(all, p, which);
	if (unlikely(which != all->which)) {
		begin_run(all, which);
		all->began = i;
	}
	return 0;
}

/* What interrupts took of the `ns` of a row of n: not those after its last launch. */
static __always_inline __u64 interrupts(struct thread *t, struct launch_row *r, __u64 n, __u64 ns)
{
	__u32 cpu = r->cpu;
	const struct lane *lane = bpf_map_lookup_elem(&lanes, &cpu);
	__u64 until, took;

	if (!lane || t->now.gen != *(volatile __u64 *)&t->gen) /* it was away: retake() knows */
		return 0;
	until = r->irq_n == n ? r->irq_before : lane->irq_ns;
	took = until - t->irq_read;
	t->irq_read = until;
	r->irq_n = ROW_NO_IRQ;
	return took > ns ? ns : took;
}

static __always_inline void add_run(__u64 *state, __u64 ns, __u64 irq)
{
	state[STATE_RUN] += ns - irq;
	state[STATE_IRQ] += irq;
}

static __always_inline void account_all(struct thread *t, struct launch_row *r)
{
	struct tally *gap = tally_in_row(t->gap_tally);
	struct accounts all = { t, r, gap, ROW_FUNCTIONS, 0 };
	__u64 n = r->n, began = t->now.ns, ns, irq;

	r->n = 0;
	if (!gap)
		return;
	account_bytes(r);
	t->gap_wait_ns = 0;
	bpf_loop(n, account_next, &all, 0);
	end_run(&all, n - all.began);
	t->beat_skipped = n - r->read_at;
	ns = t->now.ns - began;
	irq = interrupts(t, r, n, ns);
	gap->calls += n;
	gap->done += n;
	gap->summed += n;
	add_run(gap->state_ns, ns, irq);
	add_run(t->now.sum, ns, irq);
	add_run(t->gap.sum, ns, irq);
	t->gap.ns = t->now.ns;
	t->seen_run += ns - irq;
	t->seen_irq += irq;
}

/*
 * The thread takes over what its row has put down. Once: its exit and the end of the trace may both be here.
 * A global function is verified by itself, not for each way to come here.
 */
__noinline int leave_row(struct thread *t)
{
	struct launch_row *r;

	if (!t || !__sync_val_compare_and_swap(&t->in_row, 1, 0))
		return 0;
	r = row_of(t);
	if (r && r->serial == t->serial && r->n)
		account_all(t, r);
	return 0;
}

/* ... and looks at what comes now by itself. */
static __always_inline void end_row(struct thread *t)
{
	if (likely(!t->in_row))
		return;
	this_cpu_row()->regs = 0;
	leave_row(t);
}

/* It becomes another program, whose functions are elsewhere. */
static __always_inline void forget_row(struct thread *t)
{
	struct launch_row *r = row_of(t);

	end_row(t);
	tell_kernels(t);
	if (r && r->serial == t->serial)
		r->serial = 0;
}

/* So many more before one has its turn to be sent. */
static __always_inline __u32 before_sample(const struct tally *y)
{
	return sample_every - 1 - (y->done & (sample_every - 1));
}

static __always_inline __u32 room_in(const struct launch_row *r, const struct tally *gap)
{
	__u32 room = ROW_MAX;

	if (room > before_sample(gap))
		room = before_sample(gap);
	for (int i = 0; i < ROW_FUNCTIONS; i++) {
		const struct tally *y = tally_in_row(r->function[i].tally);

		if (y && room > before_sample(y))
			room = before_sample(y);
	}
	return room;
}

/* The stream was read when so many were put down: every 31st time it is read again. */
static __always_inline void stream_read(struct launch_row *r, __s16 at)
{
	__s16 next = at + STREAM_EVERY - 1;

	r->read_at = at;
	r->room = next < 0 ? 0 : next > r->last ? r->last : next;
}

/*
 * It is full: the accounts hear of all, and it goes on. False: no, it is the turn of one to be sent. Whoever calls has
 * set cpu_row.busy.
 */
static __noinline int renew_row(struct launch_row *r)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	struct tally *gap;

	if (!t || !r || t->in_row != 1 || r->serial != t->serial)
		return 0;
	gap = tally_in_row(t->gap_tally);
	if (!gap)
		return 0;
	account_all(t, r);
	tell_old_kernels(t, r);
	r->last = room_in(r, gap);
	stream_read(r, -(__s16)t->beat_skipped);
	return r->last;
}

/*
 * Nothing is open but the gap that has just begun: what comes now may be put down, until this CPU forgets the thread.
 * t->now is at the beginning of that gap. False: may not.
 */
static __noinline int arm_row(struct thread *t, struct pt_regs *ctx)
{
	struct cpu_row *here = this_cpu_row();
	struct launch_row *r;
	struct tally *gap;

	if (!t || no_rows || t->run_as != STATE_RUN || t->stub || record_all || t->gap_era & 1)
		return 0;
	r = row_of(t);
	gap = tally_in_row(t->gap_tally);
	if (!r || !gap)
		return 0;
	r->ns = t->now.ns - slept_ns;
	r->sp = 0;
	r->n = 0;
	tell_old_kernels(t, r);
	r->cpu = bpf_get_smp_processor_id();
	r->irq_n = ROW_NO_IRQ;
	r->alone = shed_returns;
	r->steal = t->steal_read;
	r->counters = t->now.counter[COUNTER_minor] + t->now.counter[COUNTER_major] +
		      t->now.counter[COUNTER_kernel_ns];
	r->stream = t->beat_stream;
	r->last = room_in(r, gap);
	stream_read(r, -(__s16)t->beat_skipped);
	t->in_row = 1;
	here->row = t->tape - 1;
	here->task = (__u64)bpf_get_current_task_btf();
	barrier();
	*(volatile __u64 *)&here->regs = (__u64)ctx;
	barrier();
	if (t->now.gen != *(volatile __u64 *)&t->gen) /* it was away meanwhile */
		here->regs = 0;
	return 1;
}

/* The switch away from a CPU takes it back from the task that had it. */
static __always_inline void switch_row(struct task_struct *prev, struct thread *leaves)
{
	struct cpu_row *here = this_cpu_row();

	if (likely(!here->regs))
		return;
	here->regs = 0;
	if (here->task == (__u64)prev && !here->busy && leaves)
		leave_row(leaves);
}

#endif
