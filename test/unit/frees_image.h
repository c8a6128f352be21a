/* SPDX-License-Identifier: Apache-2.0 */
/* The image of an interpreter's file, as far as it says which function frees code objects. */
#ifndef TEST_UNIT_FREES_IMAGE_H
#define TEST_UNIT_FREES_IMAGE_H

#include "capture/frees.h"
#include "test/unit/elf_image.h"

#define TYPE 0xc00 /* PyCode_Type: in the first segment, */
#define TYPE_HASH 0x72bde1cau
#define RELOCS 0xe00 /* ... as the relocations are */
#define FREES (TEXT_ADDR + 0x300)
#define BIAS 0x7f0000000000ull

static struct image im;

static inline Elf64_Rela *reloc(size_t i)
{
	return (Elf64_Rela *)at(&im, RELOCS) + i;
}

/* A library in which PyCode_Type points at a function that begins with `push %rbp`. */
static inline void build_python(void)
{
	static const Elf64_Dyn entries[] = {
		{ DT_SYMTAB, { OFF_DYNSYM } },
		{ DT_STRTAB, { OFF_DYNSTR } },
		{ DT_STRSZ, { 0 } },
		{ DT_GNU_HASH, { OFF_GNU_HASH } },
		{ DT_RELA, { RELOCS } },
		{ DT_RELASZ, { 2 * sizeof(Elf64_Rela) } },
		{ DT_RELAENT, { sizeof(Elf64_Rela) } },
		{ DT_NULL, { 0 } },
	};
	uint32_t *gnu = at(&im, OFF_GNU_HASH);

	build(&im);
	memcpy(dyn(&im, 0), entries, sizeof(entries));
	phdr(&im, 2)->p_filesz = sizeof(entries);
	*reloc(0) = (Elf64_Rela){ TYPE + 8, ELF64_R_INFO(0, R_X86_64_RELATIVE), TEXT_ADDR };
	*reloc(1) = (Elf64_Rela){ TYPE + FREES_SLOT, ELF64_R_INFO(0, R_X86_64_RELATIVE), FREES };
	add_sym(&im, "PyCode_Type", TYPE)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	for (uint32_t i = 1; i < im.n_syms; i++)
		gnu[6 + i] &= 1;
	gnu[6 + im.n_syms - 1] |= TYPE_HASH & ~1u;
	im.bytes[FREES - TEXT_ADDR + OFF_TEXT] = 0x55;
}

#endif
