// SPDX-License-Identifier: Apache-2.0
/* A log that is cut anywhere, a file with other bytes in it, a clock that was set: never a crash. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/log.h"
#include "explain/explain.h"
#include "test/unit/trace.h"

enum { BATCHES = 12, BATCH = 40 };

static size_t read_bytes(const char *path, uint8_t **ret)
{
	int fd = open(path, O_RDONLY);
	struct stat st = { 0 };
	ssize_t n = -1;

	*ret = NULL;
	if (fd >= 0 && !fstat(fd, &st)) {
		*ret = xcalloc(1, (size_t)st.st_size + 1);
		n = read(fd, *ret, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static int write_bytes(const char *path, const uint8_t *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	return 0;
}

/* Batches of calls, packed and not, each with its number; all of them in the log. */
static int write_batches(struct store *s)
{
	int64_t process, thread;

	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 1, "victim", &process));
	CHECK(!store_thread(s, process, 1, "victim", 1, &thread));
	CHECK(!store_commit(s));
	for (uint64_t n = 1; n <= BATCHES; n++) {
		for (int i = 0; i < BATCH; i++) {
			struct record rec = {
				.op = &op_table[OP_cudaMemcpy],
				.start_ns = n * SEC + (uint64_t)i,
				.because = i % 2 ? BECAUSE_ALL : BECAUSE_SLOW,
				.aux = n,
			};

			CHECK(!store_call(s, thread, &rec, NULL));
		}
		CHECK(!store_op_second(s, thread, n * SEC,
				       &(struct op_delta){ .op = &op_table[0], .calls = n }));
		CHECK(!store_commit(s));
	}
	return 0;
}

/* The file and its log as they are while it is written to. */
struct image {
	uint8_t *db, *log;
	size_t db_len, log_len;
};

static int take_image(struct image *ret)
{
	char log[120];
	struct store *s;

	snprintf(log, sizeof(log), "%s-wal", trace_db);
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (write_batches(s))
		return 1;
	ret->db_len = read_bytes(trace_db, &ret->db);
	ret->log_len = read_bytes(log, &ret->log);
	store_close(s);
	CHECK(ret->db_len && ret->log_len > 10000);
	return 0;
}

static int put_image(const struct image *image, size_t log_len)
{
	char path[120];

	snprintf(path, sizeof(path), "%s-shm", trace_db);
	(void)unlink(path);
	snprintf(path, sizeof(path), "%s-wal", trace_db);
	return write_bytes(trace_db, image->db, image->db_len) ||
	       write_bytes(path, image->log, log_len);
}

static void free_image(struct image *image)
{
	free(image->db);
	free(image->log);
}

DIR_TEST(damage_of_the_logs_end_loses_whole_batches_from_there_on)
{
	struct image image = { 0 };
	uint64_t most = 0;

	if (take_image(&image))
		return 1;
	for (size_t cut = 0; cut <= image.log_len; cut += image.log_len / 97) {
		struct store *s = NULL;
		uint64_t last;

		if (put_image(&image, cut))
			return 1;
		CHECK(!store_open(trace_db, STORE_WRITE, &s));
		CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
		last = strtoull(trace_ask(s, "SELECT coalesce(max(aux), 0) FROM every_call"), NULL,
				10);
		CHECK(last >= most); /* a longer log never has less */
		CHECK_U64(strtoull(trace_ask(s, "SELECT count(*) FROM every_call"), NULL, 10),
			  last * BATCH);
		CHECK_U64(strtoull(trace_ask(s, "SELECT count(*) FROM op_second"), NULL, 10), last);
		most = last;
		CHECK(!trace_run(s)); /* it can be written to */
		store_close(s);
	}
	CHECK(most >= BATCHES - 1);
	free_image(&image);
	return 0;
}

