// SPDX-License-Identifier: Apache-2.0
/* Which function frees code objects: none that is exported, but the type points at it. */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/elf_file.h"
#include "capture/frees.h"
#include "capture/insn.h"

int frees_site(int fd, uint64_t type, uint64_t slot, uint64_t *ret_offset)
{
	struct elf *e = xcalloc(1, sizeof(*e));
	struct insn_site site = { .class = INSN_REFUSED };
	struct extent at;
	Elf64_Sym sym;
	uint64_t value;
	int err = elf_init(e, fd);

	if (err)
		goto out;
	if (!elf_object(e, "PyCode_Type", true, &sym) ||
	    !elf_pointer(e, sym.st_value + FREES_SLOT, &value) || !elf_at(e, value, true, &at))
		err = fail(-ENOENT, "it does not say which function frees code objects");
	else if (slot - value != type - sym.st_value)
		err = fail(-EBADMSG, "the process has another function for freeing code objects");
	else
		err = insn_site(fd, at.offset, &site);
	if (!err && site.class != INSN_EMULATED)
		err = fail(-ENOTSUP, "the function that frees code objects begins with bytes that "
				     "are dear to probe");
	if (!err)
		*ret_offset = site.offset;
out:
	free(e);
	return err;
}
