/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a thread is in its Python code: a walk over the interpreter's own frames, in the thread's own
 * context. Works while the thread does not hold the interpreter lock, because the thread state comes
 * from the gilstate key. Everything that is read may be forged: reads are bounded and may fail.
 */
#ifndef PROBE_PYTHON_BPF_H
#define PROBE_PYTHON_BPF_H

#include "probe/cost.bpf.h"
#include "wire/python.h"

#define PY_3_10 0x30a
#define PY_3_11 0x30b
#define WALK_SHARE 128 /* looks at stops take no more than this part of the thread's time, */
#define WALK_BURST_NS 2000000 /* ... but so much at once */

const volatile bool stacks = true;

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* by process; kept by user space, inherited in fork */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct py_layout);
} pythons SEC(".maps");

struct code_key {
	__u64 code;
	__u32 generation, fp;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct code_key);
	__type(value, __u8);
} seen_codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, __u8);
} seen_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, __u8);
} seen_c_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* more where every call is sent */
} news SEC(".maps");

__u32 layouts = 0; /* how many were ever put into `pythons`: none is looked up in vain twice */
__u32 stack_epoch = 0; /* part of every identity: another number, and all is told anew */
__u32 generations = 0; /* of forked processes; user space counts its own, without the top bit */

/* Who may interrupt whom: each has a scratch of its own per CPU. */
enum walk_from {
	WALK_CALL,
	WALK_SWITCH,
	WALK_SAMPLE,
	WALKS,
};

struct walk {
	__u32 owner; /* thread; another one here at the end: it took the scratch while we were away */
	__u16 lost; /* a code object could not be told, */
	__u16 partly; /* ... or not all of it: a page is not there, and may be the next time */
	__u64 frame, cframe;
	__u64 hash;
	__u8 raw[128 + 8]; /* of a frame */
	__u8 code[256 + 8]; /* of a code object */
	struct py_code told;
	struct py_stack out;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALKS);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static __always_inline __u64 user_u64(__u64 addr)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)addr);
	return value;
}

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

/* ---- telling a code object ---- */

#define CODE_U64(w, l, field) (*(__u64 *)((w)->code + (((l)->field - (l)->code_from) & 0xf8)))
#define CODE_U32(w, l, field) (*(__u32 *)((w)->code + (((l)->field - (l)->code_from) & 0xfc)))

/* Exactly the bytes of a string: behind its end may be a page that is not there. */
static __always_inline __s64 read_str(__u64 str, const struct py_layout *l, __u8 *dst, __u32 cap,
				      __u32 *ret_state)
{
	__u64 from = str, n;
	__s64 len;

	if (bpf_probe_read_user(&len, sizeof(len), (void *)(str + 16)) ||
	    bpf_probe_read_user(ret_state, sizeof(*ret_state), (void *)(str + 32)))
		return -1;
	if (len < 0)
		return -1;
	n = len > cap ? cap : len;
	n *= *ret_state >> 2 & 7;
	if (n > cap)
		n = cap;
	from += *ret_state >> 6 & 1 ? l->str_ascii : l->str_compact;
	return bpf_probe_read_user(dst, n, (void *)from) ? -1 : len;
}

/* The thread executes this code, so it is alive and can be copied without a race. */
static __noinline int tell_code(struct walk *w, const struct py_layout *l, struct code_key *key)
{
	__u64 table, len = 0, size;
	struct py_code *c;
	__u8 one = 1;

	if (!w || !l || !key)
		return -1;
	c = &w->told;
	table = CODE_U64(w, l, code_table);
	c->kind = NEWS_code;
	c->pid = w->out.pid;
	c->generation = key->generation;
	c->fp = key->fp;
	c->code = key->code;
	c->table_addr = table + 32;
	c->line = CODE_U32(w, l, code_line);
	c->version = l->version;
	c->name_state = c->file_state = 0;
	c->name_len =
		read_str(CODE_U64(w, l, code_name), l, c->name, sizeof(c->name), &c->name_state);
	c->file_len =
		read_str(CODE_U64(w, l, code_file), l, c->file, sizeof(c->file), &c->file_state);
	c->table_len = -1;
	if (!bpf_probe_read_user(&len, sizeof(len), (void *)(table + 16)) && (__s64)len >= 0)
		c->table_len = len;
	size = len > sizeof(c->table) ? sizeof(c->table) : len;
	if (c->table_len < 0 || bpf_probe_read_user(c->table, size, (void *)(table + 32))) {
		c->table_len = -1;
		size = 0;
	}
	size += sizeof(*c) - sizeof(c->table);
	if (bpf_ringbuf_output(&news, c, size, BPF_RB_NO_WAKEUP))
		return -1;
	if (c->name_len < 0 || c->file_len < 0 || c->table_len < 0)
		w->partly = 1;
	else
		bpf_map_update_elem(&seen_codes, key, &one, BPF_ANY);
	return 0;
}

/* The beginning of a string, before 3.12. */
struct py_str {
	__s64 len;
	__u64 hash; /* all ones: not known yet */
	__u64 state, wide;
	__u8 text[8]; /* if all characters are ASCII */
};

