// SPDX-License-Identifier: Apache-2.0
/* The rules, one small function for each group of them. */
#include "integrity/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/util.h"

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = { "complete", "unknown", "changed", "torn" };

	return names[v];
}

__attribute__((format(printf, 4, 5))) static void because(struct judgement *j, enum verdict verdict,
							  const char *code, const char *fmt, ...)
{
	struct reason *r;
	va_list ap;
	int at = j->count;

	if (j->count == REASONS_MAX)
		return;
	while (at && j->reason[at - 1].verdict < verdict)
		at--;
	memmove(&j->reason[at + 1], &j->reason[at], (size_t)(j->count - at) * sizeof(*r));
	r = &j->reason[at];
	r->verdict = verdict;
	r->code = code;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	j->count++;
}

static const char *bytes(char buf[UNITS_CAP], uint64_t n)
{
	return format_bytes(buf, UNITS_CAP, n);
}

/* ---- its bytes, against those of its digest ---- */

static const struct digest *baseline(const struct evidence *e)
{
	static const struct digest none;

	if (e->seen && !e->other_file && e->seen->digest.hex[0])
		return &e->seen->digest;
	return e->kept.hex[0] ? &e->kept : &none;
}

static void judge_size(const struct evidence *e, uint64_t was, struct judgement *j)
{
	char a[UNITS_CAP], b[UNITS_CAP];

	if (e->size < was)
		because(j, VERDICT_TORN, "truncated", "it has %s of the %s that were written",
			bytes(a, e->size), bytes(b, was));
	else
		because(j, VERDICT_CHANGED, "grown", "it has %s; %s were written",
			bytes(a, e->size), bytes(b, was));
}

static void judge_content(const struct evidence *e, struct judgement *j)
{
	const struct digest *was = baseline(e);

	if (!was->hex[0]) {
		if (e->seen && e->seen->closed_ns && !e->other_file && !e->being_written &&
		    e->size != e->seen->size)
			judge_size(e, e->seen->size, j);
		else if (e->seen && !e->other_file && !e->being_written)
			because(j, VERDICT_UNKNOWN, "no-digest",
				"it has no digest yet: what it was cannot be compared");
		return;
	}
	if (e->size != was->size) {
		judge_size(e, was->size, j);
	} else if (!e->now.hex[0]) {
		if (e->mtime_ns != was->mtime_ns)
			because(j, VERDICT_UNKNOWN, "touched",
				"it was written to since its digest was made, and was not read again");
		else
			because(j, VERDICT_COMPLETE, "not-read",
				"size and time are as they were; it was not read");
	} else if (!streq(e->now.hex, was->hex)) {
		if (e->mtime_ns == was->mtime_ns)
			because(j, VERDICT_CHANGED, "silent",
				"its bytes differ though nobody wrote to it: the storage, or something below the "
				"filesystem, changed them");
		else
			because(j, VERDICT_CHANGED, "rewritten",
				"its bytes differ, and it was written to since");
	}
	if (was != &e->kept && e->kept.hex[0] && !streq(was->hex, e->kept.hex))
		because(j, VERDICT_CHANGED, "digest-differs",
			"the digest on the file is not the one that was made of it");
}

/* ---- how it was written ---- */

