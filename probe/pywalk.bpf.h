/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a thread is in its Python code: a walk over the interpreter's own frames, in the thread's own
 * context. Works while the thread does not hold the interpreter lock, because the thread state comes
 * from the gilstate key. Everything that is read may be forged: reads are bounded and may fail.
 */
#ifndef PROBE_PYWALK_BPF_H
#define PROBE_PYWALK_BPF_H

#include "probe/pymemo.bpf.h"

#define PY_3_10 0x30a
#define PY_3_11 0x30b
#define PAGE 4096ull

/* ---- the thread state ---- */

/* pthread_getspecific(key), from outside. 0: none. */
static __always_inline __u64 thread_state(const struct py_layout *l, __u64 tp)
{
	__u64 base = tp + l->tsd;
	__u32 key = 0;

	/* Read every time: fork makes a new one. */
	if (bpf_probe_read_user(&key, sizeof(key), (void *)l->key) || key >= 1024)
		return 0;
	if (l->tsd_indirect)
		base = user_u64(base);
	else if (key >= 32) {
		base = user_u64(tp + l->tsd - 8 + l->tsd_level2 + (key >> 5) * 8) + 8;
		key &= 31;
	}
	return user_u64(base + key * l->tsd_step);
}

/* ---- one frame after the other ---- */

struct walking {
	struct walk *w;
	const struct py_layout *l;
	__u32 owner;
};

#define FRAME_U64(raw, l, field) (*(__u64 *)((raw) + ((l)->field & 0x78)))

/* The last frame that was taken is the outermost one of its evaluation loop, which has `addr`. */
static __always_inline void set_anchor(struct walk *w, __u64 addr)
{
	__u32 n = w->out.frames;

	if (n)
		w->out.frame[(n - 1) & (PY_FRAMES - 1)].anchor = addr;
}

/* In 3.11 each evaluation loop has a record of its own on the C stack, and these are chained. */
static __always_inline void next_loop(struct walk *w, const struct py_layout *l)
{
	set_anchor(w, w->cframe);
	if (w->cframe && l->cframe_previous >= 0)
		w->cframe = user_u64(w->cframe + l->cframe_previous);
}

static __always_inline __s32 last_instruction(const struct py_layout *l, __u64 instr, __u64 code)
{
	__s32 lasti = (__s32)instr;

	if (l->version >= PY_3_11)
		return (__s32)(instr - code - l->code_first_instr);
	return l->version == PY_3_10 && lasti > 0 ? lasti * 2 : lasti;
}

static __always_inline void take_frame(struct walk *w, __u64 code, __u64 fp, __s32 lasti)
{
	struct py_frame *f = &w->out.frame[w->out.frames & (PY_FRAMES - 1)];

	f->code = code;
	f->fp = fp;
	f->lasti = lasti;
	f->anchor = 0;
	f->pad = 0;
	w->hash = mix(mix(mix(w->hash, code), fp), (__u32)lasti);
	w->out.frames++;
}

/*
 * The frame that the walk has reached; NULL: not readable. From 3.11 on a function's frame stands above
 * its caller's, so that what is before it is read along. Before, each is an object of its own, but the
 * caller's often the one before.
 */
static __always_inline __u8 *look_at_frame(struct walk *w, const struct py_layout *l)
{
	__u64 need = l->frame_size & (FRAME_MAX - 1), off = w->frame - w->frames.from;
	struct window *v = &w->frames;

	if (off >= WINDOW || off + need > v->len) {
		__u64 along = l->version >= PY_3_11 ? WINDOW : WINDOW_OLD;

		v->len = along + FRAME_MAX / 2;
		v->from = w->frame - (along - FRAME_MAX / 2);
		if (v->from < (w->frame & ~(PAGE - 1)))
			v->from = w->frame & ~(PAGE - 1); /* what is before it may not be there */
		if (bpf_probe_read_user(v->bytes, along + FRAME_MAX / 2, (void *)v->from)) {
			v->from = w->frame;
			v->len = need;
			if (bpf_probe_read_user(v->bytes, need, (void *)w->frame))
				return NULL;
		}
		off = w->frame - v->from;
	}
	asm volatile("%0 &= %1"
		     : "+r"(off)
		     : "i"(WINDOW - 1)); /* clang knows, the verifier does not */
	return v->bytes + off;
}

/* Fingerprint and first traceable line of a code object, once per walk. NULL: not readable. */
static __always_inline struct met *meet(struct walk *w, const struct py_layout *l, __u32 owner,
					__u64 addr)
{
	struct met *m = &w->met[addr * 0x9e3779b97f4a7c15ull >> 58];

	if (m->code == addr && m->walk == w->number)
		return m;
	m->code = addr;
	m->walk = 0;
	if (!recall_code(w, m)) {
		if (bpf_probe_read_user(w->code, l->code_size & 255, (void *)(addr + l->code_from)))
			return NULL;
		m->traceable = l->code_traceable ? (__s32)CODE_U32(w, l, code_traceable) : 0;
		m->fp = fingerprint(w, l);
		keep_code(w, l, owner, m);
	}
	m->walk = w->number;
	return m;
}