/* What a string says: its hash where it is known, else its length and its end. */
static __always_inline __u64 mix_str(__u64 h, __u64 str, struct py_str *head)
{
	__u64 tail[4] = {}, n;

	__builtin_memset(head, 0, sizeof(*head));
	bpf_probe_read_user(head, sizeof(*head), (void *)(str + 16));
	if (head->hash != ~0ull)
		return mix(h, head->hash);
	n = head->len * (head->state >> 2 & 7);
	if (n > sizeof(tail)) {
		str += n - sizeof(tail);
		n = sizeof(tail);
	}
	bpf_probe_read_user(tail, n, (void *)(str + 48));
	h = mix(mix(h, head->len), tail[0]);
	return mix(mix(mix(h, tail[1]), tail[2]), tail[3]);
}

/* What a line table says, by its length and its first 32 bytes. */
static __always_inline __u64 mix_table(__u64 h, __u64 table)
{
	__u64 head[6] = {}; /* length, hash, the bytes */

	/* Behind a short table is something else, or nothing. */
	if (bpf_probe_read_user(head, sizeof(head), (void *)(table + 16)))
		bpf_probe_read_user(head, 16, (void *)(table + 16));
	for (int i = 0; i < 4; i++) {
		__s64 there = (__s64)head[0] - i * 8;

		if (there <= 0)
			break;
		if (there < 8)
			head[2 + i] &= (1ull << there * 8) - 1;
		h = mix(h, head[2 + i]);
	}
	return mix(h, head[0]);
}

/*
 * What an older code object points to. The file is looked at for "<module>", "<lambda>" and the like
 * only: a function of the same name, first line and table has the same text wherever it stands, and
 * every read counts.
 */
static __always_inline __u64 mix_contents(__u64 h, __u64 name, __u64 file, __u64 table)
{
	struct py_str head;

	h = mix_table(mix_str(h, name, &head), table);
	return head.text[0] == '<' ? mix_str(h, file, &head) : h;
}

/*
 * Tells a code object from another one that had its address before. From 3.12 on each has a number;
 * older ones need a look at what they point to.
 */
static __always_inline __u32 fingerprint(struct walk *w, const struct py_layout *l)
{
	__u64 name = CODE_U64(w, l, code_name), table = CODE_U64(w, l, code_table);
	__u64 file = CODE_U64(w, l, code_file), h;

	h = mix(mix(name, table), stack_epoch);
	h = mix(mix(h, file), CODE_U32(w, l, code_line));
	if (l->code_version)
		h = mix(h, CODE_U32(w, l, code_version));
	else
		h = mix_contents(h, name, file, table);
	return (h ^ h >> 32) | 1;
}

/* ---- one frame after the other ---- */

struct walking {
	struct walk *w;
	const struct py_layout *l;
};

#define RAW_U64(w, l, field) (*(__u64 *)((w)->raw + ((l)->field & 0x78)))

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
	if (!w->raw[l->frame_entry & 0x7f])
		return;
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

static __always_inline void take_frame(struct walk *w, const struct py_layout *l, __u64 code,
				       __u32 fp, __s32 lasti)
{
	struct py_frame *f = &w->out.frame[w->out.frames & (PY_FRAMES - 1)];

	f->code = code;
	f->fp = fp;
	f->lasti = lasti;
	f->anchor = 0;
	w->hash = mix(mix(w->hash, code), (__u64)fp << 32 | (__u32)lasti);
	w->out.frames++;
	if (l->version == PY_3_11)
		next_loop(w, l);
}

static long walk_frame(__u32 i, struct walking *k)
{
	const struct py_layout *l = k->l;
	struct walk *w = k->w;
	__u64 here = w->frame, code;
	__u32 fp = 0;
	__u8 owner;
	__s32 lasti;

	if (!here)
		return 1;
	if (w->out.frames >= PY_FRAMES) {
		w->out.flags |= PY_STACK_CUT;
		return 1;
	}
	if (bpf_probe_read_user(w->raw, l->frame_size & 127, (void *)here)) {
		w->out.flags |= PY_STACK_BROKEN;
		return 1;
	}
	code = RAW_U64(w, l, frame_code) & ~7ull; /* 3.14 tags it */
	owner = l->version >= PY_3_11 ? w->raw[l->frame_owner & 0x7f] : 0;
	w->frame = RAW_U64(w, l, frame_previous);
	if (l->version >= PY_3_11 && owner >= l->skip_owner) {
		set_anchor(w, here); /* the interpreter's own, a variable of the loop */
		return 0;
	}
	if (!code || code == l->none)
		return 0;
	lasti = last_instruction(l, RAW_U64(w, l, frame_instr), code);
	if (bpf_probe_read_user(w->code, l->code_size & 255, (void *)(code + l->code_from))) {
		w->out.flags |= PY_STACK_BROKEN;
		w->partly = 1;
	} else {
		/* Not begun yet, or the shim of a constructor: sys._getframe() hides them, too. */
		if (l->code_traceable && owner != 1 &&
		    lasti >> 1 < (__s32)CODE_U32(w, l, code_traceable))
			return 0;
		fp = fingerprint(w, l);
	}
	take_frame(w, l, code, fp, lasti);
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
	    fingerprint(w, l) != key.fp || tell_code(w, l, &key))
		w->lost = 1;
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
		goto lost;
	w->out.id = id;
	size = w->out.frames;
	if (size > PY_FRAMES)
		size = PY_FRAMES;
	size = sizeof(w->out) - sizeof(w->out.frame) + size * sizeof(struct py_frame);
	if (bpf_ringbuf_output(&news, &w->out, size, BPF_RB_NO_WAKEUP))
		goto lost;
	if (!w->partly)
		bpf_map_update_elem(&seen_stacks, &id, &one, BPF_ANY);
	return id;
