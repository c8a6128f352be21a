// SPDX-License-Identifier: Apache-2.0
/* Fuzz what the probes tell of a file: any events in any order, and the sums stay possible. */
#include <stdlib.h>
#include <string.h>

#include "integrity/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tag_file file = { .dev = 1, .ino = 2 };
	struct follow *f = follow_new(&file, 1);
	struct checkpoint *c = follow_checkpoint(f);
	struct evidence e = { .seen = c, .exists = true };
	struct judgement j;
	uint8_t word[4];

	for (; size >= sizeof(word); data += sizeof(word), size -= sizeof(word)) {
		struct checked_event event = { .file = file };

		memcpy(word, data, sizeof(word));
		event.event = word[0] & 15;
		event.flags = word[0] >> 7;
		event.pid = word[1] & 3;
		event.at = event.since = word[1] >> 2;
		/* Small numbers meet each other, the largest are the edge. */
		event.a = word[2] == 255 ? UINT64_MAX : word[2];
		event.b = word[3] == 255 ? UINT64_MAX : word[3];
		if (follow_ended(f, &event))
			follow_again(f);
		(void)follow_event(f, &event);
		if (word[0] & 32)
			follow_closed(f, event.at, word[3]);
		if (word[0] & 64)
			c->hashed_ns = 1;
		follow_gaps(f);
		if (c->gap_bytes > c->size || c->gaps > c->gap_bytes)
			abort();
		judge(&e, &j);
		if (j.count < 0 || j.count > REASONS_MAX)
			abort();
	}
	follow_free(f);
	return 0;
}
