/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the stacks of CPython threads get from the probes to user space. A stack is known by a hash of
 * its frames, and only what was not seen before crosses the ring `news`: a code object once per
 * process, a stack once, the C stack once per (Python stack, op, caller).
 */
#ifndef WIRE_PYTHON_H
#define WIRE_PYTHON_H

#include <linux/types.h>

#define PY_FRAMES 128 /* walked; deeper stacks are cut at the outer end, and say so */
#define PY_NAME_BYTES 128
#define PY_FILE_BYTES 256
#define PY_TABLE_BYTES 2048 /* of a line table; the rest is read from the process */
#define C_STACK_BYTES 16384
#define C_STACK_RETURNS 8

/* A stack id below this is no stack but a reason for having none. */
#define STACK_REASONS 256
#define NO_STACKS(X)                                                                               \
	X(not_looked, "not looked at")                                                             \
	X(no_python, "no Python interpreter in the process")                                       \
	X(no_thread, "no Python thread")                                                           \
	X(no_frames, "no Python function is running on it")                                        \
	X(unreadable, "its frames could not be read")                                              \
	X(over_budget, "too many stops in a short time to look at each")                           \
	X(lost, "the ring was full")

enum no_stack {
#define X(id, text) NO_STACK_##id,
	NO_STACKS(X)
#undef X
		NO_STACK_COUNT,
};

/*
 * Where one process's interpreter keeps what a walk needs, by process in the map `pythons`. Written by
 * user space once it has been checked against the process; offsets are in bytes, -1 is "none".
 */
struct py_layout {
	__u64 key; /* address of autoTSSkey._key */
	__u64 none; /* address of None */
	__u64 gil; /* address of the main interpreter's struct _gil_runtime_state; 0: not known */
	__u64 code_type; /* address of PyCode_Type, where code objects have no number; 0: not known */
	__u32 generation; /* of this process: one number per (pid, start); part of every identity */
	__s32 tsd; /* glibc: TP to specific_1stblock[0].data; musl: TP to the tsd pointer */
	__u16 tsd_level2; /* glibc: from specific_1stblock to `specific` */
	__u8 tsd_step; /* bytes per key: 16, musl 8 */
	__u8 tsd_indirect; /* musl */
	__u16 version; /* 0x309 .. 0x30e */
	__u16 gil_size;
	__s16 ts_frame; /* PyThreadState: frame, cframe or current_frame */
	__s16 cframe_current; /* _PyCFrame.current_frame; -1: the thread state points at the frame */
	__s16 cframe_previous; /* _PyCFrame.previous; -1: no such chain */
	__s16 ts_thread; /* PyThreadState.thread_id */
	__u16 frame_size; /* bytes of a frame to read: all of the following are inside */
	__u16 frame_previous, frame_code, frame_instr, frame_owner, frame_entry; /* entry: 3.11 */
	__u16 code_from, code_size; /* the part of a code object to read: all these are inside */
	__u16 code_line, code_name, code_file, code_table, code_version, code_traceable;
	__u16 code_first_instr; /* co_code_adaptive */
	__u16 str_ascii, str_compact; /* where the characters of a string begin */
	__u8 skip_owner; /* frames of this owner and above are the interpreter's own */
	__u8 pad;
	__u16 gc_collecting; /* PyInterpreterState.gc.collecting; 0: not known */
	__u32 frees; /* code objects that were freed, each counted before it is */
	__u32 watched; /* enum py_watched: does that number count? */
};

enum py_watched {
	PY_NOT_WATCHED, /* a forked child begins so: the probe is its parent's alone */
	PY_WATCHED,
	PY_WATCHED_NO_MORE, /* for good: what was freed meanwhile is not known */
};

#define PY_THREAD_INTERP 16 /* PyThreadState.interp, in all of them */
#define GIL_LAST_HOLDER 8 /* in struct _gil_runtime_state, 3.9 to 3.14 */
#define GIL_LOCKED 16

enum news_kind {
	NEWS_code = 1,
	NEWS_stack = 2,
	NEWS_c_stack = 3,
};

/* A code object, as it was when first met. */
struct py_code {
	__u32 kind, pid;
	__u32 generation, line; /* co_firstlineno */
	__u64 code, fp;
	__u64 table_addr; /* of the table's first byte, for what did not fit */
	__s64 name_len, file_len; /* in characters; -1: not read */
	__s64 table_len; /* in bytes; -1: not read */
	__u32 name_state, file_state; /* the string's state word: kind, compact, ascii */
	__u16 version, pad[3];
	__u8 name[PY_NAME_BYTES], file[PY_FILE_BYTES];
	__u8 table[PY_TABLE_BYTES]; /* the record ends with the last byte that is there */
};

struct py_frame {
	__u64 code;
	/*
	 * Fingerprint: the address alone may be another code object by now. As wide as this, for ten
	 * thousand functions at one address mix up two of 32 bits in one run of a hundred.
	 */
	__u64 fp;
	/* An address inside the C frame of the evaluation loop that ran this frame, if it is the
	 * outermost of that loop's; else 0. Not part of the stack's identity. */
	__u64 anchor;
	__s32 lasti; /* bytes into the bytecode; negative: before the first instruction */
	__u32 pad;
};

#define PY_STACK_CUT 1 /* deeper than PY_FRAMES */
#define PY_STACK_BROKEN 2 /* an outer frame could not be read */
/* Of stacks with native frames, set by user space: do these end at the interpreter's loop? */
#define STACK_JOINED 4
#define STACK_APART 8

struct py_stack {
	__u32 kind, pid;
	__u32 generation;
	__u16 frames, flags;
	__u64 id;
	struct py_frame frame[PY_FRAMES]; /* innermost first */
};

/* The C stack above a traced call, in the state of its caller: as if it had just returned. */
struct c_stack {
	__u32 kind, pid;
	__u64 stack; /* Python stack, or enum no_stack */
	__u64 site; /* with it, the identity */
	__u32 op, bytes;
	__u64 ip, sp, bp, bx, r12, r13, r14, r15; /* aarch64: ip, sp, x29, x30 in the first four */
	__u64 returns
		[C_STACK_RETURNS]; /* real return addresses of pending return probes, inner first */
	__u8 data[C_STACK_BYTES]; /* from sp on */
};

_Static_assert(sizeof(struct py_layout) == 104, "struct py_layout");
_Static_assert(sizeof(struct py_code) == 80 + PY_NAME_BYTES + PY_FILE_BYTES + PY_TABLE_BYTES,
	       "code");
_Static_assert(sizeof(struct py_stack) == 24 + PY_FRAMES * 32, "struct py_stack");
_Static_assert(sizeof(struct c_stack) == 32 + 64 + C_STACK_RETURNS * 8 + C_STACK_BYTES, "c_stack");

#endif