lost:
	count(loss[LOSS_no_news]);
	return NO_STACK_lost;
}

/* The frames of one thread state of the current process. */
static __noinline __u64 walk_state(struct walk *w, const struct py_layout *l, __u64 state)
{
	struct walking k = { .w = w, .l = l };
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	if (!w || !l)
		return NO_STACK_not_looked;
	w->owner = pid_tgid;
	w->lost = w->partly = 0;
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

/* The Python stack of the current thread. */
static __always_inline __u64 current_stack(__u32 from)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct py_layout *l;
	struct walk *w;
	__u64 state, start;

	if (!stacks)
		return NO_STACK_not_looked;
	if (shed_stacks)
		return NO_STACK_over_budget;
	l = layout_of(task);
	if (!l)
		return NO_STACK_no_python;
	w = bpf_map_lookup_elem(&walks, &from);
	start = bpf_ktime_get_boot_ns();
	state = thread_state(l, thread_pointer(task));
	if (!w || !state)
		return NO_STACK_no_thread;
	state = walk_state(w, l, state);
	spend(stack_ns, start);
	return state;
}

/* Is its interpreter in the middle of a garbage collection? Whoever holds the lock does it. */
static __always_inline bool collects(struct task_struct *task)
{
	const struct py_layout *l = layout_of(task);
	__u32 collecting = 0;
	__u64 state;

	if (!l || !l->gc_collecting)
		return false;
	state = thread_state(l, thread_pointer(task));
	if (!state || user_u64(l->gil + GIL_LAST_HOLDER) != state)
		return false;
	bpf_probe_read_user(&collecting, sizeof(collecting),
			    (void *)(user_u64(state + PY_THREAD_INTERP) + l->gc_collecting));
	return collecting == 1;
}

/* ---- at a stop ---- */

static __always_inline bool may_walk(struct thread *t, __u64 now)
{
	__s64 credit = t->walk_credit + (now - t->walk_at) / WALK_SHARE;

	t->walk_credit = credit > WALK_BURST_NS ? WALK_BURST_NS : credit;
	t->walk_at = now;
	return t->walk_credit > 0;
}

/*
 * The thread waits for the interpreter lock: who has it, and where is he? He may be running, so that
 * his frames can change under our eyes: what is read is where he was about now.
 */
static __always_inline void look_at_holder(struct stop *stop, struct walk *w,
					   const struct py_layout *l, __u64 own_state)
{
	__u64 holder = user_u64(l->gil + GIL_LAST_HOLDER);
	__u32 locked = 0;

	bpf_probe_read_user(&locked, sizeof(locked), (void *)(l->gil + GIL_LOCKED));
	if (locked != 1 || !holder || holder == own_state)
		return;
	stop->holder = user_u64(holder + l->ts_thread);
	stop->holder_stack = walk_state(w, l, holder);
}

/* Where the current thread, which is about to leave the CPU, stops. */
static __noinline int look_at_stop(struct thread *t, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 from = WALK_SWITCH;
	const struct py_layout *l;
	struct walk *w;
	__u64 state;

	if (!t)
		return 0;
	l = layout_of(task);
	if (!l) {
		t->no_python = layouts + 1;
		return 0;
	}
	w = bpf_map_lookup_elem(&walks, &from);
	if (!w)
		return 0;
	if (shed_stacks || !may_walk(t, now)) {
		t->stop.stack = NO_STACK_over_budget;
		return 0;
	}
	state = thread_state(l, thread_pointer(task));
	t->stop.stack = state ? walk_state(w, l, state) : NO_STACK_no_thread;
	if (state && l->gil && t->stop.state == STATE_FUTEX && t->stop.obj - l->gil < l->gil_size)
		look_at_holder(&t->stop, w, l, state);
	t->walk_credit -= bpf_ktime_get_boot_ns() - now;
	spend(stack_ns, now);
	return 0;
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
	bpf_map_update_elem(&pythons, &to, &copy, BPF_ANY);
	__sync_fetch_and_add(&layouts, 1);
}

static __always_inline void forget_python(struct task_struct *task)
{
	__u32 pid = task->tgid;

	bpf_map_delete_elem(&pythons, &pid);
}

#endif
