/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process with an interpreter of any known version, to be found whole or bent. */
#ifndef TEST_UNIT_PYTHON_IMAGE_H
#define TEST_UNIT_PYTHON_IMAGE_H

#include <stdlib.h>
#include <string.h>

#include "python/python_int.h"

#define IMAGE_BASE 0x10000u
#define IMAGE_SIZE 0x10000u
#define IMAGE_THREADS 3
#define IMAGE_KEY ((size_t)5)

/* Offsets from IMAGE_BASE. */
enum {
	AT_RUNTIME = 0,
	AT_INTERP = 0x2000,
	AT_STATE = 0x6000, /* one each 0x400 */
	AT_SELF = 0x8000, /* one each 0x800 */
	AT_TYPE = 0xa000,
	AT_MEMBERS = 0xb000,
	AT_NAMES = 0xc000,
};

struct py_image {
	uint8_t bytes[IMAGE_SIZE];
	struct py_module mod;
	struct py_tsd tsd;
};

static inline bool image_read(void *arg, uint64_t addr, void *dst, size_t size)
{
	const struct py_image *im = arg;

	if (addr < IMAGE_BASE || addr - IMAGE_BASE > IMAGE_SIZE ||
	    size > IMAGE_SIZE - (addr - IMAGE_BASE))
		return false;
	memcpy(dst, im->bytes + (addr - IMAGE_BASE), size);
	return true;
}

static inline void put(struct py_image *im, size_t at, uint64_t value, size_t size)
{
	memcpy(im->bytes + at, &value, size);
}

static inline void image_members(struct py_image *im, const struct py_row *row)
{
	const struct {
		const char *name;
		uint16_t offset;
	} members[] = {
		{ "co_argcount", 16 },
		{ "co_firstlineno", row->layout.code_line },
		{ "co_filename", row->layout.code_file },
		{ row->version < 0x30b ? "co_name" : "co_qualname", row->layout.code_name },
		{ row->version < 0x30a ? "co_lnotab" : "co_linetable", row->layout.code_table },
	};

	put(im, AT_TYPE + 240, IMAGE_BASE + AT_MEMBERS, 8);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		put(im, AT_MEMBERS + i * 40, IMAGE_BASE + AT_NAMES + i * 32, 8);
		put(im, AT_MEMBERS + i * 40 + 16, members[i].offset, 8);
		memcpy(im->bytes + AT_NAMES + i * 32, members[i].name, strlen(members[i].name));
	}
}

/* What 3.13 and 3.14 say of themselves: { where, what }. */
static inline void image_offsets(struct py_image *im, const struct py_row *row)
{
	static const uint16_t said[2][20][2] = {
		{ { 72, 7344 }, { 168, 8 },   { 176, 16 },  { 184, 72 },  { 192, 152 },
		  { 200, 160 }, { 232, 8 },   { 240, 0 },   { 248, 56 },  { 264, 70 },
		  { 280, 112 }, { 288, 120 }, { 296, 128 }, { 304, 136 }, { 312, 68 },
		  { 344, 200 }, { 520, 16 },  { 528, 32 },  { 544, 32 },  { 552, 16 } },
		{ { 72, 7344 }, { 192, 8 },   { 200, 16 },  { 208, 72 },  { 216, 152 },
		  { 224, 160 }, { 256, 8 },   { 264, 0 },   { 272, 56 },  { 288, 74 },
		  { 320, 112 }, { 328, 120 }, { 336, 128 }, { 344, 136 }, { 352, 68 },
		  { 384, 208 }, { 600, 16 },  { 608, 32 },  { 624, 32 },  { 632, 16 } },
	};
	int which = row->version - 0x30d;

	if (which < 0)
		return;
	memcpy(im->bytes, PY_COOKIE, PY_COOKIE_LEN);
	put(im, 8, (uint64_t)row->version << 16, 8);
	for (int i = 0; i < 20; i++)
		put(im, said[which][i][0], said[which][i][1], 8);
	put(im, which ? 640 : 560, 40, 8);
}

static inline void image_build(struct py_image *im, unsigned version)
{
	const struct py_row *row = py_row(version);
	size_t gil = row->gil_own ? AT_INTERP + row->gil_own : AT_RUNTIME + row->gil;

	memset(im, 0, sizeof(*im));
	im->mod = (struct py_module){
		.runtime = IMAGE_BASE,
		.runtime_size = row->runtime_size[ARCH_HERE],
		.none = IMAGE_BASE + 8,
		.code_type = IMAGE_BASE + AT_TYPE,
	};
	memcpy(im->mod.name, "libpython3.NN.so", sizeof("libpython3.NN.so"));
	im->mod.name[11] = (char)(version < 0x30a ? '0' : '1');
	im->mod.name[12] = (char)('0' + (version & 0xff) % 10);
	im->tsd = (struct py_tsd){ .from = 792, .level2 = 512, .step = 16 };
	image_offsets(im, row);
	image_members(im, row);
	put(im, row->initialized, 1, 4);
	put(im, row->main, IMAGE_BASE + AT_INTERP, 8);
	put(im, row->key[ARCH_HERE] - 4u, 1, 4);
	put(im, row->key[ARCH_HERE], IMAGE_KEY, 4);
	put(im, AT_INTERP + row->threads, IMAGE_BASE + AT_STATE, 8);
	if (row->gil_own)
		put(im, AT_INTERP + row->gil, IMAGE_BASE + gil, 8);
	put(im, gil, 5000, 8);
	for (size_t i = 0; i < IMAGE_THREADS; i++) {
		size_t state = AT_STATE + i * 0x400, self = AT_SELF + i * 0x800;

		if (i + 1 < IMAGE_THREADS)
			put(im, state + 8, IMAGE_BASE + state + 0x400, 8);
		put(im, state + 16, IMAGE_BASE + AT_INTERP, 8);
		put(im, state + (size_t)row->layout.ts_thread, IMAGE_BASE + self, 8);
		put(im, self + 792 + IMAGE_KEY * 16, IMAGE_BASE + state, 8);
	}
}

static inline enum py_found image_check(struct py_image *im, struct py_layout *ret, char *why,
					size_t why_cap)
{
	struct mem m = { .read = image_read, .arg = im };

	memset(ret, 0, sizeof(*ret));
	return py_check(&m, &im->mod, &im->tsd, ret, why, why_cap);
}

#endif
