/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk over Python's frames has at hand, and how it knows a code object again and tells it once.
 * Everything that is read may be forged: reads are bounded and may fail.
 */
#ifndef PROBE_PYCODE_BPF_H
#define PROBE_PYCODE_BPF_H

#include "probe/base.bpf.h"
#include "wire/python.h"

const volatile bool stacks = true;

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* by process; kept by user space, inherited in fork */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct py_layout);
} pythons SEC(".maps");

struct code_key {
	__u64 code, fp;
	__u32 generation, pad;
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

/*
 * A copy of a piece of the interpreter's stack. To read 2,048 bytes costs little more than to read 8, and
 * from 3.11 on the frames lie together.
 */
#define WINDOW 2048
#define WINDOW_OLD 1024 /* before 3.11 */
#define FRAME_MAX 128

struct window {
	__u64 from;
	__u64 len; /* 0: nothing yet in this walk */
	__u8 bytes[WINDOW + FRAME_MAX + 8];
};

/* A code object that this walk has met: while it runs it is not freed, so its address is enough. */
struct met {
	__u64 code, fp;
	__u32 walk; /* walk.number; another one: met by an earlier walk, which says nothing */
	__s32 traceable;
};

#define METS 64

#define STR_TAIL 32

/* The beginning of a string, before 3.12. */
struct py_str {
	__s64 len;
	__u64 hash; /* all ones: not known yet */
	__u64 state, wide;
	__u8 text[8]; /* if all characters are ASCII */
};

struct walk {
	__u32 owner; /* thread; another one: it took the scratch while we were away */
	__u16 lost; /* a code object could not be told, */
	__u16 partly; /* ... or not all of it: a page is not there, and may be the next time */
	__u32 number; /* of this walk here */
	__u32 recalled; /* code objects that were not read, so far: for tests */
	__u64 when; /* what the memos of this walk must say; 0: none is asked */
	__u32 keep; /* they may be written */
	__u32 epoch; /* stack_epoch, for all of this walk */
	__u64 frame, cframe;
	__u64 hash;
	struct window frames;
	__u8 code[256 + 8]; /* of a code object */
	struct py_str str; /* what it points to: there is no room on the stack */
	__u64 tail[8]; /* four of them */
	__u64 table[6]; /* length, hash, the bytes */
	struct met met[METS];
	struct py_code told;
	struct py_stack out;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALKS);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

static __always_inline __u64 user_u64(__u64 addr)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)addr);
	return value;
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
static __always_inline int tell_code(struct walk *w, const struct py_layout *l,
				     struct code_key *key)
{
	__u64 table = CODE_U64(w, l, code_table), len = 0, size;
	struct py_code *c = &w->told;
	__u8 one = 1;

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

/* What a string says: its hash where it is known, else its length and its end. */
static __always_inline __u64 mix_str(struct walk *w, __u64 h, __u64 str)
{
	struct py_str *head = &w->str;
	__u64 *tail = w->tail, n;

	__builtin_memset(head, 0, sizeof(*head));
	bpf_probe_read_user(head, sizeof(*head), (void *)(str + 16));
	if (head->hash != ~0ull)
		return mix(h, head->hash);
	__builtin_memset(tail, 0, STR_TAIL);
	n = head->len * (head->state >> 2 & 7);
	if (n > STR_TAIL) {
		str += n - STR_TAIL;
		n = STR_TAIL;
	}
	asm volatile("%0 &= 63" : "+r"(n)); /* clang knows, the verifier does not */
	bpf_probe_read_user(tail, n, (void *)(str + 48));
	h = mix(mix(h, head->len), tail[0]);
	return mix(mix(mix(h, tail[1]), tail[2]), tail[3]);
}

/* What a line table says, by its length and its first 32 bytes. */
static __always_inline __u64 mix_table(struct walk *w, __u64 h, __u64 table)
{
	__u64 *head = w->table;

	__builtin_memset(head, 0, sizeof(w->table));
	/* Behind a short table is something else, or nothing. */
	if (bpf_probe_read_user(head, sizeof(w->table), (void *)(table + 16)))
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
static __always_inline __u64 mix_contents(struct walk *w, __u64 h, __u64 name, __u64 file,
					  __u64 table)
{
	h = mix_table(w, mix_str(w, h, name), table);
	return w->str.text[0] == '<' ? mix_str(w, h, file) : h;
}

/*
 * Tells a code object from another one that had its address before. From 3.12 on each has a number;
 * older ones need a look at what they point to.
 */
static __always_inline __u64 fingerprint(struct walk *w, const struct py_layout *l)
{
	__u64 name = CODE_U64(w, l, code_name), table = CODE_U64(w, l, code_table);
	__u64 file = CODE_U64(w, l, code_file), h;

	h = mix(mix(name, table), w->epoch);
	h = mix(mix(h, file), CODE_U32(w, l, code_line));
	if (l->code_version)
		h = mix(h, CODE_U32(w, l, code_version));
	else
		h = mix_contents(w, h, name, file, table);
	return h | 1;
}

#endif
