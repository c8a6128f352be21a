// SPDX-License-Identifier: Apache-2.0
/*
 * The part of CPython's evaluation loop that a compiler moved elsewhere. In Debian's 3.14 that is nearly
 * all of it, and a stripped interpreter has no symbol for it. But the exported part jumps there.
 */
#include <stdlib.h>

#include "base/util.h"
#include "capture/elf.h"
#include "native/native_int.h"

#define CODE_MAX (256u << 10)
#define STRINGS_MAX (4u << 20) /* an interpreter has less; a larger table is not worth the search */

/* Where the exported part is, looked for once per file. */
static bool find_loop(struct image *im)
{
	const char *const names[] = { INTERPRETER_LOOP };
	struct elf_func func = { 0 };

	if (!im->loop_known && im->own.fd >= 0) {
		im->loop_known = true;
		if (im->dynsym.syms.size && im->dynsym.strings.size <= STRINGS_MAX &&
		    elf_find(im->own.fd, names, 1, &func) == 1 && func.size <= CODE_MAX)
			im->loop = (struct extent){ func.offset, func.size };
	}
	return im->loop.size;
}

/* x86-64: jmp rel32, and jcc rel32, which is a byte longer. */
static bool jumps_into(const uint8_t *code, size_t size, uint64_t addr, const struct want *w)
{
	for (size_t i = 1; i + 5 <= size; i++) {
		bool jcc = code[i - 1] == 0x0f && (code[i] & 0xf0) == 0x80;
		struct bytes b = bytes_of(code + i + 1, 4);
		uint64_t to;

		if (!jcc && code[i] != 0xe9)
			continue;
		to = addr + i + 5 + (uint64_t)bytes_signed(&b, 4);
		if (to >= w->func_start && to - w->func_start < w->func_size)
			return true;
	}
	return false;
}

bool cold_loop(const struct want *w)
{
	struct image *im = w->image;
	uint64_t addr;
	uint8_t *code;
	bool found;

	if (CFI_MACHINE != EM_X86_64 || !w->set_up || !find_loop(im) ||
	    !image_addr(im, im->loop.offset, &addr))
		return false;
	code = xcalloc(1, (size_t)im->loop.size);
	found = source_read(&im->own, im->loop.offset, code, (size_t)im->loop.size) &&
		jumps_into(code, (size_t)im->loop.size, addr, w);
	free(code);
	return found;
}
