// SPDX-License-Identifier: Apache-2.0
/* Any file: what is found lies inside it, and the first instruction can be judged. */
#include "capture/elf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/elf_file.h"
#include "capture/frees.h"
#include "capture/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(bool cond)
{
	if (!cond)
		abort();
}

/* A pointer in its data, at an address that the last bytes say. */
static void check_pointer(int fd, const uint8_t *data, size_t len)
{
	struct elf *e = calloc(1, sizeof(*e));
	uint64_t addr = 0, value = 0, offset;

	need(e != NULL);
	if (len >= sizeof(addr))
		memcpy(&addr, data + len - sizeof(addr), sizeof(addr));
	if (!elf_init(e, fd) && elf_pointer(e, addr, &value))
		need(value != 0);
	if (!frees_site(fd, 0x1000, 0x1000 + value, &offset))
		need(offset < len);
	free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "cuInit", "f", "cudaMemcpyAsync", "main" };
	struct elf_func found[4];
	char id[129];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), n, count = 0;

	need(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	n = elf_find(fd, names, 4, found);
	for (int i = 0; n >= 0 && i < 4; i++) {
		struct insn_site site;

		count += found[i].found;
		if (!found[i].found)
			continue;
		need(found[i].offset < len && found[i].size <= len - found[i].offset);
		need(!insn_site(fd, found[i].offset, &site));
		need(site.offset == found[i].offset || site.offset == found[i].offset + 4);
	}
	need(n < 0 || n == count);
	if (!elf_build_id(fd, id, sizeof(id)))
		need(strlen(id) % 2 == 0 && strspn(id, "0123456789abcdef") == strlen(id));
	check_pointer(fd, data, len);
	close(fd);
	return 0;
}
