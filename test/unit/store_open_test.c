// SPDX-License-Identifier: Apache-2.0
/* Tests of store/open.c: files that are ours, foreign, newer, broken or not there; a full disk. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fail.h"
#include "base/log.h"
#include "test/unit/trace.h"

/* A corrupt file is reported on stderr; these tests expect that and do not show it. */
static int open_quietly(const char *path, enum store_mode mode, struct store **ret)
{
	int err, was = log_level;

	log_level = LOG_WARN - 1;
	err = store_open(path, mode, ret);
	log_level = was;
	return err;
}

static int write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	return 0;
}

static size_t read_file(const char *path, char *bytes, size_t cap)
{
	int fd = open(path, O_RDONLY);
	ssize_t len = fd < 0 ? 0 : read(fd, bytes, cap);

	close(fd);
	return len < 0 ? 0 : (size_t)len;
}

/* The file in trace_dir whose name contains part; "" if there is none. */
static const char *find_file(const char *part)
{
	static char path[400];
	DIR *dir = opendir(trace_dir);
	struct dirent *entry;

	path[0] = '\0';
	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, part))
			snprintf(path, sizeof(path), "%s/%s", trace_dir, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return path;
}

/* Run SQL on a file that store_open() would not take. */
static int foreign_exec(const char *sql)
{
	sqlite3 *db;

	CHECK(sqlite3_open(trace_db, &db) == SQLITE_OK);
	CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	CHECK(sqlite3_close(db) == SQLITE_OK);
	return 0;
}

/* A trace with one run and one process in trace_db. */
static int make_trace(void)
{
	struct store *s;
	int64_t process;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	store_close(s);
	return 0;
}

/* Is it still what make_trace() wrote? */
static int reads_as_made(void)
{
	struct store *s;

	CHECK(!store_open(trace_db, STORE_READ, &s));
	CHECK_STR(trace_ask(s, "SELECT pid FROM process"), "4821");
	store_close(s);
	return 0;
}

DIR_TEST(store_open_makes_a_file_that_only_its_owner_can_read)
{
	static const char *const suffix[] = { "", "-wal", "-shm" };
	mode_t umask_was = umask(0);
	struct stat st;
	struct store *s;
	char path[128];
	int err = store_open(trace_db, STORE_WRITE, &s);

	umask(umask_was);
	CHECK(!err);
	CHECK(!trace_run(s));
	for (size_t i = 0; i < ARRAY_LEN(suffix); i++) {
		snprintf(path, sizeof(path), "%s%s", trace_db, suffix[i]);
		CHECK(!stat(path, &st));
		CHECK_U64(st.st_mode & 07777, 0600);
	}
	store_close(s);
	return 0;
}

DIR_TEST(store_close_commits_and_a_reopened_trace_goes_on)
{
	struct store *s;
	int64_t process = 0;

	if (make_trace())
		return 1;
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4822, "python3", &process));
	store_close(s);
	CHECK(process == 2);
	CHECK(!store_open(trace_db, STORE_READ, &s));
	CHECK_STR(trace_ask(s, "SELECT run, pid, text FROM process JOIN string ON string.id=comm"),
		  "1|4821|python3;2|4822|python3");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM node"), "1");
	store_close(s);
	return 0;
}

DIR_TEST(store_opened_for_reading_cannot_be_written)
{
	struct store *s;
	int64_t process;

	if (make_trace())
		return 1;
	CHECK(!store_open(trace_db, STORE_READ, &s));
	CHECK(trace_process(s, 1, "p", &process) < 0);
	CHECK(store_exec(s, "DELETE FROM process") < 0);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM process"), "1");
	store_close(s);
	return 0;
}

