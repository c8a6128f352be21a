// SPDX-License-Identifier: Apache-2.0
/* Reads the requests of disks, by file, and finds those that a finding is about. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/facts.h"
#include "store/read_io.h"

#define IO_MAX 8192 /* files told apart; a file can hold anything */
#define REQUESTS_MAX 512

/* No padding. ino 0: all of the disk `dev`. */
struct io_key {
	uint64_t ino;
	uint32_t dev, writes;
};

struct loading_io {
	struct facts *f;
	struct hash *index; /* struct io_key -> index + 1 */
};

static struct io_facts *io_of(struct loading_io *l, const struct io_key *key)
{
	int *index = hash_put(l->index, key);

	if (!*index) {
		if (l->f->ios == IO_MAX)
			return NULL;
		if (!(l->f->ios & (l->f->ios - 1)))
			l->f->io = xrealloc(l->f->io, l->f->ios ? 2 * (size_t)l->f->ios : 1,
					    sizeof(*l->f->io));
		l->f->io[l->f->ios] = (struct io_facts){ .ino = key->ino,
							 .fs_dev = key->dev,
							 .writes = key->writes };
		*index = ++l->f->ios;
	}
	return &l->f->io[*index - 1];
}

static void add(struct loading_io *l, const struct io_key *key, const struct io_second_info *s)
{
	struct io_facts *io = io_of(l, key);

	if (!io)
		return;
	io->requests += s->counts.requests + s->counts.merged;
	io->bytes += s->counts.bytes;
	io->timed += s->counts.timed;
	io->max_ns = max_u64(io->max_ns, s->counts.max_ns);
	for (int i = 0; i < HIST_BUCKETS; i++)
		io->hist[i] += s->counts.hist[i];
	if (!io->disk[0])
		text_safe(io->disk, sizeof(io->disk), s->what.disk);
	if (s->counts.bytes >= io->owner_bytes) { /* who moved most at once stands for it */
		io->owner_bytes = s->counts.bytes;
		io->owner_pid = s->what.pid;
		text_safe(io->owner, sizeof(io->owner), s->what.comm);
	}
}

static int on_second(const struct io_second_info *s, void *arg)
{
	bool writes = !streq(s->what.op, "read");
	struct io_key file = { s->what.ino, s->what.fs_dev, writes };
	struct io_key disk = { 0, s->what.dev, writes };

	if (s->what.ino)
		add(arg, &file, s);
	add(arg, &disk, s);
	return 0;
}

/* They come longest first. */
static int on_request(const struct io_request_info *q, void *arg)
{
	struct loading_io *l = arg;
	struct io_key key = { q->what.ino, q->what.fs_dev, !streq(q->what.op, "read") };
	const int *index = q->what.ino ? hash_get(l->index, &key) : NULL;
	struct io_facts *io = index && *index ? &l->f->io[*index - 1] : NULL;

	if (io && !io->has_worst) {
		io->has_worst = true;
		io->worst_ns = q->one.total_ns;
		io->worst_offset = q->one.file_offset;
	}
	return 0;
}

int facts_load_io(struct store *s, struct facts *f)
{
	struct loading_io l = { f, hash_new(sizeof(struct io_key), sizeof(int)) };
	int err = store_each_io_second(s, f->window, on_second, &l);

	if (!err)
		err = store_each_io_request(s, f->window, REQUESTS_MAX, on_request, &l);
	hash_free(l.index);
	return err;
}

const struct io_facts *facts_io(const struct facts *f, uint64_t ino, uint64_t fs_dev, bool writes)
{
	for (int i = 0; i < f->ios; i++)
		if (f->io[i].ino == ino && f->io[i].fs_dev == fs_dev && f->io[i].writes == writes)
			return &f->io[i];
	return NULL;
}

/* ---- findings ---- */

struct hop *finding_file(struct finding *f)
{
	for (int h = f->chain.hops - 1; h >= 0; h--) {
		struct hop *hop = &f->chain.hop[h];

		if (hop->object == OBJECT_file && hop->obj2)
			return hop;
	}
	return NULL;
}

void finding_disk(const struct facts *f, bool writes, struct finding *ret)
{
	struct hop *hop = finding_file(ret);
	const struct io_facts *io = hop ? facts_io(f, hop->obj, hop->obj2, writes) : NULL;

	if (!io || !io->requests)
		return;
	ret->disk = (struct finding_disk){
		.requests = io->requests,
		.bytes = io->bytes,
		.p99_ns = io->timed ? min_u64(hist_quantile(io->hist, 0.99), io->max_ns) : 0,
		.max_ns = io->max_ns,
		.offset = io->worst_offset,
		.owner_pid = io->owner_pid,
		.has_offset = io->has_worst,
	};
	memcpy(ret->disk.name, io->disk, sizeof(ret->disk.name));
	memcpy(ret->disk.owner, io->owner, sizeof(ret->disk.owner));
	if (!hop->device[0])
		str_copy(hop->device, sizeof(hop->device), io->disk);
}

char *finding_disk_text(const struct finding *f, char *dst, size_t cap)
{
	char bytes[UNITS_CAP], p99[UNITS_CAP], max[UNITS_CAP];

	if (!f->disk.name[0])
		str_copy(dst, cap,
			 "whether the disk is slow or others keep it busy is not told here");
	else if (!f->disk.max_ns)
		snprintf(dst, cap, "%s had %llu requests of it", f->disk.name,
			 (unsigned long long)f->disk.requests);
	else
		snprintf(dst, cap, "%s had %llu requests of it (%s), p99 %s, the longest %s",
			 f->disk.name, (unsigned long long)f->disk.requests,
			 format_bytes(bytes, sizeof(bytes), f->disk.bytes),
			 format_ns(p99, sizeof(p99), f->disk.p99_ns),
			 format_ns(max, sizeof(max), f->disk.max_ns));
	return dst;
}
