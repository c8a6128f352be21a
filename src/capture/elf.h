/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a library's functions are. The file belongs to a tenant and may be hostile: it is only
 * ever read with pread (a mapping would show our own breakpoints and die on truncation), every
 * offset is checked against its size, and the work per call is capped.
 */
#ifndef CAPTURE_ELF_H
#define CAPTURE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_func {
	uint64_t offset; /* file offset of the first byte, inside an executable PT_LOAD */
	uint64_t size; /* bytes, as the symbol claims; never reaches beyond its segment */
	bool found;
};

/*
 * Look up n distinct function names in the 64-bit ELF file behind fd: in .dynsym, then in .symtab
 * for those still missing, or through PT_DYNAMIC when section headers are gone. Two names at one
 * address are both reported. Symbols that are undefined, not STT_FUNC or outside executable
 * segments count as absent. Returns how many of ret[0..n) were found, or a negative errno and
 * leaves ret alone: -ENOEXEC not ELF64, -ENOTSUP a machine or byte order we do not read, -EBADMSG
 * a file that contradicts itself, -E2BIG one beyond our caps.
 */
int elf_find(int fd, const char *const names[], size_t n, struct elf_func ret[]);

/* The GNU build id in hex, "" when there is none. Usually 40 characters; 129 bytes hold any. */
int elf_build_id(int fd, char *dst, size_t cap);

#endif
