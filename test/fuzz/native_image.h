/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file around fuzzed bytes: its headers are right, so that the rest is looked at at all. */
#ifndef TEST_FUZZ_NATIVE_IMAGE_H
#define TEST_FUZZ_NATIVE_IMAGE_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "native/native_int.h"

#define IMAGE_ADDR 0x10000 /* where the file is loaded */
#define IMAGE_DATA 4096 /* where sections begin */
#define IMAGE_CAP (160u << 10)
#define IMAGE_SECTIONS 8

struct fuzz_image {
	uint8_t *bytes;
	size_t size;
	Elf64_Shdr section[IMAGE_SECTIONS];
	int sections;
	char names[256];
	size_t names_size;
	uint64_t eh_hdr_size; /* 0: no such segment; it begins at IMAGE_DATA */
};

static inline void need(bool cond)
{
	if (!cond)
		abort();
}

static inline void image_begin(struct fuzz_image *im)
{
	memset(im, 0, sizeof(*im));
	im->bytes = xcalloc(1, IMAGE_CAP);
	im->size = IMAGE_DATA;
	im->sections = 2; /* none, and the names */
	im->names_size = 1;
}

static inline int image_add(struct fuzz_image *im, const char *name, uint32_t type,
			    const void *data, size_t size)
{
	Elf64_Shdr *s = &im->section[im->sections];
	size_t len = strlen(name) + 1;

	need(im->sections < IMAGE_SECTIONS && size <= IMAGE_CAP - im->size - 16 &&
	     im->names_size + len <= sizeof(im->names));
	memcpy(im->names + im->names_size, name, len);
	s->sh_name = (uint32_t)im->names_size;
	s->sh_type = type;
	s->sh_offset = im->size;
	s->sh_addr = IMAGE_ADDR + im->size;
	s->sh_size = size;
	im->names_size += len;
	if (size)
		memcpy(im->bytes + im->size, data, size);
	im->size = (im->size + size + 7) / 8 * 8;
	return im->sections++;
}

/* Headers and names go into the first page. */
static inline void image_end(struct fuzz_image *im)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			 .e_type = ET_DYN,
			 .e_machine = CFI_MACHINE,
			 .e_phoff = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2,
			 .e_shoff = 512,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (uint16_t)im->sections,
			 .e_shstrndx = 1 };
	Elf64_Phdr p[2] = { { .p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_vaddr = IMAGE_ADDR,
			      .p_filesz = im->size,
			      .p_memsz = im->size },
			    { .p_type = im->eh_hdr_size ? PT_GNU_EH_FRAME : PT_NULL,
			      .p_offset = IMAGE_DATA,
			      .p_vaddr = IMAGE_ADDR + IMAGE_DATA,
			      .p_filesz = im->eh_hdr_size } };

	im->section[1] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 2048, .sh_size = im->names_size };
	memcpy(im->bytes, &e, sizeof(e));
	memcpy(im->bytes + sizeof(e), p, sizeof(p));
	memcpy(im->bytes + 512, im->section, sizeof(im->section));
	memcpy(im->bytes + 2048, im->names, im->names_size);
}

static inline int image_file(const struct fuzz_image *im)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	need(fd >= 0 && write(fd, im->bytes, im->size) == (ssize_t)im->size);
	return fd;
}

/* As native.c makes it. */
static inline struct image *image_open(struct native *n, const struct fuzz_image *im)
{
	struct image *ret = xcalloc(1, sizeof(*ret));

	n->budget = 16u << 20;
	ret->own = (struct source){ image_file(im), im->size, &n->budget };
	ret->debug.fd = -1;
	image_read_headers(ret, &n->elf);
	return ret;
}

static inline void need_harmless(const char *text)
{
	char safe[4096];

	need(strlen(text) < 1000);
	need(streq(text_safe(safe, sizeof(safe), text), text));
}

#endif