static long walk_frame(__u32 i, struct walking *k)
{
	const struct py_layout *l = k->l;
	struct walk *w = k->w;
	__u64 here = w->frame, code;
	struct met *met;
	__u8 *raw, owner;
	__s32 lasti;
	bool entry;

	if (!here || w->owner != k->owner)
		return 1;
	if (w->out.frames >= PY_FRAMES) {
		w->out.flags |= PY_STACK_CUT;
		return 1;
	}
	raw = look_at_frame(w, l);
	if (!raw) {
		w->out.flags |= PY_STACK_BROKEN;
		return 1;
	}
	code = FRAME_U64(raw, l, frame_code) & ~7ull; /* 3.14 tags it */
	owner = l->version >= PY_3_11 ? raw[l->frame_owner & 0x7f] : 0;
	entry = l->version == PY_3_11 && raw[l->frame_entry & 0x7f];
	w->frame = FRAME_U64(raw, l, frame_previous);
	if (l->version >= PY_3_11 && owner >= l->skip_owner) {
		set_anchor(w, here); /* the interpreter's own, a variable of the loop */
		return 0;
	}
	if (!code || code == l->none)
		return 0;
	lasti = last_instruction(l, FRAME_U64(raw, l, frame_instr), code);
	met = meet(w, l, k->owner, code);
	if (!met) {
		w->out.flags |= PY_STACK_BROKEN;
		w->partly = 1;
	} else if (l->code_traceable && owner != 1 && lasti >> 1 < met->traceable) {
		/* Not begun yet, or the shim of a constructor: sys._getframe() hides them, too. */
		return 0;
	}
	take_frame(w, code, met ? met->fp : 0, lasti);
	if (entry)
		next_loop(w, l);
	return 0;
}

/* Of a stack that is new, the code objects that are new. */
static long tell_frame(__u32 i, struct walking *k)
{
	const struct py_layout *l = k->l;
	struct walk *w = k->w;
	struct py_frame *f = &w->out.frame[i & (PY_FRAMES - 1)];
	struct code_key key = { .code = f->code, .generation = l->generation, .fp = f->fp };

	if (i >= w->out.frames)
		return 1;
	if (!key.fp || bpf_map_lookup_elem(&seen_codes, &key))
		return 0;
	if (bpf_probe_read_user(w->code, l->code_size & 255, (void *)(key.code + l->code_from)) ||
	    fingerprint(w, l) != key.fp || tell_code(w, l, &key)) {
		/* A string has got its hash meanwhile, perhaps: the next walk looks anew. */
		forget_code(w, key.code);
		w->lost = 1;
	}
	return w->lost ? 1 : 0; /* in words that the verifier understands */
}

/* What came out: the stack's id, told if it is new; or why there is none. */
static __always_inline __u64 walked(struct walking *k)
{
	struct walk *w = k->w;
	__u64 id = w->hash | 1ull << 63, size;
	__u8 one = 1;

	if (!w->out.frames)
		return w->out.flags & PY_STACK_BROKEN ? NO_STACK_unreadable : NO_STACK_no_frames;
	if (bpf_map_lookup_elem(&seen_stacks, &id))
		return id;
	bpf_loop(PY_FRAMES, tell_frame, k, 0);
	if (w->lost)
		return NO_STACK_lost;
	w->out.id = id;
	size = w->out.frames;
	if (size > PY_FRAMES)
		size = PY_FRAMES;
	size = sizeof(w->out) - sizeof(w->out.frame) + size * sizeof(struct py_frame);
	if (bpf_ringbuf_output(&news, &w->out, size, BPF_RB_NO_WAKEUP))
		return NO_STACK_lost;
	if (!w->partly)
		bpf_map_update_elem(&seen_stacks, &id, &one, BPF_ANY);
	return id;
}

/*
 * The frames of one thread state of the current process; `own`: that of the current thread, so that they
 * stand still. NO_STACK_lost: the ring was full, mostly.
 */
static __noinline __u64 walk_state(struct walk *w, const struct py_layout *l, __u64 state, bool own)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct walking k = { .w = w, .l = l, .owner = pid_tgid };

	if (!w || !l)
		return NO_STACK_not_looked;
	w->owner = pid_tgid;
	w->number++;
	w->lost = w->partly = 0;
	w->frames.len = 0;
	w->when = memo_time(l);
	w->keep = own;
	w->epoch = stack_epoch;
	w->hash = l->generation;
	w->out.kind = NEWS_stack;
	w->out.pid = pid_tgid >> 32;
	w->out.generation = l->generation;
	w->out.frames = w->out.flags = 0;
	if (bpf_probe_read_user(&w->frame, sizeof(w->frame), (void *)(state + l->ts_frame)))
		return NO_STACK_unreadable;
	w->cframe = w->frame;
	if (l->cframe_current >= 0 && w->frame)
		w->frame = user_u64(w->frame + l->cframe_current);
	bpf_loop(PY_FRAMES * 2, walk_frame, &k, 0);
	if (w->owner != (__u32)pid_tgid)
		return NO_STACK_lost;
	return walked(&k);
}

static __always_inline const struct py_layout *layout_of(const struct task_struct *task)
{
	__u32 pid = task->tgid;

	return bpf_map_lookup_elem(&pythons, &pid);
}

/* ---- processes come and go ---- */

/* The child has the same interpreter at the same place, but will have other code objects. */
static __always_inline void inherit_python(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	const struct py_layout *l;
	struct py_layout copy;

	if (from == to)
		return;
	l = bpf_map_lookup_elem(&pythons, &from);
	if (!l)
		return;
	copy = *l;
	copy.generation = (__sync_fetch_and_add(&generations, 1) + 1) | 1u << 31;
	copy.frees = 0;
	copy.watched = PY_NOT_WATCHED;
	bpf_map_update_elem(&pythons, &to, &copy, BPF_ANY);
	__sync_fetch_and_add(&layouts, 1);
}

static __always_inline void forget_python(struct task_struct *task)
{
	__u32 pid = task->tgid;

	bpf_map_delete_elem(&pythons, &pid);
}

#endif
