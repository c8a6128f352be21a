// SPDX-License-Identifier: Apache-2.0
/* Names made harmless and kept in blocks that are freed together. */
#include "native/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"

#define NAME_CAP 512 /* with NUL, as it is kept */
#define BLOCK_BYTES 65536

struct names_block {
	struct names_block *next;
	size_t used;
	char text[BLOCK_BYTES];
};

void names_init(struct names *n)
{
	memset(n, 0, sizeof(*n));
	n->known = hash_new(sizeof(uint64_t), sizeof(const char *));
}

void names_release(struct names *n)
{
	while (n->blocks) {
		struct names_block *next = n->blocks->next;

		free(n->blocks);
		n->blocks = next;
	}
	hash_free(n->known);
	memset(n, 0, sizeof(*n));
}

bool names_full(const struct names *n)
{
	return n->bytes + sizeof(struct names_block) > NAMES_BYTES_MAX;
}

static uint64_t hash_text(const char *s)
{
	uint64_t v = 0xcbf29ce484222325ull;

	for (; *s; s++)
		v = (v ^ (unsigned char)*s) * 0x100000001b3ull;
	return v;
}

static const char *store(struct names *n, const char *text)
{
	size_t len = strlen(text) + 1;
	char *to;

	if (!n->blocks || len > BLOCK_BYTES - n->blocks->used) {
		struct names_block *block;

		if (names_full(n))
			return NULL;
		block = xcalloc(1, sizeof(*block));
		block->next = n->blocks;
		n->blocks = block;
		n->bytes += sizeof(*block);
	}
	to = n->blocks->text + n->blocks->used;
	memcpy(to, text, len);
	n->blocks->used += len;
	return to;
}

const char *names_keep(struct names *n, const char *text)
{
	char safe[NAME_CAP];
	const char **known, *kept;
	uint64_t key;

	text_safe(safe, sizeof(safe), text);
	if (!safe[0])
		return "";
	key = hash_text(safe);
	known = hash_get(n->known, &key);
	if (known && streq(*known, safe))
		return *known;
	kept = store(n, safe);
	/* Two texts of one hash: the first keeps the entry, the other is merely kept twice. */
	if (kept && !known)
		*(const char **)hash_put(n->known, &key) = kept;
	return kept ? kept : "";
}
