// SPDX-License-Identifier: Apache-2.0
/* Functions are found, in images built here and in two real files. */
#include "capture/elf.h"

#include <errno.h>
#include <fcntl.h>

#include "capture/maps.h"
#include "test/test.h"
#include "test/unit/elf_image.h"

TEST(elf_finds_functions_through_section_headers)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	phdr(&im, 2)->p_type = PT_NULL;
	CHECK(find(&im, got) == 2);
	CHECK(got[0].found && got[0].offset == OFF_TEXT && got[0].size == 16);
	CHECK(got[1].found && got[1].offset == OFF_TEXT + 0x100);
	CHECK(!got[2].found);
	return 0;
}

TEST(elf_finds_functions_without_section_headers)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	strip_sections(&im);
	CHECK(find(&im, got) == 2);
	CHECK(got[1].found && got[1].offset == OFF_TEXT + 0x100);
	return 0;
}

TEST(elf_counts_symbols_by_the_old_hash_too)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	strip_sections(&im);
	dyn(&im, 3)->d_tag = DT_HASH;
	dyn(&im, 3)->d_un.d_ptr = OFF_HASH;
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_uses_the_dynamic_segment_when_section_headers_lie_outside)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	ehdr(&im)->e_shoff = IMAGE - 8;
	CHECK(find(&im, got) == 2);
	ehdr(&im)->e_shoff = UINT64_MAX - 8;
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_reads_arm_libraries)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	ehdr(&im)->e_machine = EM_AARCH64;
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_looks_into_symtab_for_what_is_not_exported)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	shdr(&im, S_DYNSYM)->sh_type = SHT_SYMTAB;
	phdr(&im, 2)->p_type = PT_NULL;
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_keeps_the_exports_when_symtab_is_broken)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	*shdr(&im, S_TEXT) = *shdr(&im, S_DYNSYM);
	shdr(&im, S_TEXT)->sh_type = SHT_SYMTAB;
	shdr(&im, S_TEXT)->sh_offset = UINT64_MAX - 100;
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_reports_two_names_at_one_address)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	add_sym(&im, "cuNothing", TEXT_ADDR);
	CHECK(find(&im, got) == 3);
	CHECK(got[2].offset == got[0].offset);
	return 0;
}

TEST(elf_finds_a_name_that_shares_its_text_with_a_longer_one)
{
	struct elf_func got[3];
	struct image im;
	Elf64_Sym *s;

	build(&im);
	s = add_sym(&im, "not_cuNothing", TEXT_ADDR + 0x200);
	CHECK(find(&im, got) == 2);
	s->st_name += 4;
	CHECK(find(&im, got) == 3);
	CHECK(got[2].offset == OFF_TEXT + 0x200);
	return 0;
}

TEST(elf_takes_the_first_of_two_symbols_with_one_name)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	add_sym(&im, "cuInit", TEXT_ADDR + 0x300);
	CHECK(find(&im, got) == 2);
	CHECK(got[0].offset == OFF_TEXT);
	return 0;
}

TEST(elf_ignores_symbols_that_are_not_defined_functions)
{
	struct elf_func got[3];
	struct image im;
	Elf64_Sym *s;

	build(&im);
	s = add_sym(&im, "cuNothing", TEXT_ADDR);
	s->st_shndx = SHN_UNDEF;
	CHECK(find(&im, got) == 2);
	s->st_shndx = S_TEXT;
	s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	CHECK(find(&im, got) == 2);
	s->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	CHECK(find(&im, got) == 2);
	return 0;
}

TEST(elf_ignores_symbols_outside_executable_segments)
{
	static const uint64_t values[] = { 0, 0x10, TEXT_ADDR - 1, TEXT_ADDR + IMAGE - OFF_TEXT,
					   UINT64_MAX };
	struct elf_func got[3];
	struct image im;
	Elf64_Sym *s;

	build(&im);
	s = add_sym(&im, "cuNothing", 0);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		s->st_value = values[i];
		CHECK(find(&im, got) == 2);
	}
	s->st_value = TEXT_ADDR + IMAGE - OFF_TEXT - 1;
	CHECK(find(&im, got) == 3);
	return 0;
}

