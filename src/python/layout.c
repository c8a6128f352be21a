// SPDX-License-Identifier: Apache-2.0
/*
 * Where the structures of CPython have their fields. No build of a minor version was seen to differ
 * in any of these (17 builds compared by their DWARF); aarch64 differs where pthread_mutex_t counts,
 * and has never been run.
 */
#include "python/python_int.h"

#include <stdio.h>

#include "base/util.h"

/* Unsigned offsets that a version does not have are 0: none of those fields is at 0 elsewhere. */
#define STRINGS_OLD .str_ascii = 48, .str_compact = 72
#define STRINGS_NEW .str_ascii = 40, .str_compact = 56
/* Before 3.12 with the object's head, which says whether it is alive: see probe/pymemo.bpf.h. */
#define CODE_OLD                                                                                   \
	.code_from = 0, .code_size = 128, .code_line = 40, .code_file = 104, .code_name = 112,     \
	.code_table = 120
/* Since 3.11. What is behind co_linetable moves as a block. */
#define CODE_NEW(from, line, first_instr)                                                          \
	.code_from = (from), .code_size = (first_instr)-16 + 4 - (from), .code_line = (line),      \
	.code_file = 112, .code_name = 128, .code_table = 136, .code_traceable = (first_instr)-16, \
	.code_first_instr = (first_instr)
#define FRAME_OLD(lasti)                                                                           \
	.ts_frame = 24, .ts_thread = 176, .frame_size = 112, .frame_previous = 24,                 \
	.frame_code = 32, .frame_instr = (lasti), .skip_owner = 255
#define FRAME_NEW(previous, code, owner)                                                           \
	.frame_size = 80, .frame_previous = (previous), .frame_code = (code), .frame_instr = 56,   \
	.frame_owner = (owner), .skip_owner = 3
/* 3.10 has a chain of C frames too, but one Python frame for each: nothing to tell apart. */
#define NO_CFRAME .cframe_current = -1, .cframe_previous = -1

static const struct py_row rows[] = {
	{ .version = 0x309,
	  .key = { 588, 604 },
	  .initialized = 12,
	  .main = 40,
	  .runtime_size = { 656, 672 },
	  .threads = 8,
	  .gil = 352,
	  .ts_native = -1,
	  .layout = { .gc_collecting = 816, NO_CFRAME, FRAME_OLD(104), CODE_OLD, STRINGS_OLD } },
	{ .version = 0x30a,
	  .key = { 588, 604 },
	  .initialized = 12,
	  .main = 40,
	  .runtime_size = { 672, 0 },
	  .threads = 8,
	  .gil = 352,
	  .ts_native = -1,
	  .layout = { .gc_collecting = 816, NO_CFRAME, FRAME_OLD(96), CODE_OLD, STRINGS_OLD } },
	{ .version = 0x30b,
	  .key = { 596, 612 },
	  .initialized = 16,
	  .main = 48,
	  .threads = 16,
	  .gil = 360,
	  .ts_native = 160,
	  .layout = { .gc_collecting = 848,
		      .ts_frame = 56,
		      .ts_thread = 152,
		      .cframe_current = 8,
		      .cframe_previous = 16,
		      FRAME_NEW(48, 32, 69),
		      .frame_entry = 68,
		      CODE_NEW(0, 72, 184),
		      STRINGS_OLD } },
	{ .version = 0x30c,
	  .key = { 1548, 1548 },
	  .initialized = 16,
	  .main = 48,
	  .threads = 72,
	  .gil = 384,
	  .gil_own = 1040,
	  .ts_native = 144,
	  .layout = { .gc_collecting = 312,
		      .ts_frame = 56,
		      .ts_thread = 136,
		      .cframe_current = 0,
		      .cframe_previous = 8,
		      FRAME_NEW(8, 0, 70),
		      CODE_NEW(48, 68, 192),
		      .code_version = 92,
		      STRINGS_NEW } },
	{ .version = 0x30d,
	  .key = { 2164, 2164 },
	  .initialized = 600,
	  .main = 640,
	  .threads = 7344,
	  .gil = 16,
	  .gil_own = 7752,
	  .ts_native = 160,
	  .layout = { .gc_collecting = 7600,
		      .ts_frame = 72,
		      .ts_thread = 152,
		      NO_CFRAME,
		      FRAME_NEW(8, 0, 70),
		      CODE_NEW(48, 68, 200),
		      .code_version = 92,
		      STRINGS_NEW } },
	{ .version = 0x30e,
	  .key = { 2340, 2340 },
	  .initialized = 776,
	  .main = 816,
	  .threads = 7344,
	  .gil = 16,
	  .gil_own = 7784,
	  .ts_native = 160,
	  .layout = { .ts_frame = 72,
		      .ts_thread = 152,
		      NO_CFRAME,
		      FRAME_NEW(8, 0, 74),
		      CODE_NEW(48, 68, 208),
		      .code_version = 92,
		      STRINGS_NEW } },
};

