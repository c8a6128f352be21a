// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a line table and as a string: a line is a line, a text can be printed. */
#include "python/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct head {
	uint8_t version, cap;
	uint16_t zero;
	int32_t first_line, lasti;
	uint32_t state;
	int64_t length;
};

static void check_line(const struct head *h, const uint8_t *table, size_t size)
{
	unsigned version = 0x309 + h->version % 6;
	int line = py_line(version, table, size, h->first_line, h->lasti);

	if (line < -1)
		abort();
	/* Any table: what is before its first instruction is where the function begins. */
	if (py_line(version, table, size, 7, -1) != 7)
		abort();
}

static void check_text(const struct head *h, const uint8_t *src, size_t size)
{
	char *dst = malloc(h->cap + 1u), *again = malloc(h->cap + 1u);

	py_text(src, size, h->length, h->state, dst, h->cap);
	if (h->cap) {
		if (strlen(dst) >= h->cap)
			abort();
		/* Nothing is left that would have to be made harmless. */
		if (strcmp(text_safe(again, h->cap, dst), dst) != 0)
			abort();
	}
	free(dst);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct head h;
	uint8_t *exact; /* of its size, so that one byte too far is seen */

	if (len < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	len -= sizeof(h);
	exact = malloc(len + !len);
	memcpy(exact, data + sizeof(h), len);
	check_line(&h, exact, len);
	check_text(&h, exact, len);
	free(exact);
	return 0;
}