TEST(elf_does_not_believe_a_function_size_beyond_its_segment)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	sym(&im, 2)->st_size = UINT64_MAX;
	CHECK(find(&im, got) == 2);
	CHECK_U64(got[1].size, IMAGE - OFF_TEXT - 0x100);
	return 0;
}

/* More strings and symbols than one read takes, and a name across the border of two reads. */
TEST(elf_finds_names_across_the_borders_of_its_buffer)
{
	enum { SYMS = 10000, NAMES = 200000, AT_SYMS = IMAGE, AT_NAMES = AT_SYMS + SYMS * 24 };
	struct elf_func got[3];
	struct image im;
	int fd;

	build(&im);
	shdr(&im, S_DYNSYM)->sh_offset = AT_SYMS;
	shdr(&im, S_DYNSYM)->sh_size = SYMS * sizeof(Elf64_Sym);
	shdr(&im, S_DYNSTR)->sh_offset = AT_NAMES;
	shdr(&im, S_DYNSTR)->sh_size = NAMES;
	fd = to_file(im.bytes, IMAGE);
	CHECK(!ftruncate(fd, AT_NAMES + NAMES));
	for (uint32_t pos = 65536 - 8; pos <= 65536 + 1; pos++) {
		Elf64_Sym s = *sym(&im, 1);

		s.st_name = pos;
		CHECK(pwrite(fd, "\0cuInit", 8, AT_NAMES + pos - 1) == 8);
		CHECK(pwrite(fd, &s, sizeof(s), AT_SYMS + (SYMS - 1) * 24) == sizeof(s));
		CHECK(elf_find(fd, names, 3, got) == 1);
		CHECK(got[0].found && got[0].offset == OFF_TEXT);
	}
	close(fd);
	return 0;
}

TEST(elf_reads_the_build_id)
{
	char id[129] = "x";
	struct image im;
	int fd;

	build(&im);
	fd = to_file(im.bytes, IMAGE);
	CHECK(!elf_build_id(fd, id, sizeof(id)));
	CHECK_STR(id, "deadbeef");
	CHECK(elf_build_id(fd, id, 8) == -E2BIG);
	CHECK_STR(id, "");
	close(fd);

	phdr(&im, 3)->p_type = PT_NULL;
	fd = to_file(im.bytes, IMAGE);
	CHECK(!elf_build_id(fd, id, sizeof(id)));
	CHECK_STR(id, "");
	close(fd);
	return 0;
}

struct place {
	uint64_t addr, offset;
};

static int place_in(const struct map_line *line, void *arg)
{
	struct place *p = arg;

	if (p->addr < line->start || p->addr >= line->end)
		return 0;
	p->offset = p->addr - line->start + line->offset;
	return 1;
}

TEST(elf_finds_our_own_functions_where_they_are)
{
	static const char *const own[] = { "elf_find", "elf_build_id" };
	struct place p = { .addr = (uint64_t)(uintptr_t)elf_find };
	struct elf_func got[2];
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK(maps_each(getpid(), place_in, &p) == 1);
	CHECK(elf_find(fd, own, 2, got) == 2);
	CHECK_U64(got[0].offset, p.offset);
	close(fd);
	return 0;
}

TEST(elf_reads_the_system_s_libc)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6",
					     "/lib64/libc.so.6" };
	static const char *const want[] = { "getpid", "malloc", "cudaMalloc", "dup2" };
	struct elf_func got[4];
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < ARRAY_LEN(paths); i++)
		fd = open(paths[i], O_RDONLY);
	if (fd < 0)
		return 0; /* another libc */
	CHECK(elf_find(fd, want, 4, got) == 3);
	CHECK(got[0].found && got[1].found && !got[2].found && got[3].found);
	CHECK(got[0].size > 0 && got[0].size < 4096);
	close(fd);
	return 0;
}
