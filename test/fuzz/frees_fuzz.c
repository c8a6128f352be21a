// SPDX-License-Identifier: Apache-2.0
/* An interpreter's file with changes: where its code objects are freed lies inside of it, in its code. */
#include "test/unit/frees_image.h"

#include "capture/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(bool cond)
{
	if (!cond)
		abort();
}

/* Four bytes are a change: where, two bytes, what, and which table; the first eight are what the process says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t tables[] = { 0, OFF_DYNAMIC, RELOCS, OFF_GNU_HASH };
	uint64_t says = 0, offset = 0;
	int fd;

	build_python();
	if (len >= sizeof(says)) {
		memcpy(&says, data, sizeof(says));
		data += sizeof(says);
		len -= sizeof(says);
	}
	for (; len >= 4; data += 4, len -= 4) {
		size_t where = (size_t)data[0] | (size_t)data[1] << 8;

		im.bytes[(tables[data[3] % ARRAY_LEN(tables)] + where % 512) % IMAGE] =
			(char)data[2];
	}
	fd = to_file(im.bytes, IMAGE);
	if (!frees_site(fd, BIAS + TYPE, BIAS + FREES, &offset))
		need(offset < IMAGE);
	if (!frees_site(fd, BIAS + TYPE, BIAS + says, &offset))
		need(offset < IMAGE);
	close(fd);
	return 0;
}