DIR_TEST(store_open_of_a_foreign_database_refuses_and_leaves_it_alone)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
	static char before[32768], after[32768];
	size_t len;

	if (foreign_exec("CREATE TABLE precious(x); INSERT INTO precious VALUES(1)"))
		return 1;
	len = read_file(trace_db, before, sizeof(before));
	CHECK(len > 0 && len < sizeof(before));
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct store *s = NULL;
		int err = store_open(trace_db, modes[i], &s);

		CHECK(err == -EMEDIUMTYPE && !s);
		CHECK(strstr(why(err), "trace.db: is a database, but not a culprit trace"));
		CHECK_U64(read_file(trace_db, after, sizeof(after)), len);
		CHECK(memcmp(before, after, len) == 0);
	}
	CHECK_STR(find_file(".corrupt-"), "");
	return 0;
}

DIR_TEST(store_open_of_another_programs_empty_database_refuses)
{
	struct store *s;
	int err;

	if (foreign_exec("PRAGMA application_id=1234; PRAGMA user_version=1"))
		return 1;
	err = store_open(trace_db, STORE_WRITE, &s);
	CHECK(err == -EMEDIUMTYPE);
	return 0;
}

/* Older and newer, for reading and writing: refused, with the way out, and left alone. */
DIR_TEST(store_open_of_a_newer_versions_trace_refuses_and_says_what_to_do)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
	static const char *const versions[] = { "8", "99", "0", "-1" };

	if (make_trace())
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(versions) * ARRAY_LEN(modes); i++) {
		const char *version = versions[i / ARRAY_LEN(modes)];
		struct store *s = NULL;
		char text[128];
		int err;

		snprintf(text, sizeof(text), "PRAGMA user_version=%s", version);
		if (foreign_exec(text))
			return 1;
		err = store_open(trace_db, modes[i % ARRAY_LEN(modes)], &s);
		CHECK(err == -ENOTSUP && !s);
		if (version[0] > '0')
			snprintf(text, sizeof(text),
				 "made by a newer culprit (version %s of the tables, this one knows"
				 " up to 7): use that one",
				 version);
		else
			snprintf(text, sizeof(text), "never was (%s): move it aside", version);
		CHECK(strstr(why(err), text));
		CHECK(strstr(why(err), "give --db another file"));
		CHECK(strstr(why(err), trace_db));
	}
	CHECK_STR(find_file(".corrupt-"), "");
	if (foreign_exec("PRAGMA user_version=6"))
		return 1;
	return reads_as_made();
}

DIR_TEST(store_open_names_the_path_that_is_not_there)
{
	char path[128];
	struct store *s;

	snprintf(path, sizeof(path), "%s/no/such/trace.db", trace_dir);
	CHECK(store_open(path, STORE_WRITE, &s) == -ENOENT);
	CHECK(strstr(why(-ENOENT), path));
	CHECK(store_open(path, STORE_READ, &s) == -ENOENT);
	CHECK(strstr(why(-ENOENT), path));
	CHECK(store_open(trace_db, STORE_READ, &s) == -ENOENT); /* the folder is, the file is not */
	CHECK_STR(find_file("trace"), "");
	return 0;
}

DIR_TEST(store_open_does_not_write_through_a_symbolic_link)
{
	char target[128];
	struct store *s;

	snprintf(target, sizeof(target), "%s/target", trace_dir);
	CHECK(!symlink(target, trace_db));
	CHECK(store_open(trace_db, STORE_WRITE, &s) == -ELOOP);
	CHECK(access(target, F_OK));
	return 0;
}

DIR_TEST(store_open_takes_an_empty_file_for_writing_but_not_for_reading)
{
	struct store *s;

	if (write_file(trace_db, "", 0))
		return 1;
	CHECK(store_open(trace_db, STORE_READ, &s) == -EMEDIUMTYPE);
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	store_close(s);
	return 0;
}

/* ---- corrupt files ---- */

static char broken[65536]; /* what the corrupt file of the test holds */