/* Whatever opens is read to the end; whatever does not says so, and is moved aside to be written. */
static int look_at(enum store_mode mode)
{
	struct explanation e;
	struct stack_counts counts;
	struct store *s = NULL;
	struct window w;
	int err = store_open(trace_db, mode, &s);

	if (err) {
		CHECK(why(err)[0] && !s);
		return 0;
	}
	(void)trace_ask(s, "SELECT sum(dur_ns), count(DISTINCT aux) FROM every_call");
	(void)store_stack_counts(s, (struct window){ 0, 0 }, &counts);
	if (!store_span(s, &w) && !explain(s, w, &e))
		explain_free(&e);
	store_close(s);
	return 0;
}

static void spoil(uint8_t *bytes, size_t len, uint64_t seed)
{
	for (size_t k = 0; k < len; k++)
		bytes[k] ^= (uint8_t)(seed >> k % 56 | 1);
}

DIR_TEST(damage_anywhere_never_crashes)
{
	int was = log_level, failed = 0;
	struct image image = { 0 };
	uint64_t seed = 20261115;
	struct store *s;

	if (take_image(&image))
		return 1;
	CHECK(!store_open(trace_db, STORE_WRITE, &s)); /* all of it in the file */
	store_close(s);
	free(image.db);
	image.db_len = read_bytes(trace_db, &image.db);
	CHECK(image.db && image.db_len > 10000);
	log_level = LOG_WARN - 1;
	for (int i = 0; !failed && i < 300; i++) {
		size_t at, len;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		at = i < 100 ? (size_t)i : (size_t)(seed >> 20) % image.db_len;
		len = min_u64(1 + (seed >> 12) % (i % 3 ? 4 : 5000), image.db_len - at);
		spoil(image.db + at, len, seed);
		failed = put_image(&image, 0) || look_at(STORE_READ) || look_at(STORE_WRITE);
		spoil(image.db + at, len, seed); /* twice is not at all */
	}
	log_level = was;
	free_image(&image);
	return failed;
}

/* Begin a run whose boot time 0 is `boot`. */
static int run_at(struct store *s, int64_t boot, int64_t *ret_thread)
{
	struct run_row run = {
		.node = "n",
		.start_ns = (uint64_t)boot,
		.wall_minus_boot_ns = boot,
		.boot_id = "b",
		.version = "0",
		.kernel = "k",
		.gpu = "",
		.attach_mode = "multi",
		.cpus = 1,
	};
	int64_t process;

	CHECK(!store_run(s, &run));
	CHECK(!trace_process(s, 4821, "python3", &process));
	CHECK(!store_thread(s, process, 4821, "python3", 1, ret_thread));
	return 0;
}

/* The clock is a day back, then a day ahead: all runs are whole, and age is by the clock of the run. */
DIR_TEST(damage_by_a_clock_that_was_set_is_none)
{
	static const int64_t off[] = { 0, -86400, 86400 };
	struct retention keep = { .max_age_ns = 3600 * SEC };
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		int64_t thread = 0, boot = BOOT_NS + off[i] * (int64_t)SEC;

		if (run_at(s, boot, &thread))
			return 1;
		for (uint64_t n = 1; n <= 20; n++)
			CHECK(!store_op_second(
				s, thread, n * SEC,
				&(struct op_delta){ .op = &op_table[0], .calls = 1 }));
		CHECK(!store_clock(s, 21 * SEC,
				   (uint64_t)boot + 7200 * SEC)); /* and it is set again */
		CHECK(!store_commit(s));
		if (i == 1) {
			struct store *r;

			CHECK(!store_prune(s, &keep, 21 * SEC, SEC)); /* what is ahead stays */
			CHECK_STR(trace_ask(s, "SELECT count(*) FROM op_second"), "40");
			CHECK(!store_open(trace_db, STORE_READ, &r));
			CHECK(!look_at(STORE_READ));
			store_close(r);
		}
	}
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM op_second"), "60");
	CHECK(!store_prune(s, &keep, 21 * SEC, SEC)); /* a day later, what is a day old goes */
	CHECK_STR(trace_ask(s, "SELECT count(*), count(DISTINCT thread) FROM op_second"), "20|1");
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	store_close(s);
	return 0;
}
