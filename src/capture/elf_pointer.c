// SPDX-License-Identifier: Apache-2.0
/* What the data of an ELF file points at. */
#include <errno.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/elf_file.h"

#define RELOCS_MAX (1ull << 20)

/* Where the relocations with addends are; size 0: there are none. */
static int find_relocs(struct elf *e, struct extent *ret)
{
	uint64_t n = min_u64(e->dynamic.size / sizeof(Elf64_Dyn), ARRAY_LEN(e->buf.dyn));
	uint64_t addr = 0, size = 0, each = 0;
	struct extent at;
	int err;

	*ret = (struct extent){ 0, 0 };
	err = elf_read(e, e->dynamic.offset, e->buf.dyn, n * sizeof(Elf64_Dyn));
	for (uint64_t i = 0; !err && i < n && e->buf.dyn[i].d_tag != DT_NULL; i++) {
		uint64_t value = e->buf.dyn[i].d_un.d_val;

		if (e->buf.dyn[i].d_tag == DT_RELA)
			addr = value;
		else if (e->buf.dyn[i].d_tag == DT_RELASZ)
			size = value;
		else if (e->buf.dyn[i].d_tag == DT_RELAENT)
			each = value;
	}
	if (err || !addr || !size)
		return err;
	if (each != sizeof(Elf64_Rela) || size / each > RELOCS_MAX ||
	    !elf_at(e, addr, false, &at) || size > at.size)
		return fail(-EBADMSG, "relocations outside the file, or too many");
	*ret = (struct extent){ at.offset, size };
	return 0;
}

static bool is_relative(const struct elf *e, const Elf64_Rela *r)
{
	uint64_t want = e->head.e_machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;

	return ELF64_R_TYPE(r->r_info) == want;
}

/* The relocation of an address: 1, 0 if it has none, or a negative errno. */
static int find_reloc(struct elf *e, uint64_t addr, uint64_t *ret)
{
	const size_t step = ARRAY_LEN(e->buf.rela);
	struct extent table;
	uint64_t n;
	int err = find_relocs(e, &table);

	n = table.size / sizeof(Elf64_Rela);
	for (uint64_t at = 0; !err && at < n; at += step) {
		size_t batch = (size_t)min_u64(step, n - at);

		err = elf_read(e, table.offset + at * sizeof(Elf64_Rela), e->buf.rela,
			       batch * sizeof(Elf64_Rela));
		for (size_t i = 0; !err && i < batch; i++) {
			const Elf64_Rela *r = &e->buf.rela[i];

			if (r->r_offset != addr)
				continue;
			if (!is_relative(e, r)) /* of a symbol: it may be another file's */
				return fail(-ENOTSUP, "relocation of type %llu",
					    (unsigned long long)ELF64_R_TYPE(r->r_info));
			*ret = (uint64_t)r->r_addend;
			return 1;
		}
	}
	return err;
}

bool elf_pointer(struct elf *e, uint64_t addr, uint64_t *ret)
{
	struct extent at;
	uint64_t value = 0;
	int found = find_reloc(e, addr, &value);

	/* Fixed addresses, and relocations in their short form, have it in its place. */
	if (!found && elf_at(e, addr, false, &at) && at.size >= sizeof(value) &&
	    elf_read(e, at.offset, &value, sizeof(value)))
		value = 0;
	if (found < 0 || !value)
		return false;
	*ret = value;
	return true;
}
