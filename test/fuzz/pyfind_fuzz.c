// SPDX-License-Identifier: Apache-2.0
/*
 * Any file as the interpreter's, and any memory as that of its process: the input as it is, and as
 * changes to what would be found.
 */
#include "base/text.h"
#include "test/unit/elf_image.h"
#include "test/unit/python_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define RUNTIME_HASH 0x88b5a111u /* of the symbol's name */

static void need(bool cond)
{
	if (!cond)
		abort();
}

static void check_file(const void *bytes, size_t len)
{
	struct py_module mod = { .runtime = 0 };
	int fd = to_file(bytes, len);

	for (int slowly = 0; slowly < 2; slowly++)
		(void)py_module_in(fd, 0x7f0000000000, 0, slowly, &mod);
	close(fd);
}

static void check_memory(struct py_image *im)
{
	struct py_layout l;
	char why[200] = "", again[800];
	enum py_found found = image_check(im, &l, why, sizeof(why));

	need(why[0] && !strcmp(text_safe(again, sizeof(again), why), why));
	need(found != PY_NONE);
	if (found == PY_FOUND)
		need(l.version >= 0x309 && l.version <= 0x30e && l.key);
}

/* Where, two bytes, and what to put there, in front of a bit that says into what. */
static void change(struct image *file, struct py_image *im, const uint8_t *data, size_t len)
{
	for (; len >= 4; data += 4, len -= 4) {
		size_t where = (size_t)data[0] | (size_t)data[1] << 8;

		if (data[3] & 1)
			im->bytes[where % sizeof(im->bytes)] = data[2];
		else
			file->bytes[where % sizeof(file->bytes)] = (char)data[2];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct image file;
	static struct py_image im;
	uint32_t *gnu;

	check_file(data, len);
	if (len < 2)
		return 0;
	build(&file);
	add_sym(&file, "_PyRuntime", TEXT_ADDR)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	gnu = at(&file, OFF_GNU_HASH);
	gnu[6 + file.n_syms - 1] = RUNTIME_HASH | 1;
	image_build(&im, 0x309 + data[0] % 6);
	im.tsd.indirect = data[1] & 1;
	if (data[1] & 2)
		im.mod.version = IMAGE_BASE + 0x5000;
	change(&file, &im, data + 2, len - 2);
	check_file(file.bytes, sizeof(file.bytes));
	check_memory(&im);
	return 0;
}
