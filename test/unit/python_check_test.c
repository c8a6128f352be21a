// SPDX-License-Identifier: Apache-2.0
/* What py_find() refuses, and what it says: processes that are wrong in one place each. */
#include "test/test.h"
#include "test/unit/elf_image.h"
#include "test/unit/python_image.h"

static struct py_image im;
static struct py_layout layout;
static char why_not[200];

static enum py_found check(void)
{
	return image_check(&im, &layout, why_not, sizeof(why_not));
}

TEST(python_of_every_known_version_is_accepted)
{
	for (unsigned version = 0x309; version <= 0x30e; version++) {
		image_build(&im, version);
		CHECK(check() == PY_FOUND);
		CHECK(strstr(why_not, ", 3 of 3 threads checked"));
		CHECK(layout.version == version && layout.tsd == 792 && layout.gil);
		CHECK_U64(layout.key, IMAGE_BASE + py_row(version)->key[ARCH_HERE]);
		CHECK_U64(layout.none, IMAGE_BASE + 8);
		CHECK(layout.code_size <= 172 && layout.frame_size <= 112);
		/* Where code objects have no number, their head is read along: see probe/pymemo.bpf.h. */
		CHECK(layout.code_version || (!layout.code_from && layout.code_type));
		CHECK(!layout.code_version || !layout.code_type);
	}
	return 0;
}

TEST(python_keys_beyond_the_first_block_are_followed)
{
	image_build(&im, 0x30c);
	put(&im, 1548, 37, 4);
	for (size_t i = 0; i < IMAGE_THREADS; i++) {
		size_t self = AT_SELF + i * 0x800;

		put(&im, self + 784 + 512 + 8, IMAGE_BASE + self + 0x700, 8);
		put(&im, self + 0x700 + 88, IMAGE_BASE + AT_STATE + i * 0x400, 8);
	}
	CHECK(check() == PY_FOUND);
	im.tsd = (struct py_tsd){ .from = 128, .step = 8, .indirect = 1 };
	for (size_t i = 0; i < IMAGE_THREADS; i++) {
		size_t self = AT_SELF + i * 0x800;

		put(&im, self + 128, IMAGE_BASE + self + 0x200, 8);
		put(&im, self + 0x200 + 296, IMAGE_BASE + AT_STATE + i * 0x400, 8);
	}
	CHECK(check() == PY_FOUND && layout.tsd_indirect);
	return 0;
}

TEST(python_versions_that_are_not_known_are_refused)
{
	image_build(&im, 0x309);
	memcpy(im.mod.name, "libpython3.8.so", sizeof("libpython3.8.so"));
	CHECK(check() == PY_REFUSED && layout.version == 0x308);
	CHECK_STR(why_not, "Python 3.8 in libpython3.8.so is not among 3.9 to 3.14");
	memcpy(im.mod.name, "uwsgi", sizeof("uwsgi"));
	CHECK(check() == PY_REFUSED);
	CHECK_STR(why_not, "the version of the Python in uwsgi is not known");
	put(&im, 0x4000, 0x030f0000, 8);
	im.mod.version = IMAGE_BASE + 0x4000;
	CHECK(check() == PY_REFUSED && strstr(why_not, "Python 3.15 "));
	return 0;
}

TEST(python_that_has_not_begun_is_early)
{
	image_build(&im, 0x30b);
	put(&im, 16, 0, 4);
	CHECK(check() == PY_EARLY);
	image_build(&im, 0x30b);
	put(&im, 592, 0, 4);
	CHECK(check() == PY_EARLY);
	image_build(&im, 0x30b);
	put(&im, AT_INTERP + 16, 0, 8);
	CHECK(check() == PY_EARLY);
	return 0;
}

