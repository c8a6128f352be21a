/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probes do, done from outside to a thread that stands still: its Python frames as records
 * of the ring. Tests a struct py_layout, and everything that is made of the records.
 */
#ifndef TEST_UNIT_PYTHON_WALK_H
#define TEST_UNIT_PYTHON_WALK_H

#include "stack/stack.h"
#include "test/unit/python_live.h"

static inline uint64_t word_at(const uint8_t *from, size_t offset)
{
	uint64_t word;

	memcpy(&word, from + offset, sizeof(word));
	return word;
}

/* How long a string is, its state, and as much of it as fits. */
static inline int64_t walk_text(int pid, const struct py_layout *l, uint64_t addr, uint8_t *dst,
				size_t cap, __u32 *ret_state)
{
	int64_t len;
	bool ascii;

	if (!live_read(pid, addr + 16, &len, 8) || !live_read(pid, addr + 32, ret_state, 4))
		return -1;
	ascii = *ret_state >> 6 & 1;
	(void)live_read(pid, addr + (ascii ? l->str_ascii : l->str_compact), dst,
			(size_t)min_u64((uint64_t)len * (*ret_state >> 2 & 7), cap));
	return len;
}

static inline bool walk_code(int pid, const struct py_layout *l, uint64_t addr, struct py_code *ret)
{
	uint8_t raw[256];

	memset(ret, 0, sizeof(*ret));
	if (l->code_size > sizeof(raw) || !live_read(pid, addr + l->code_from, raw, l->code_size))
		return false;
	ret->kind = NEWS_code;
	ret->pid = (uint32_t)pid;
	ret->generation = l->generation;
	ret->code = addr;
	ret->fp = 7;
	ret->version = l->version;
	memcpy(&ret->line, raw + l->code_line - l->code_from, 4);
	ret->name_len = walk_text(pid, l, word_at(raw, l->code_name - l->code_from), ret->name,
				  sizeof(ret->name), &ret->name_state);
	ret->file_len = walk_text(pid, l, word_at(raw, l->code_file - l->code_from), ret->file,
				  sizeof(ret->file), &ret->file_state);
	ret->table_addr = word_at(raw, l->code_table - l->code_from) + 32;
	return live_read(pid, ret->table_addr - 16, &ret->table_len, 8) &&
	       live_read(pid, ret->table_addr, ret->table,
			 (size_t)min_u64((uint64_t)ret->table_len, sizeof(ret->table)));
}

/* The interpreter's own frames, and those of a function that has not begun, are not for people. */
static inline bool walk_skips(int pid, const struct py_layout *l, const uint8_t *frame,
			      uint64_t code, int64_t lasti)
{
	int32_t traceable = 0;

	if (l->version < 0x30b)
		return false;
	if (frame[l->frame_owner] >= l->skip_owner || !code || code == l->none)
		return true;
	(void)live_read(pid, code + l->code_traceable, &traceable, sizeof(traceable));
	return frame[l->frame_owner] != 1 && lasti / 2 < traceable;
}

/*
 * An address inside the C frame of the loop that runs this frame, if it is the outermost there: up to
 * 3.11 that of a chain of its own, later that of the loop's own frame, which comes behind it.
 */
static inline void walk_anchor(int pid, const struct py_layout *l, const uint8_t *frame,
			       uint64_t *cframe, __u64 *ret)
{
	if (!l->frame_entry || !frame[l->frame_entry] || !*cframe)
		return;
	*ret = *cframe;
	if (!live_read(pid, *cframe + (uint64_t)l->cframe_previous, cframe, sizeof(*cframe)))
		*cframe = 0;
}

/* The top frame of the thread whose pthread_self() is `self`. */
static inline bool walk_top(int pid, const struct py_layout *l, uint64_t self, uint64_t *ret_cframe,
			    uint64_t *ret)
{
	uint64_t ts;
	uint32_t key;

	*ret_cframe = 0;
	if (!live_read(pid, l->key, &key, 4) ||
	    !live_read(pid, self + (uint64_t)l->tsd + key * (uint64_t)l->tsd_step, &ts, 8) ||
	    !live_read(pid, ts + (uint64_t)l->ts_frame, ret, 8))
		return false;
	if (l->cframe_current < 0)
		return true;
	*ret_cframe = *ret;
	return live_read(pid, *ret + (uint64_t)l->cframe_current, ret, 8);
}

/* The frames of that thread, told to s; false: not readable. */
static inline bool walk(int pid, const struct py_layout *l, uint64_t self, struct stacks *s,
			struct py_stack *ret)
{
	uint64_t at, code, cframe;

	*ret = (struct py_stack){ .kind = NEWS_stack, .pid = (uint32_t)pid, .id = 0x1234567 };
	ret->generation = l->generation;
	if (!walk_top(pid, l, self, &cframe, &at))
		return false;
	while (at && ret->frames < PY_FRAMES) {
		struct py_frame *f = &ret->frame[ret->frames];
		struct py_code record;
		uint8_t frame[128];
		int64_t lasti;

		if (!live_read(pid, at, frame, l->frame_size))
			return false;
		code = word_at(frame, l->frame_code) & ~7ull;
		lasti = (int64_t)(word_at(frame, l->frame_instr) - code - l->code_first_instr);
		if (l->version < 0x30b) {
			lasti = (int32_t)word_at(frame, l->frame_instr);
			lasti *= l->version == 0x309 ? 1 : 2;
		}
		if (walk_skips(pid, l, frame, code, lasti)) {
			if (ret->frames && frame[l->frame_owner] >= l->skip_owner)
				f[-1].anchor = at;
		} else {
			*f = (struct py_frame){ .code = code, .fp = 7, .lasti = (int32_t)lasti };
			ret->frames++;
			if (!walk_code(pid, l, code, &record) ||
			    !stacks_news(s, &record, sizeof(record)))
				return false;
			walk_anchor(pid, l, frame, &cframe, &f->anchor);
		}
		at = word_at(frame, l->frame_previous);
	}
	return stacks_news(s, ret, sizeof(*ret));
}

#endif
