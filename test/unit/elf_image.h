/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF images for the tests of elf.c, to be found whole or bent before use. */
#ifndef TEST_UNIT_ELF_IMAGE_H
#define TEST_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "capture/elf.h"

/*
 * The layout of every image: tables in a first, readable segment at address 0, code in a second
 * one whose addresses differ from its offsets.
 */
enum {
	OFF_PHDR = 0x40,
	OFF_DYNSYM = 0x200,
	OFF_DYNSTR = 0x400,
	OFF_GNU_HASH = 0x600,
	OFF_HASH = 0x680,
	OFF_DYNAMIC = 0x700,
	OFF_NOTE = 0x800,
	OFF_SHDR = 0x900,
	OFF_TEXT = 0x1000,
	IMAGE = 0x2000,
	TEXT_ADDR = 0x401000,
};

enum { S_NULL, S_DYNSYM, S_DYNSTR, S_TEXT, S_COUNT };

struct image {
	_Alignas(16) char bytes[IMAGE];
	uint32_t n_syms, names;
};

static inline void *at(struct image *im, size_t offset)
{
	return im->bytes + offset;
}

static Elf64_Ehdr *ehdr(struct image *im)
{
	return at(im, 0);
}

static Elf64_Phdr *phdr(struct image *im, size_t i)
{
	return (Elf64_Phdr *)at(im, OFF_PHDR) + i;
}

static Elf64_Shdr *shdr(struct image *im, size_t i)
{
	return (Elf64_Shdr *)at(im, OFF_SHDR) + i;
}

static Elf64_Sym *sym(struct image *im, size_t i)
{
	return (Elf64_Sym *)at(im, OFF_DYNSYM) + i;
}

static Elf64_Dyn *dyn(struct image *im, size_t i)
{
	return (Elf64_Dyn *)at(im, OFF_DYNAMIC) + i;
}

static inline void sync_counts(struct image *im)
{
	uint32_t *hash = at(im, OFF_HASH), *gnu = at(im, OFF_GNU_HASH);

	hash[0] = 1;
	hash[1] = im->n_syms;
	/* one bucket, everything from symbol 1 in one chain */
	gnu[0] = 1;
	gnu[1] = 1;
	gnu[2] = 1;
	gnu[6] = im->n_syms > 1;
	for (uint32_t i = 1; i < im->n_syms; i++)
		gnu[6 + i] = i + 1 == im->n_syms;
	shdr(im, S_DYNSYM)->sh_size = im->n_syms * sizeof(Elf64_Sym);
	shdr(im, S_DYNSTR)->sh_size = im->names;
	dyn(im, 2)->d_un.d_val = im->names;
}

static Elf64_Sym *add_sym(struct image *im, const char *name, uint64_t value)
{
	Elf64_Sym *s = sym(im, im->n_syms++);

	*s = (Elf64_Sym){ .st_name = im->names,
			  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			  .st_shndx = S_TEXT,
			  .st_value = value,
			  .st_size = 16 };
	memcpy(im->bytes + OFF_DYNSTR + im->names, name, strlen(name) + 1);
	im->names += (uint32_t)strlen(name) + 1;
	sync_counts(im);
	return s;
}

static inline void add_sections(struct image *im)
{
	*shdr(im, S_DYNSYM) = (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
					    .sh_offset = OFF_DYNSYM,
					    .sh_link = S_DYNSTR,
					    .sh_entsize = sizeof(Elf64_Sym) };
	*shdr(im, S_DYNSTR) = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = OFF_DYNSTR };
	ehdr(im)->e_shoff = OFF_SHDR;
	ehdr(im)->e_shnum = S_COUNT;
	ehdr(im)->e_shentsize = sizeof(Elf64_Shdr);
}

static inline void add_dynamic(struct image *im)
{
	static const Elf64_Dyn entries[] = {
		{ DT_SYMTAB, { OFF_DYNSYM } },
		{ DT_STRTAB, { OFF_DYNSTR } },
		{ DT_STRSZ, { 0 } },
		{ DT_GNU_HASH, { OFF_GNU_HASH } },
		{ DT_NULL, { 0 } },
	};

	memcpy(dyn(im, 0), entries, sizeof(entries));
	*phdr(im, 2) = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				     .p_offset = OFF_DYNAMIC,
				     .p_vaddr = OFF_DYNAMIC,
				     .p_filesz = sizeof(entries) };
}

static inline void add_note(struct image *im)
{
	static const char id[] = "\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0\xde\xad\xbe\xef";
	static const char other[] = "\x04\0\0\0\x02\0\0\0\x01\0\0\0GNU\0ab\0\0";

	memcpy(im->bytes + OFF_NOTE, other, sizeof(other) - 1);
	memcpy(im->bytes + OFF_NOTE + sizeof(other) - 1, id, sizeof(id) - 1);
	*phdr(im, 3) = (Elf64_Phdr){ .p_type = PT_NOTE,
				     .p_offset = OFF_NOTE,
				     .p_vaddr = OFF_NOTE,
				     .p_filesz = sizeof(other) + sizeof(id) - 2 };
}

/* A library with two functions, cuInit and cuLaunchKernel. */
static inline void build(struct image *im)
{
	Elf64_Ehdr *h = ehdr(im);

	memset(im, 0, sizeof(*im));
	im->n_syms = 1;
	im->names = 1;
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_phoff = OFF_PHDR;
	h->e_phnum = 4;
	h->e_phentsize = sizeof(Elf64_Phdr);
	*phdr(im, 0) = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = OFF_TEXT };
	*phdr(im, 1) = (Elf64_Phdr){ .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = OFF_TEXT,
				     .p_vaddr = TEXT_ADDR,
				     .p_filesz = IMAGE - OFF_TEXT };
	add_sections(im);
	add_dynamic(im);
	add_note(im);
	add_sym(im, "cuInit", TEXT_ADDR);
	add_sym(im, "cuLaunchKernel", TEXT_ADDR + 0x100);
}

static inline void strip_sections(struct image *im)
{
	ehdr(im)->e_shoff = 0;
	ehdr(im)->e_shnum = 0;
}

static inline int to_file(const void *bytes, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	return fd;
}

static const char *const names[] = { "cuInit", "cuLaunchKernel", "cuNothing" };

static inline int find_sized(struct image *im, size_t len, struct elf_func ret[])
{
	int fd = to_file(im->bytes, len), err;

	err = elf_find(fd, names, ARRAY_LEN(names), ret);
	close(fd);
	return err;
}

static inline int find(struct image *im, struct elf_func ret[])
{
	return find_sized(im, IMAGE, ret);
}

#endif
