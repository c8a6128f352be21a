// SPDX-License-Identifier: Apache-2.0
/* Tests of integrity/checkpoint.c and judge.c: what is seen of a file, and what follows from it. */
#include "integrity/judge.h"

#include <string.h>

#include "base/util.h"
#include "test/test.h"

static const struct tag_file here = { .dev = 1, .ino = 2 };

static bool event_by(struct follow *f, uint32_t kind, uint32_t pid, uint64_t at, uint64_t a,
		     uint64_t b)
{
	struct checked_event e = { .event = kind,
				   .pid = pid,
				   .at = at,
				   .since = at,
				   .file = here,
				   .count = 1,
				   .flags = CHECKED_EMPTY,
				   .a = a,
				   .b = b };

	return follow_event(f, &e);
}

static bool event(struct follow *f, uint32_t kind, uint64_t at, uint64_t a, uint64_t b)
{
	return event_by(f, kind, 7, at, a, b);
}

TEST(checkpoint_counts_gaps_and_overwrites)
{
	struct follow *f = follow_new(&here, 1);
	const struct checkpoint *c = follow_checkpoint(f);

	event(f, TAG_EVENT_WRITE, 10, 0, 100);
	event(f, TAG_EVENT_WRITE, 11, 200, 300);
	event(f, TAG_EVENT_WRITE, 12, 50, 150);
	follow_closed(f, 20, 400);
	follow_gaps(f);
	CHECK_U64(c->bytes, 300);
	CHECK_U64(c->writes, 3);
	CHECK_U64(c->overwritten, 50);
	CHECK_U64(c->shared, 0);
	CHECK_U64(c->gaps, 2); /* 150-200, 300-400 */
	CHECK_U64(c->gap_bytes, 150);
	event(f, TAG_EVENT_WRITE, 15, 150, 200); /* told late, before the close */
	CHECK_U64(c->closed_ns, 20);
	event(f, TAG_EVENT_WRITE, 25, 300, 400);
	CHECK_U64(c->closed_ns, 0);
	follow_closed(f, 30, 400);
	follow_gaps(f);
	CHECK_U64(c->gaps, 0);
	follow_free(f);
	return 0;
}

TEST(checkpoint_has_a_bounded_memory)
{
	struct follow *f = follow_new(&here, 1);
	const struct checkpoint *c = follow_checkpoint(f);

	for (uint64_t i = 0; i < 3ull * RANGES_MAX; i++)
		event_by(f, TAG_EVENT_WRITE, (uint32_t)(1 + i % 40), i, i * 10, i * 10 + 5);
	follow_closed(f, 1 << 20, 100);
	follow_gaps(f);
	CHECK_U64(c->stretches, 3ull * RANGES_MAX);
	CHECK_U64(c->gaps, 0); /* not known, so not said */
	CHECK(c->writers >= 16);
	follow_free(f);
	return 0;
}

TEST(checkpoint_is_shared_when_two_write_at_the_same_time)
{
	struct follow *f = follow_new(&here, 1);
	const struct checkpoint *c = follow_checkpoint(f);

	event_by(f, TAG_EVENT_WRITE, 7, 10, 0, 100);
	event_by(f, TAG_EVENT_WRITE, 8, 11, 0, 50);
	CHECK_U64(c->shared, 0); /* one after the other */
	event_by(f, TAG_EVENT_WRITE, 7, 12, 100, 200);
	CHECK_U64(c->shared, 50); /* the first goes on */
	event_by(f, TAG_EVENT_WRITE, 8, 13, 100, 110);
	CHECK_U64(c->shared, 60);
	CHECK_U64(c->writers, 2);
	follow_free(f);
	return 0;
}

