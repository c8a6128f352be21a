// SPDX-License-Identifier: Apache-2.0
/* The function that frees code objects: in images of files, whole and bent, and in real interpreters. */
#include "capture/frees.h"

#include <errno.h>

#include "capture/elf_file.h"
#include "capture/maps.h"
#include "test/test.h"
#include "test/unit/frees_image.h"
#include "test/unit/python_live.h"

static int site_of(uint64_t type, uint64_t slot, uint64_t *ret)
{
	int fd = to_file(im.bytes, IMAGE), err = frees_site(fd, type, slot, ret);

	close(fd);
	return err;
}

static int site(uint64_t *ret)
{
	return site_of(BIAS + TYPE, BIAS + FREES, ret);
}

TEST(frees_are_found_by_the_type_s_relocation)
{
	uint64_t offset = 0;

	build_python();
	CHECK(!site(&offset));
	CHECK_U64(offset, FREES - TEXT_ADDR + OFF_TEXT);
	memcpy(at(&im, offset), "\xf3\x0f\x1e\xfa\x55", 5); /* endbr64 first */
	CHECK(!site(&offset));
	CHECK_U64(offset, FREES - TEXT_ADDR + OFF_TEXT + 4);
	return 0;
}

TEST(frees_are_found_in_the_data_where_nothing_is_relocated)
{
	uint64_t offset = 0, value = FREES;

	build_python();
	reloc(1)->r_offset = TYPE;
	CHECK(site(&offset) == -ENOENT); /* it is 0 there */
	memcpy(at(&im, TYPE + FREES_SLOT), &value, sizeof(value));
	CHECK(!site(&offset));
	CHECK_U64(offset, FREES - TEXT_ADDR + OFF_TEXT);
	dyn(&im, 4)->d_tag = DT_DEBUG; /* no table at all, and fixed addresses */
	ehdr(&im)->e_type = ET_EXEC;
	CHECK(!site_of(TYPE, FREES, &offset));
	return 0;
}

TEST(frees_of_a_process_that_says_something_else_are_not_probed)
{
	uint64_t offset = 7;

	build_python();
	CHECK(site_of(BIAS + TYPE, BIAS + FREES + 1, &offset) == -EBADMSG);
	CHECK(site_of(BIAS + TYPE + 4096, BIAS + FREES, &offset) == -EBADMSG);
	CHECK(site_of(0, 0, &offset) == -EBADMSG);
	CHECK_U64(offset, 7);
	return 0;
}

TEST(frees_that_are_dear_to_probe_are_not_probed)
{
	uint64_t offset = 7;

	build_python();
	im.bytes[FREES - TEXT_ADDR + OFF_TEXT] = 0x5d; /* pop, which runs under single step */
	memcpy(at(&im, FREES - TEXT_ADDR + OFF_TEXT), "\x48\x89\xfb", 3);
	CHECK(site(&offset) == -ENOTSUP);
	im.bytes[FREES - TEXT_ADDR + OFF_TEXT] = (char)0xcc;
	CHECK(site(&offset) == -ENOTSUP);
	CHECK_U64(offset, 7);
	return 0;
}

TEST(frees_of_a_file_that_contradicts_itself_are_not_probed)
{
	uint64_t offset = 7;

	build_python();
	reloc(1)->r_addend = OFF_DYNSYM; /* no code */
	CHECK(site_of(BIAS + TYPE, BIAS + OFF_DYNSYM, &offset) == -ENOENT);
	build_python();
	reloc(1)->r_info = ELF64_R_INFO(1, R_X86_64_64); /* a symbol, perhaps of another file */
	CHECK(site(&offset) == -ENOENT);
	build_python();
	dyn(&im, 5)->d_un.d_val = IMAGE; /* beyond its segment */
	CHECK(site(&offset) == -ENOENT);
	dyn(&im, 5)->d_un.d_val = UINT64_MAX;
	CHECK(site(&offset) == -ENOENT);
	build_python();
	dyn(&im, 6)->d_un.d_val = 8; /* entries of another size */
	CHECK(site(&offset) == -ENOENT);
	build_python();
	dyn(&im, 4)->d_un.d_val = 0x7000000; /* in no segment */
	CHECK(site(&offset) == -ENOENT);
	build(&im); /* no such type */
	CHECK(site(&offset) == -ENOENT);
	memset(im.bytes, 0, 4);
	CHECK(site(&offset) == -ENOEXEC);
	CHECK_U64(offset, 7);
	return 0;
}

/* ---- real ones */

struct mapped {
	int pid, fd;
	uint64_t addr, code, offset; /* `code` is at that offset of its file */
};

static int open_mapped(const struct map_line *line, void *arg)
{
	struct mapped *m = arg;

	if (m->addr >= line->start && m->addr < line->end)
		m->fd = maps_open(m->pid, line);
	if (m->code >= line->start && m->code < line->end && line->exec)
		m->offset = m->code - line->start + line->offset;
	return 0;
}

TEST(frees_of_every_installed_python_without_numbers_can_be_probed)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		struct mapped m = { .fd = -1 };
		uint64_t offset = 0;
		struct py_layout l;
		struct live live;
		char text[200];
		int err = -ENOENT;

		CHECK(live_start(&live, all.path[i],
				 "import time\nprint(1, flush=True)\ntime.sleep(60)\n"));
		CHECK(py_find(live.pid, &l, text, sizeof(text)) == PY_FOUND);
		m.pid = live.pid;
		m.addr = l.code_type;
		if (l.code_type &&
		    live_read(live.pid, l.code_type + FREES_SLOT, &m.code, sizeof(m.code)) &&
		    !maps_each(live.pid, open_mapped, &m))
			err = frees_site(m.fd, l.code_type, m.code, &offset);
		if (m.fd >= 0)
			close(m.fd);
		live_stop(&live);
		CHECK(!l.code_type == (l.version >= 0x30c));
		if (l.version >= 0x30c)
			continue;
		if (err)
			return test_fail(__FILE__, __LINE__, "%s: %d", all.path[i], err);
		CHECK(offset == m.offset || offset == m.offset + 4);
	}
	return 0;
}