const struct py_row *py_row(unsigned version)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].version == version)
			return &rows[i];
	}
	return NULL;
}

/* ---- _Py_DebugOffsets: its own layout is that of its minor version */

#define OFFSETS_SIZE 760

/* Where it says what, in 3.13 and in 3.14, and what the row has. */
struct fact {
	const char *name;
	uint16_t at[2];
	uint64_t want;
};

bool py_offsets_agree(const struct mem *m, const struct py_row *row, uint64_t runtime, char *why,
		      size_t why_cap)
{
	const struct py_layout *l = &row->layout;
	const struct fact facts[] = {
		{ "threads_head", { 72, 72 }, row->threads },
		{ "next thread", { 168, 192 }, 8 },
		{ "interp", { 176, 200 }, 16 },
		{ "current_frame", { 184, 208 }, (uint64_t)l->ts_frame },
		{ "thread_id", { 192, 216 }, (uint64_t)l->ts_thread },
		{ "native_thread_id", { 200, 224 }, (uint64_t)row->ts_native },
		{ "frame previous", { 232, 256 }, l->frame_previous },
		{ "frame executable", { 240, 264 }, l->frame_code },
		{ "frame instr_ptr", { 248, 272 }, l->frame_instr },
		{ "frame owner", { 264, 288 }, l->frame_owner },
		{ "co_filename", { 280, 320 }, l->code_file },
		{ "co_qualname", { 296, 336 }, l->code_name },
		{ "co_linetable", { 304, 344 }, l->code_table },
		{ "co_firstlineno", { 312, 352 }, l->code_line },
		{ "co_code_adaptive", { 344, 384 }, l->code_first_instr },
		{ "bytes size", { 520, 600 }, 16 },
		{ "bytes data", { 528, 608 }, 32 },
		{ "str state", { 544, 624 }, 32 },
		{ "str length", { 552, 632 }, 16 },
		{ "str data", { 560, 640 }, l->str_ascii },
	};
	size_t size = row->version == 0x30d ? 584 : OFFSETS_SIZE;
	char raw[OFFSETS_SIZE];
	uint64_t said;

	if (row->version < 0x30d)
		return true;
	if (!m->read(m->arg, runtime, raw, size) || memcmp(raw, PY_COOKIE, PY_COOKIE_LEN) != 0) {
		snprintf(why, why_cap, "no debug offsets at 0x%llx, where _PyRuntime should be",
			 (unsigned long long)runtime);
		return false;
	}
	memcpy(&said, raw + 16, sizeof(said));
	if (said) {
		snprintf(why, why_cap, "it is a free-threaded build (free_threaded is %llu)",
			 (unsigned long long)said);
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		memcpy(&said, raw + facts[i].at[row->version != 0x30d], sizeof(said));
		if (said != facts[i].want) {
			snprintf(why, why_cap, "%s is at %llu, not at %llu as in every known build",
				 facts[i].name, (unsigned long long)said,
				 (unsigned long long)facts[i].want);
			return false;
		}
	}
	return true;
}