TEST(checkpoint_is_dirty_until_an_fsync_that_began_later)
{
	struct follow *f = follow_new(&here, 1);
	const struct checkpoint *c = follow_checkpoint(f);

	event(f, TAG_EVENT_WRITE, 10, 0, 100);
	CHECK(checkpoint_dirty(c));
	event(f, TAG_EVENT_SYNC, 12, 0, 9); /* began before that write was over */
	CHECK(checkpoint_dirty(c));
	event(f, TAG_EVENT_RENAME, 13, 0, 0);
	CHECK(c->renamed_dirty && checkpoint_name_dirty(c));
	event(f, TAG_EVENT_SYNC, 15, 0, 14);
	CHECK(!checkpoint_dirty(c) && !checkpoint_name_dirty(c));
	event(f, TAG_EVENT_RENAME, 16, 0, 0);
	CHECK(!c->renamed_dirty && checkpoint_name_dirty(c));
	CHECK(event(f, TAG_EVENT_SYNC_DIR, 17, 0, 0));
	CHECK(!checkpoint_name_dirty(c));
	CHECK(!event(f, TAG_EVENT_SYNC_DIR, 18, 0, 0)); /* nothing new */
	event(f, TAG_EVENT_WRITE, 20, 0, 1);
	event(f, TAG_EVENT_SYNC, 22, (uint64_t)-5, 21);
	CHECK(c->sync_error == -5 && checkpoint_dirty(c));
	event(f, TAG_EVENT_SYNC, 25, 0, 24); /* the error is told once by the kernel, and stays */
	CHECK(checkpoint_dirty(c));
	follow_free(f);
	return 0;
}

TEST(checkpoint_of_a_killed_writer)
{
	struct follow *f = follow_new(&here, 1);
	const struct checkpoint *c = follow_checkpoint(f);

	event(f, TAG_EVENT_WRITE, 10, 0, 100);
	CHECK(!event_by(f, TAG_EVENT_EXIT, 8, 11, 9, 0)); /* somebody else */
	CHECK(!event_by(f, TAG_EVENT_EXIT, 7, 11, 1 << 8, 0)); /* exit(1) */
	follow_closed(f, 12, 100);
	CHECK(!event_by(f, TAG_EVENT_EXIT, 7, 13, 9, 0)); /* it was closed before */
	CHECK(event_by(f, TAG_EVENT_EXIT, 7, 11, 9, 0));
	CHECK(c->signal == 9);
	event(f, TAG_EVENT_TRUNCATE, 20, 0, 0); /* from the beginning */
	CHECK(!c->signal && c->from_start && !c->bytes);
	follow_free(f);
	return 0;
}

TEST(checkpoint_that_is_finished_stays)
{
	struct checked_event e = {
		.event = TAG_EVENT_WRITE, .pid = 8, .at = 50, .file = here, .a = 0, .b = 10
	};
	struct follow *f = follow_new(&here, 1);
	struct checkpoint *c = follow_checkpoint(f);

	event(f, TAG_EVENT_WRITE, 10, 0, 100);
	follow_closed(f, 12, 100);
	c->hashed_ns = 15;
	CHECK(!follow_ended(f, &e) && c->changed_ns == 50 && c->changer == 8);
	CHECK(follow_event(f, &e));
	CHECK_U64(c->bytes, 100);
	CHECK_U64(c->shared, 0);
	c->changed_ns = 0;
	e.pid = 7; /* its own writer goes on */
	CHECK(!follow_ended(f, &e) && !c->hashed_ns && !c->changed_ns);
	c->hashed_ns = 60;
	e = (struct checked_event){ .event = TAG_EVENT_TRUNCATE, .pid = 9, .at = 70, .file = here };
	CHECK(follow_ended(f, &e)); /* another one */
	follow_free(f);
	return 0;
}

/* ---- verdicts ---- */

#define SUM "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OTHER "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ae"

static struct checkpoint finished(void)
{
	return (struct checkpoint){ .file = here,
				    .from_start = true,
				    .began_ns = 10,
				    .last_ns = 20,
				    .synced_ns = 21,
				    .closed_ns = 22,
				    .size = 100,
				    .hashed_ns = 30,
				    .digest = { SUM, 100, 5 } };
}

static struct evidence intact(const struct checkpoint *c)
{
	return (struct evidence){ .seen = c,
				  .exists = true,
				  .same_boot = true,
				  .size = 100,
				  .mtime_ns = 5,
				  .kept = { SUM, 100, 5 },
				  .now = { SUM, 100, 5 } };
}

