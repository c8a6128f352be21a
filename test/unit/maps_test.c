// SPDX-License-Identifier: Apache-2.0
#include "capture/maps.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"
#include "wire/ops.h"

struct seen {
	int lines, stop_at;
	struct map_line last;
	char path[128];
};

static int see(const struct map_line *line, void *arg)
{
	struct seen *s = arg;

	s->last = *line;
	str_copy(s->path, sizeof(s->path), line->path);
	return ++s->lines == s->stop_at ? 42 : 0;
}

/* Parse a copy, as the text is modified. */
static int parse(const char *text, struct seen *s)
{
	char *copy = strdup(text);
	int err = maps_parse(copy, see, s);

	free(copy);
	return err;
}

TEST(maps_reads_every_field_of_a_line)
{
	struct seen s = { 0 };

	CHECK(!parse("7f3a12c00000-7f3a12c25000 r-xp 00001000 fd:1a 1837465                    "
		     "/usr/lib/libcuda.so.1\n",
		     &s));
	CHECK(s.lines == 1);
	CHECK_U64(s.last.start, 0x7f3a12c00000);
	CHECK_U64(s.last.end, 0x7f3a12c25000);
	CHECK_U64(s.last.offset, 0x1000);
	CHECK_U64(s.last.inode, 1837465);
	CHECK(s.last.dev_major == 0xfd && s.last.dev_minor == 0x1a && s.last.exec);
	CHECK_STR(s.path, "/usr/lib/libcuda.so.1");
	return 0;
}

TEST(maps_knows_data_from_code)
{
	struct seen s = { 0 };

	CHECK(!parse("1000-2000 rw-p 00000000 00:00 0 \n", &s));
	CHECK(s.lines == 1 && !s.last.exec);
	CHECK_STR(s.path, "");
	return 0;
}

TEST(maps_keeps_spaces_and_the_deleted_mark_in_a_path)
{
	struct seen s = { 0 };

	CHECK(!parse("1000-2000 r-xp 0 00:00 7 /a b/lib c.so (deleted)\n", &s));
	CHECK_STR(s.path, "/a b/lib c.so (deleted)");
	return 0;
}

TEST(maps_reads_a_last_line_without_a_newline)
{
	struct seen s = { 0 };

	CHECK(!parse("1000-2000 r-xp 0 00:00 7 /a\n3000-4000 r-xp 0 00:00 8 /b", &s));
	CHECK(s.lines == 2);
	CHECK_STR(s.path, "/b");
	return 0;
}

TEST(maps_skips_malformed_lines)
{
	static const char *const bad[] = {
		"",
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp ",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 00",
		"1000-2000 r-xp 0 00:00",
		"1000-2000 r-xp 0 00:00 ",
		"1000-2000 r-xp 0 00:00 7x",
		"1000-2000 r-xp 0 100000000:00 7",
		"1000-2000 r-xpp 0 00:00 7",
		"2000-1000 r-xp 0 00:00 7",
		"1000-1000 r-xp 0 00:00 7",
		"10000000000000000-20000000000000000 r-xp 0 00:00 7",
		"1000-2000 r-xp 0 00:00 18446744073709551616",
		"-1000-2000 r-xp 0 00:00 7",
		" 1000-2000 r-xp 0 00:00 7",
	};
	struct seen s = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!parse(bad[i], &s) && s.lines == 0);
	CHECK(!parse("junk\n\n1000-2000 r-xp 0 00:00 7 /a\njunk\n", &s));
	CHECK(s.lines == 1);
	return 0;
}

TEST(maps_takes_the_largest_numbers)
{
	struct seen s = { 0 };

	CHECK(!parse("0-ffffffffffffffff --xp ffffffffffffffff ffffffff:ffffffff "
		     "18446744073709551615\n",
		     &s));
	CHECK(s.lines == 1);
	CHECK_U64(s.last.inode, UINT64_MAX);
	CHECK_U64(s.last.offset, UINT64_MAX);
	return 0;
}

TEST(maps_stops_when_told)
{
	struct seen s = { .stop_at = 2 };

	CHECK(parse("1000-2000 r-xp 0 0:0 1\n2000-3000 r-xp 0 0:0 1\n3000-4000 r-xp 0 0:0 1\n",
		    &s) == 42);
	CHECK(s.lines == 2);
	return 0;
}