TEST(python_with_other_offsets_is_refused)
{
	image_build(&im, 0x309);
	im.mod.runtime_size = 672;
	CHECK(check() == PY_REFUSED);
	CHECK_STR(why_not, "its _PyRuntime has 672 bytes, not 656 as in every known build");

	image_build(&im, 0x30d);
	put(&im, 16, 1, 8);
	CHECK(check() == PY_REFUSED && strstr(why_not, "free-threaded"));
	image_build(&im, 0x30e);
	put(&im, 288, 70, 8);
	CHECK(check() == PY_REFUSED);
	CHECK_STR(why_not, "frame owner is at 70, not at 74 as in every known build");
	image_build(&im, 0x30e);
	im.bytes[0] = 'y';
	CHECK(check() == PY_REFUSED && strstr(why_not, "no debug offsets at 0x10000"));

	image_build(&im, 0x30a);
	put(&im, AT_MEMBERS + 2 * 40 + 16, 96, 8);
	CHECK(check() == PY_REFUSED);
	CHECK_STR(why_not, "co_filename is at 96, not at 104 as in every known build");
	image_build(&im, 0x30a);
	put(&im, AT_TYPE + 240, 0, 8);
	CHECK(check() == PY_REFUSED && strstr(why_not, "0 of 4 known members"));
	return 0;
}

TEST(python_whose_threads_keep_something_else_is_refused)
{
	image_build(&im, 0x30c);
	im.tsd.from = 800;
	CHECK(check() == PY_REFUSED);
	CHECK_STR(why_not, "none of its 3 threads keeps its state under key 5 at 800");

	image_build(&im, 0x30c);
	put(&im, AT_SELF + 0x800 + 792 + IMAGE_KEY * 16, 0, 8); /* one has just begun */
	CHECK(check() == PY_FOUND && strstr(why_not, "2 of 3 threads"));

	put(&im, AT_STATE + 8, IMAGE_BASE + AT_STATE, 8); /* a list without an end */
	CHECK(check() == PY_FOUND && strstr(why_not, "4096 of 4096"));

	image_build(&im, 0x30c);
	put(&im, 1548, 1024, 4);
	CHECK(check() == PY_REFUSED && strstr(why_not, "key 1024"));
	im.mod.runtime = 0x7000000;
	CHECK(check() == PY_REFUSED && strstr(why_not, "0x7000000 cannot be read"));
	return 0;
}

TEST(python_without_a_sensible_lock_is_found_all_the_same)
{
	image_build(&im, 0x30c);
	put(&im, AT_INTERP + 384, IMAGE_BASE + AT_INTERP, 8); /* the lock of another interpreter */
	CHECK(check() == PY_FOUND && !layout.gil);
	image_build(&im, 0x30a);
	put(&im, 352, 0, 8);
	CHECK(check() == PY_FOUND && !layout.gil);
	return 0;
}

/* ---- the file */

static struct image file;

static bool look(bool slowly, struct py_module *ret)
{
	int fd = to_file(file.bytes, IMAGE);
	bool found;

	memset(ret, 0, sizeof(*ret));
	found = py_module_in(fd, 0x7f0000000000, 0, slowly, ret);
	close(fd);
	return found;
}

static void add_object(const char *name, uint64_t addr, uint32_t hash)
{
	uint32_t *gnu = at(&file, OFF_GNU_HASH);

	add_sym(&file, name, addr)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	for (uint32_t i = 1; i < file.n_syms; i++)
		gnu[6 + i] &= 1;
	gnu[6 + file.n_syms - 1] |= hash & ~1u;
}

TEST(python_is_found_in_a_file_by_its_symbol)
{
	struct py_module mod;

	build(&file);
	CHECK(!look(false, &mod) && !look(true, &mod));
	add_object("_PyRuntime", TEXT_ADDR + 0x40, 0x88b5a111);
	CHECK(look(false, &mod) && look(true, &mod));
	CHECK_U64(mod.runtime, 0x7f0000000000 + TEXT_ADDR + 0x40);
	CHECK_U64(mod.runtime_size, 16);
	CHECK(!mod.none && !mod.version);

	sym(&file, 3)->st_shndx = SHN_UNDEF; /* one that only uses it */
	CHECK(!look(false, &mod) && !look(true, &mod));
	sym(&file, 3)->st_shndx = S_TEXT;
	((uint32_t *)at(&file, OFF_GNU_HASH))[0] = 0; /* no buckets */
	CHECK(!look(false, &mod) && look(true, &mod));
	file.bytes[0] = 'X';
	CHECK(!look(true, &mod));
	return 0;
}