/* "torn killed" */
static const char *judged(const struct evidence *e)
{
	static char text[64];
	struct judgement j;

	judge(e, &j);
	snprintf(text, sizeof(text), "%s %s", verdict_name(j.verdict),
		 j.count ? j.reason[0].code : "-");
	return text;
}

TEST(judge_of_what_is_intact)
{
	struct checkpoint c = finished();
	struct evidence e = intact(&c);

	CHECK_STR(judged(&e), "complete -");
	c.gaps = 1;
	CHECK_STR(judged(&e), "complete sparse");
	e.seen = NULL; /* no trace: the digest on the file is enough */
	CHECK_STR(judged(&e), "complete -");
	e.kept = (struct digest){ 0 };
	CHECK_STR(judged(&e), "unknown no-record");
	return 0;
}

TEST(judge_of_bytes)
{
	struct checkpoint c = finished();
	struct evidence e = intact(&c);

	e.size = 99;
	CHECK_STR(judged(&e), "torn truncated");
	e.size = 101;
	CHECK_STR(judged(&e), "changed grown");
	e = intact(&c);
	str_copy(e.now.hex, sizeof(e.now.hex), OTHER);
	CHECK_STR(judged(&e), "changed silent");
	e.mtime_ns = 6;
	CHECK_STR(judged(&e), "changed rewritten");
	e = intact(&c);
	str_copy(e.kept.hex, sizeof(e.kept.hex), OTHER);
	CHECK_STR(judged(&e), "changed digest-differs");
	e = intact(&c);
	e.now = (struct digest){ 0 };
	CHECK_STR(judged(&e), "complete not-read");
	e.mtime_ns = 6;
	CHECK_STR(judged(&e), "unknown touched");
	return 0;
}

TEST(judge_of_writing)
{
	struct checkpoint c = finished();
	struct evidence e = intact(&c);

#define WITH(field, value, wanted)                                                                 \
	c = finished();                                                                            \
	c.field = value;                                                                           \
	CHECK_STR(judged(&e), wanted)
	WITH(failed, 1, "torn write-error");
	WITH(sync_error, -5, "torn fsync-error");
	WITH(signal, 9, "torn killed");
	WITH(shared, 4096, "torn concurrent");
	WITH(synced_ns, 0, "unknown no-fsync");
	WITH(renamed_ns, 25, "unknown no-dirsync");
	WITH(renamed_dirty, true, "complete late-fsync");
	WITH(lost, true, "complete lost");
	WITH(changed_ns, 40, "complete written-since");
	WITH(from_start, false, "complete begun-earlier");
#undef WITH
	c = finished();
	c.dense = true;
	c.gaps = 1;
	CHECK_STR(judged(&e), "torn gap");
	c = finished();
	c.has_size = true;
	c.declared = 200;
	CHECK_STR(judged(&e), "torn short");
	c.declared = 50;
	CHECK_STR(judged(&e), "torn long");
	return 0;
}

TEST(judge_of_crashes)
{
	struct checkpoint c = finished();
	struct evidence e = intact(&c);

	c.synced_ns = 0;
	e.same_boot = false; /* read back after a restart, and the same: it was durable */
	CHECK_STR(judged(&e), "complete -");
	e.same_boot = true;
	e.synced = true;
	CHECK_STR(judged(&e), "complete -");
	e = intact(&c);
	e.same_boot = false;
	e.kept = c.digest = (struct digest){ 0 };
	c.closed_ns = 0;
	CHECK_STR(judged(&e), "torn crash");
	c = finished();
	e = intact(&c);
	e.unfinished = "/x.tmp";
	CHECK_STR(judged(&e), "torn not-renamed");
	e = (struct evidence){ .seen = &c };
	CHECK_STR(judged(&e), "torn missing");
	e = intact(&c);
	e.other_file = true;
	e.kept = (struct digest){ 0 };
	CHECK_STR(judged(&e), "changed replaced");
	e = intact(&c);
	e.being_written = true;
	CHECK_STR(judged(&e), "unknown open");
	return 0;
}
