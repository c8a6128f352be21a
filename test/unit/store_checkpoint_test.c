// SPDX-License-Identifier: Apache-2.0
/* Tests of store/checkpoint.c: what was seen of a file comes back as it was. */
#include <string.h>

#include "base/util.h"
#include "store/checkpoint.h"
#include "store/store.h"
#include "test/test.h"
#include "test/unit/store_trace.h"

struct found {
	struct checkpoint seen[4];
	char path[4][64], label[4][64];
	int count;
};

static int keep(const struct checkpoint_info *info, void *arg)
{
	struct found *f = arg;

	if (f->count == 4)
		return 0;
	f->seen[f->count] = info->seen;
	str_copy(f->path[f->count], 64, info->path);
	str_copy(f->label[f->count++], 64, info->label);
	return 0;
}

TEST(store_checkpoint_comes_back)
{
	struct checkpoint c = { .file = { .dev = 7 << 20, .ino = 12 },
				.generation = 4000000000u,
				.tag = 0x8000000000000001ull,
				.from_start = true,
				.dense = true,
				.has_size = true,
				.renamed_dirty = true,
				.declared = 99,
				.began_ns = 1,
				.last_ns = 2,
				.closed_ns = 3,
				.bytes = 4,
				.writes = 5,
				.stretches = 6,
				.gaps = 7,
				.gap_bytes = 8,
				.overwritten = 9,
				.shared = 10,
				.mapped = 11,
				.failed = 12,
				.size = 13,
				.synced_ns = 14,
				.writers = 15,
				.writer = 16,
				.sync_error = -5,
				.signal = 9,
				.changer = 17 };
	struct found f = { 0 };
	int64_t row = 0, other = 0;
	struct store *s;
	uint64_t wall;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!store_tag(s, c.tag, "run42", 1));
	CHECK(!store_checkpoint(s, &c, "/c/x", &row));
	c.gaps = 77; /* written again, it is the same row */
	CHECK(!store_checkpoint(s, &c, "/c/x", &row));
	CHECK(!store_checkpoint(s, &(struct checkpoint){ .file = { .ino = 1 } }, "/c/sub/y",
				&other));
	CHECK(!store_each_checkpoint(s, "/c/x", NULL, keep, &f));
	CHECK(f.count == 1);
	CHECK_STR(f.label[0], "run42");
	wall = f.seen[0].began_ns - 1;
	c.began_ns += wall;
	c.last_ns += wall;
	c.closed_ns += wall;
	c.synced_ns += wall;
	CHECK(!memcmp(&f.seen[0].file, &c.file, sizeof(c.file)));
	CHECK(f.seen[0].generation == c.generation && f.seen[0].tag == c.tag);
	CHECK(f.seen[0].from_start && f.seen[0].dense && f.seen[0].has_size &&
	      f.seen[0].renamed_dirty);
	CHECK(f.seen[0].declared == 99 && f.seen[0].bytes == 4 && f.seen[0].writes == 5);
	CHECK(f.seen[0].stretches == 6 && f.seen[0].gaps == 77 && f.seen[0].gap_bytes == 8);
	CHECK(f.seen[0].overwritten == 9 && f.seen[0].shared == 10 && f.seen[0].mapped == 11);
	CHECK(f.seen[0].failed == 12 && f.seen[0].size == 13 && f.seen[0].synced_ns == c.synced_ns);
	CHECK(f.seen[0].writers == 15 && f.seen[0].writer == 16 && f.seen[0].sync_error == -5);
	CHECK(f.seen[0].signal == 9 && f.seen[0].changer == 17 && !f.seen[0].renamed_ns);
	CHECK(f.seen[0].last_ns == c.last_ns && f.seen[0].closed_ns == c.closed_ns);
	CHECK(!f.seen[0].digest.hex[0] && !f.seen[0].hashed_ns && !f.seen[0].changed_ns);
	f.count = 0;
	CHECK(!store_each_checkpoint(s, "/c/", NULL, keep, &f)); /* a folder, and not those below */
	CHECK(f.count == 1);
	f.count = 0;
	CHECK(!store_each_checkpoint(s, "/elsewhere", &c.file, keep, &f)); /* by its inode */
	CHECK(f.count == 1);
	CHECK_STR(f.path[0], "/c/x");
	store_close(s);
	return 0;
}
