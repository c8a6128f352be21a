// SPDX-License-Identifier: Apache-2.0
/* The headers of a mapped file: segments, and the few sections that unwinding and naming need. */
#include "native/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/util.h"

bool source_read(const struct source *s, uint64_t offset, void *dst, size_t len)
{
	char *to = dst;

	if (s->fd < 0 || offset > s->size || len > s->size - offset || len > *s->budget)
		return false;
	*s->budget -= len;
	while (len) {
		ssize_t got = pread(s->fd, to, len, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false; /* an error, or the file shrank */
		to += got;
		offset += (uint64_t)got;
		len -= (size_t)got;
	}
	return true;
}

bool image_at(const struct image *im, uint64_t addr, struct extent *ret)
{
	for (size_t i = 0; i < im->n_loads; i++) {
		const struct load *l = &im->loads[i];

		if (addr < l->addr || addr - l->addr >= l->size)
			continue;
		*ret = (struct extent){ l->offset + (addr - l->addr), l->size - (addr - l->addr) };
		return true;
	}
	return false;
}

bool image_addr(const struct image *im, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < im->n_loads; i++) {
		const struct load *l = &im->loads[i];

		if (!l->exec || offset < l->offset || offset - l->offset >= l->size)
			continue;
		*ret = l->addr + (offset - l->offset);
		return true;
	}
	return false;
}

static bool read_header(struct elf *e, uint64_t index, Elf64_Shdr *ret)
{
	return !elf_read(e, e->head.e_shoff + index * sizeof(*ret), ret, sizeof(*ret));
}

static bool has_name(struct elf *e, const Elf64_Shdr *names, const Elf64_Shdr *s, const char *name)
{
	char got[32];
	size_t len = strlen(name) + 1;

	return len <= sizeof(got) && s->sh_name <= names->sh_size &&
	       len <= names->sh_size - s->sh_name && names->sh_offset <= e->size &&
	       s->sh_name <= e->size - names->sh_offset &&
	       !elf_read(e, names->sh_offset + s->sh_name, got, len) && !memcmp(got, name, len);
}

/* Sections are few and looked for once per file: a read each is cheap enough. */
#define SECTIONS_READ_MAX 512

bool image_section(struct elf *e, const char *name, Elf64_Shdr *ret)
{
	uint64_t n, strings = e->head.e_shstrndx;
	Elf64_Shdr names, first;

	if (elf_sections(e, &n) || !n || !read_header(e, 0, &first))
		return false;
	if (strings == SHN_XINDEX)
		strings = first.sh_link;
	if (strings >= n || !read_header(e, strings, &names) || names.sh_type != SHT_STRTAB)
		return false;
	n = min_u64(n, SECTIONS_READ_MAX);
	for (uint64_t i = 1; i < n; i++) {
		Elf64_Shdr s;

		if (!read_header(e, i, &s))
			return false;
		if (s.sh_type == SHT_NOBITS || !has_name(e, &names, &s, name))
			continue;
		*ret = s;
		return s.sh_offset <= e->size && s.sh_size <= e->size - s.sh_offset;
	}
	return false;
}

static struct extent section_extent(struct elf *e, const char *name)
{
	Elf64_Shdr s;

	if (!image_section(e, name, &s) || (s.sh_flags & SHF_COMPRESSED))
		return (struct extent){ 0, 0 };
	return (struct extent){ s.sh_offset, s.sh_size };
}

void image_read_headers(struct image *im, struct elf *e)
{
	memset(e, 0, offsetof(struct elf, buf));
	if (elf_init(e, im->own.fd) || e->head.e_machine != CFI_MACHINE)
		return;
	im->readable = true;
	memcpy(im->loads, e->loads, sizeof(im->loads));
	im->n_loads = e->n_loads;
	eh_open(im, e);
	im->debuglink = section_extent(e, ".gnu_debuglink");
	im->debugdata = section_extent(e, ".gnu_debugdata");
	/* A file whose tables contradict each other still has its unwind information. */
	(void)elf_symtabs(e, &im->dynsym, &im->symtab);
}

void image_free(struct image *im)
{
	if (!im)
		return;
	if (im->own.fd >= 0)
		close(im->own.fd);
	if (im->debug.fd >= 0)
		close(im->debug.fd);
	for (size_t i = 0; i < SYMBOLS_MAX_TABLES; i++) {
		free(im->symbols[i].index);
		free(im->symbols[i].text);
	}
	free(im->eh.index);
	free(im->debug_path);
	hash_free(im->answers);
	free(im);
}