DIR_TEST(store_open_for_writing_moves_a_corrupt_file_aside_and_starts_anew)
{
	char got[sizeof(broken)];
	struct store *s;
	int64_t process;

	memset(broken, 'x', sizeof(broken));
	memcpy(broken + 68, "CULP", 4); /* what is left of our header */
	if (write_file(trace_db, broken, sizeof(broken)))
		return 1;
	CHECK(!open_quietly(trace_db, STORE_WRITE, &s));
	CHECK(strstr(find_file(".corrupt-"), "/trace.db.corrupt-"));
	CHECK_U64(read_file(find_file(".corrupt-"), got, sizeof(got)), sizeof(broken));
	CHECK(memcmp(got, broken, sizeof(broken)) == 0);
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	store_close(s);
	CHECK(!store_open(trace_db, STORE_READ, &s));
	CHECK_STR(trace_ask(s, "SELECT pid FROM process"), "4821");
	store_close(s);
	return 0;
}

/* Somebody gave --db the name of a file of his. */
DIR_TEST(store_open_for_writing_leaves_a_file_that_was_never_a_trace_alone)
{
	static const char text[] = "alice:x:1000:1000::/home/alice:/bin/sh\n";
	char got[sizeof(broken)];
	struct store *s = NULL;

	if (write_file(trace_db, text, sizeof(text)))
		return 1;
	CHECK(open_quietly(trace_db, STORE_WRITE, &s) < 0);
	CHECK(!s);
	CHECK_U64(read_file(trace_db, got, sizeof(got)), sizeof(text));
	CHECK(memcmp(got, text, sizeof(text)) == 0);
	CHECK_STR(find_file(".corrupt-"), "");
	return 0;
}

DIR_TEST(store_open_for_reading_leaves_a_corrupt_file_alone)
{
	char got[sizeof(broken)];
	struct store *s = NULL;

	memset(broken, 'x', sizeof(broken));
	if (write_file(trace_db, broken, sizeof(broken)))
		return 1;
	CHECK(open_quietly(trace_db, STORE_READ, &s) < 0);
	CHECK(!s);
	CHECK_U64(read_file(trace_db, got, sizeof(got)), sizeof(broken));
	CHECK(memcmp(got, broken, sizeof(broken)) == 0);
	CHECK_STR(find_file(".corrupt-"), "");
	return 0;
}

/* A database of ours whose first page, the list of tables, was overwritten. */
DIR_TEST(store_open_moves_a_trace_with_a_torn_first_page_aside)
{
	struct store *s;
	int fd;

	if (make_trace())
		return 1;
	fd = open(trace_db, O_WRONLY);
	memset(broken, 0xff, sizeof(broken));
	CHECK(fd >= 0);
	CHECK(pwrite(fd, broken, 3000, 100) == 3000); /* past the header */
	close(fd);
	CHECK(open_quietly(trace_db, STORE_READ, &s) < 0);
	CHECK_STR(find_file(".corrupt-"), "");
	CHECK(!open_quietly(trace_db, STORE_WRITE, &s));
	CHECK(find_file(".corrupt-")[0]);
	CHECK(!trace_run(s));
	store_close(s);
	return 0;
}

/*
 * After a kill the newest rows are only in the log beside the file. It must go with the file: it
 * is what a rescue needs, and it must not be taken for the log of the new one.
 */
DIR_TEST(store_open_moves_the_log_of_a_corrupt_file_aside_with_it)
{
	char wal[128];
	struct stat st;
	struct store *s;

	if (make_trace())
		return 1;
	memset(broken, 'x', sizeof(broken));
	memcpy(broken, "SQLite format 3", 16);
	snprintf(wal, sizeof(wal), "%s-wal", trace_db);
	if (write_file(trace_db, broken, 4096) || write_file(wal, broken, 12345))
		return 1;
	CHECK(!open_quietly(trace_db, STORE_WRITE, &s));
	store_close(s);
	CHECK(strstr(find_file("-wal"), ".corrupt-"));
	CHECK(!stat(find_file("-wal"), &st));
	CHECK_U64(st.st_size, 12345);
	return 0;
}

/* ---- several at once ---- */

