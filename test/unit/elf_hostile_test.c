// SPDX-License-Identifier: Apache-2.0
/* ELF files that lie, are cut off, or ask for endless work. */
#include "capture/elf.h"

#include <errno.h>
#include <fcntl.h>

#include "test/test.h"
#include "test/unit/elf_image.h"

TEST(elf_refuses_what_it_cannot_read)
{
	struct elf_func got[3];
	struct image im;
	int fd;

	build(&im);
	ehdr(&im)->e_machine = EM_PPC64;
	CHECK(find(&im, got) == -ENOTSUP);
	build(&im);
	ehdr(&im)->e_ident[EI_DATA] = ELFDATA2MSB;
	CHECK(find(&im, got) == -ENOTSUP);
	build(&im);
	ehdr(&im)->e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(find(&im, got) == -ENOEXEC);
	build(&im);
	ehdr(&im)->e_type = ET_REL;
	CHECK(find(&im, got) == -ENOEXEC);
	CHECK(find_sized(&im, 0, got) == -ENOEXEC);
	CHECK(find_sized(&im, 63, got) == -ENOEXEC);

	fd = open("/", O_RDONLY | O_DIRECTORY);
	CHECK(elf_find(fd, names, 3, got) == -ENOEXEC);
	close(fd);
	CHECK(elf_find(-1, names, 3, got) == -EBADF);
	return 0;
}

TEST(elf_refuses_segments_beyond_the_file)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	phdr(&im, 1)->p_filesz += 1;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	phdr(&im, 1)->p_offset = UINT64_MAX - 0x10;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	phdr(&im, 1)->p_vaddr = UINT64_MAX - 0x10;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	ehdr(&im)->e_phoff = UINT64_MAX - 0x10;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	ehdr(&im)->e_phnum = UINT16_MAX;
	CHECK(find(&im, got) == -EBADMSG);
	return 0;
}

TEST(elf_refuses_symbol_tables_beyond_the_file)
{
	struct elf_func got[3];
	struct image im;

	build(&im);
	shdr(&im, S_DYNSYM)->sh_size = UINT64_MAX;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	shdr(&im, S_DYNSYM)->sh_offset = UINT64_MAX - 8;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	shdr(&im, S_DYNSTR)->sh_size = IMAGE;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	shdr(&im, S_DYNSYM)->sh_link = S_COUNT;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	shdr(&im, S_DYNSYM)->sh_link = S_DYNSYM;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	shdr(&im, S_DYNSYM)->sh_entsize = 0;
	CHECK(find(&im, got) == -EBADMSG);
	return 0;
}

TEST(elf_refuses_hash_tables_that_lead_nowhere)
{
	struct elf_func got[3];
	struct image im;
	uint32_t *gnu = at(&im, OFF_GNU_HASH);

	build(&im);
	strip_sections(&im);
	gnu[0] = UINT32_MAX;
	CHECK(find(&im, got) == -EBADMSG);
	gnu[0] = 1;
	gnu[2] = UINT32_MAX;
	CHECK(find(&im, got) == -EBADMSG);
	gnu[2] = 1;
	gnu[6] = UINT32_MAX;
	CHECK(find(&im, got) == -E2BIG);
	gnu[6] = 1;
	memset(im.bytes + OFF_SHDR, 0, OFF_TEXT - OFF_SHDR); /* a chain without its end mark */
	memcpy(im.bytes + OFF_SHDR, gnu, 28);
	dyn(&im, 3)->d_un.d_ptr = OFF_SHDR;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	strip_sections(&im);
	dyn(&im, 3)->d_un.d_ptr = UINT64_MAX;
	CHECK(find(&im, got) == -EBADMSG);
	build(&im);
	strip_sections(&im);
	dyn(&im, 0)->d_un.d_ptr = OFF_TEXT - 8;
	CHECK(find(&im, got) == -EBADMSG);
	return 0;
}

TEST(elf_refuses_work_without_bound)
{
	struct elf_func got[3];
	struct image im;
	int fd;

	build(&im);
	ehdr(&im)->e_shnum = 0;
	shdr(&im, 0)->sh_size = 1u << 20;
	CHECK(find(&im, got) == -E2BIG);

	/* A sparse file makes enormous tables cheap to claim. */
	build(&im);
	shdr(&im, S_DYNSYM)->sh_size = 1ull << 31;
	fd = to_file(im.bytes, IMAGE);
	CHECK(!ftruncate(fd, 3ll << 30));
	CHECK(elf_find(fd, names, 3, got) == -E2BIG);
	CHECK(!ftruncate(fd, 5ll << 30));
	CHECK(elf_find(fd, names, 3, got) == -E2BIG);
	close(fd);
	return 0;
}

TEST(elf_survives_every_truncation)
{
	struct elf_func got[3];
	struct image im;

	for (int stripped = 0; stripped < 2; stripped++) {
		build(&im);
		if (stripped)
			strip_sections(&im);
		for (size_t len = 0; len < IMAGE; len += len < OFF_TEXT ? 1 : 64)
			CHECK(find_sized(&im, len, got) < 0);
	}
	return 0;
}

TEST(elf_survives_every_flipped_byte)
{
	struct elf_func got[3];
	struct image im;

	for (int stripped = 0; stripped < 2; stripped++) {
		build(&im);
		if (stripped)
			strip_sections(&im);
		for (size_t i = 0; i < OFF_TEXT; i++) {
			im.bytes[i] = (char)~im.bytes[i];
			CHECK(find(&im, got) <= 2);
			im.bytes[i] = (char)~im.bytes[i];
		}
	}
	return 0;
}

TEST(elf_survives_notes_of_any_size)
{
	char id[129];
	struct image im;

	for (size_t i = 0; i < 40; i++) {
		int fd;

		build(&im);
		im.bytes[OFF_NOTE + i] = (char)0xff;
		fd = to_file(im.bytes, IMAGE);
		CHECK(elf_build_id(fd, id, sizeof(id)) <= 0);
		close(fd);
	}
	return 0;
}