struct wanted {
	uint64_t addr;
	bool found, exec;
};

static int want(const struct map_line *line, void *arg)
{
	struct wanted *w = arg;

	if (w->addr >= line->start && w->addr < line->end) {
		w->found = true;
		w->exec = line->exec;
	}
	return 0;
}

TEST(maps_shows_our_own_code)
{
	struct wanted code = { .addr = (uint64_t)(uintptr_t)maps_each };
	struct wanted stack = { .addr = (uint64_t)(uintptr_t)&code };

	CHECK(!maps_each(getpid(), want, &code) && code.found && code.exec);
	CHECK(!maps_each(getpid(), want, &stack) && stack.found && !stack.exec);
	return 0;
}

/* Enough lines that they cannot fit into any buffer of ours at once. */
TEST(maps_streams_thousands_of_lines)
{
	enum { PAGES = 6000 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct seen s = { 0 };

	CHECK(area != MAP_FAILED);
	for (size_t i = 0; i < PAGES; i += 2)
		CHECK(!mprotect(area + i * page, page, PROT_NONE));
	CHECK(!maps_each(getpid(), see, &s));
	CHECK(s.lines >= PAGES);
	munmap(area, PAGES * page);
	return 0;
}

TEST(maps_says_when_a_process_is_gone)
{
	pid_t pid = fork();
	struct seen s = { 0 };

	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(maps_each(pid, see, &s) == -ESRCH);
	CHECK(maps_each(-1, see, &s) == -ESRCH);
	return 0;
}

static int find_pid(int pid, void *arg)
{
	return pid == *(int *)arg ? 7 : 0;
}

TEST(procs_include_ourselves)
{
	int self = getpid(), none = -1;

	CHECK(procs_each(find_pid, &self) == 7);
	CHECK(procs_each(find_pid, &none) == 0);
	return 0;
}

TEST(maps_lib_knows_the_libraries_by_their_base_name)
{
	CHECK(maps_lib("/usr/lib/libcudart.so.13") == LIB_CUDART);
	CHECK(maps_lib("/usr/lib/libcudart.so") == LIB_CUDART);
	CHECK(maps_lib("libcudart.so.12.4.127") == LIB_CUDART);
	CHECK(maps_lib("/x/libcudart-d0da41ae.so.11.0") == LIB_CUDART);
	CHECK(maps_lib("/x/libcudart-d0da41ae.so.11.0 (deleted)") == LIB_CUDART);
	CHECK(maps_lib("/usr/lib/libcuda.so.1") == LIB_CUDA);
	CHECK(maps_lib("/usr/lib/libcuda.so.580.65.06") == LIB_CUDA);
	CHECK(maps_lib("/usr/lib/libcuda.so (deleted)") == LIB_CUDA);
	CHECK(maps_lib("/usr/lib/libcuda.so.1 (deleted)") == LIB_CUDA);
	CHECK(maps_lib("/venv/nvidia/nccl/lib/libnccl.so.2") == LIB_NCCL);
	CHECK(maps_lib("/venv/libnccl-1b2c.so.2") == LIB_NCCL);
	return 0;
}

TEST(maps_lib_is_not_taken_in_by_similar_names)
{
	static const char *const others[] = {
		"",
		"/",
		"[vdso]",
		"/usr/lib/libcudadebugger.so.1",
		"/usr/lib/libcudart_static.a",
		"/usr/lib/libcuda.sofa",
		"/usr/lib/libcuda.so-old",
		"/usr/lib/libcuda-1234.so.1",
		"/usr/lib/libcudart-abcd.txt",
		"/usr/lib/libcudart-abcd.solid",
		"/usr/lib/xlibcudart.so.13",
		"/usr/lib/libcudart.so.13/other.so",
		"/usr/lib/libnccl-net.txt",
		"/usr/lib/libcudnn.so.9",
		" (deleted)",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (maps_lib(others[i]) != -1)
			return test_fail(__FILE__, __LINE__, "%s is a library", others[i]);
	return 0;
}