static void judge_writing(const struct checkpoint *c, const struct evidence *e, struct judgement *j)
{
	char a[UNITS_CAP], b[UNITS_CAP];

	if (c->failed)
		because(j, VERDICT_TORN, "write-error", "%llu of its writes failed",
			(unsigned long long)c->failed);
	if (c->sync_error)
		because(j, VERDICT_TORN, "fsync-error",
			"an fsync failed (%s): data may be lost, and no later fsync tells",
			strerror(-c->sync_error));
	if (c->signal)
		because(j, VERDICT_TORN, "killed",
			"process %u was ended by signal %d while it wrote", c->writer, c->signal);
	if (c->shared)
		because(j, VERDICT_TORN, "concurrent",
			"%s were written by more than one of %u processes", bytes(a, c->shared),
			c->writers);
	if (c->dense && c->gaps)
		because(j, VERDICT_TORN, "gap",
			"it must be dense, and %llu ranges (%s) were never written",
			(unsigned long long)c->gaps, bytes(a, c->gap_bytes));
	if (c->has_size && e->size != c->declared)
		because(j, VERDICT_TORN, e->size < c->declared ? "short" : "long",
			"it has %s and must have %s", bytes(a, e->size), bytes(b, c->declared));
	if (e->being_written)
		because(j, VERDICT_UNKNOWN, "open", "it is being written");
	else if (c->last_ns && !c->closed_ns && !e->same_boot)
		because(j, VERDICT_TORN, "crash", "the host went down while it was written");
}

static void judge_durability(const struct checkpoint *c, const struct evidence *e,
			     struct judgement *j)
{
	bool same = e->now.hex[0] && streq(e->now.hex, baseline(e)->hex);

	/* Read back after a restart: it was durable. */
	if (!e->same_boot && same)
		return;
	if (checkpoint_dirty(c) && !e->synced)
		because(j, VERDICT_UNKNOWN, "no-fsync", "%s: a crash may still tear it",
			c->synced_ns ? "it was written to after its last fsync"
				     : (c->renamed_ns ? "it was renamed and never fsynced"
						      : "it was never fsynced"));
	else if (c->renamed_dirty)
		because(j, VERDICT_COMPLETE, "late-fsync",
			"it got its name before its data was durable; a crash in between would have torn it");
	if (checkpoint_name_dirty(c) && !e->synced)
		because(j, VERDICT_UNKNOWN, "no-dirsync",
			"its folder was not fsynced after the rename: a crash may bring back what had the name before");
}

static void note(const struct checkpoint *c, struct judgement *j)
{
	char a[UNITS_CAP];

	if (c->gaps && !c->dense)
		because(j, VERDICT_COMPLETE, "sparse", "%llu ranges (%s) were left out",
			(unsigned long long)c->gaps, bytes(a, c->gap_bytes));
	if (c->mapped)
		because(j, VERDICT_COMPLETE, "mapped",
			"%llu pages were written through a mapping: in which order cannot be seen",
			(unsigned long long)c->mapped);
	if (c->changed_ns)
		because(j, VERDICT_COMPLETE, "written-since",
			"process %u wrote to it after its digest was made", c->changer);
	if (!c->from_start)
		because(j, VERDICT_COMPLETE, "begun-earlier",
			"its first bytes were written before it was watched");
	if (c->lost)
		because(j, VERDICT_COMPLETE, "lost",
			"events were lost while it was written: reasons may be missing");
}

void judge(const struct evidence *e, struct judgement *ret)
{
	*ret = (struct judgement){ .verdict = VERDICT_COMPLETE };
	if (e->unfinished)
		because(ret, VERDICT_TORN, "not-renamed",
			"its next version was written to %s and never renamed; %s", e->unfinished,
			e->exists ? "this is the version before" : "there is no version before");
	else if (!e->exists)
		because(ret, VERDICT_TORN, "missing", "there is no such file");
	if (e->exists) {
		if (e->seen && e->other_file)
			because(ret, VERDICT_CHANGED, "replaced",
				"the file that was written here is gone; this one was put in its place unseen");
		else if (!e->seen && !e->kept.hex[0])
			because(ret, VERDICT_UNKNOWN, "no-record",
				"nothing is known of it: it was not watched, and has no digest");
		judge_content(e, ret);
		if (e->seen && !e->other_file) {
			judge_writing(e->seen, e, ret);
			judge_durability(e->seen, e, ret);
			note(e->seen, ret);
		}
	}
	if (ret->count)
		ret->verdict = ret->reason[0].verdict;
}