DIR_TEST(store_can_be_read_while_it_is_written)
{
	struct store *writer, *reader;
	int64_t process;

	CHECK(!store_open(trace_db, STORE_WRITE, &writer));
	CHECK(!trace_run(writer));
	CHECK(!store_open(trace_db, STORE_READ, &reader));
	for (uint32_t i = 1; i <= 50; i++) {
		char want[16];

		CHECK(!trace_process(writer, i, "python3", &process));
		snprintf(want, sizeof(want), "%u", i - 1);
		CHECK_STR(trace_ask(reader, "SELECT count(*) FROM process"), want); /* not yet */
		CHECK(!store_commit(writer));
		snprintf(want, sizeof(want), "%u", i);
		CHECK_STR(trace_ask(reader, "SELECT count(*) FROM process"), want);
	}
	store_close(reader);
	store_close(writer);
	return 0;
}

DIR_TEST(store_commit_without_anything_to_commit_is_fine)
{
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!store_commit(s));
	CHECK(!trace_run(s));
	CHECK(!store_commit(s));
	CHECK(!store_commit(s));
	store_close(s);
	store_close(NULL);
	return 0;
}

/* Names and ops of what was given up are written again when they come again. */
DIR_TEST(store_rollback_gives_up_what_was_not_committed_and_nothing_else)
{
	struct op_delta delta = { .op = &op_table[OP_cudaMemcpy], .calls = 1 };
	int64_t process, thread;
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 1, "kept", &process));
	CHECK(!store_commit(s));
	for (int i = 0; i < 2; i++) {
		CHECK(!trace_process(s, 2, "given up", &process));
		CHECK(!store_thread(s, process, 2, "given up", 1, &thread));
		CHECK(!store_op_second(s, thread, 1, &delta));
		if (!i)
			store_rollback(s);
	}
	CHECK(!store_commit(s));
	store_rollback(s); /* nothing is open: nothing happens */
	CHECK_STR(trace_ask(s, "SELECT text FROM process JOIN string ON string.id=comm"),
		  "kept;given up");
	CHECK_STR(trace_ask(s, "SELECT symbol, calls FROM op_second JOIN op ON op.id=op"),
		  "cudaMemcpy|1");
	store_close(s);
	return 0;
}

/*
 * A full disk costs the batch that hit it. What comes later, once there is room, must be whole
 * again: names that were written in the lost batch too.
 */
DIR_TEST(store_is_whole_again_after_a_full_disk)
{
	struct who who = { 4242, 1, 5, "hog" };
	int64_t process, thread;
	struct store *s;
	int err = 0;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	CHECK(!store_thread(s, process, 4821, "python3", 1, &thread));
	CHECK(!store_commit(s));
	trace_ask(s, "PRAGMA max_page_count=80"); /* the disk ends here */
	for (uint64_t at = 1; !err && at < 100000; at++)
		err = store_blame_second(s, thread, at, &who);
	CHECK(err == -ENOSPC);
	trace_ask(s, "PRAGMA max_page_count=100000");
	CHECK(!store_blame_second(s, thread, 100001, &who));
	CHECK(!store_commit(s));
	CHECK_STR(trace_ask(s,
			    "SELECT pid, ns, text FROM blame_second JOIN string ON string.id=comm"),
		  "4242|5|hog");
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	store_close(s);
	return 0;
}

/* In a process of its own, whose files may not grow beyond limit bytes. */
static int open_with_room(rlim_t limit)
{
	struct rlimit room = { limit, limit };
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct store *s;

		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &room))
			_exit(2);
		if (!open_quietly(trace_db, STORE_WRITE, &s))
			store_close(s);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

/* Wherever the making of the tables was cut short: the next start is not refused. */
DIR_TEST(store_open_works_after_an_earlier_one_ran_out_of_disk)
{
	for (rlim_t limit = 0; limit < 200000; limit += 1900) {
		struct store *s;

		if (open_with_room(limit))
			return 1;
		CHECK(!store_open(trace_db, STORE_WRITE, &s));
		CHECK(!trace_run(s));
		store_close(s);
		CHECK_STR(find_file(".corrupt-"), "");
		CHECK(!unlink(trace_db));
	}
	return 0;
}
