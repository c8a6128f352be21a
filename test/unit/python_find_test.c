// SPDX-License-Identifier: Apache-2.0
/* py_find() against every interpreter that is installed here, and against what is none. */
#include <time.h>

#include "test/test.h"
#include "test/unit/python_live.h"

#define WHY 200

/* Four threads, and what py_find() cannot know but should say. */
static const char threads[] =
	"import ctypes, threading, time, sys, os\n"
	"for _ in range(3): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
	"get = ctypes.pythonapi.PyThreadState_Get\n"
	"get.restype = ctypes.c_void_p\n"
	"time.sleep(0.02)\n"
	"print(sys.version_info[1], id(None), get(), flush=True)\n"
	"time.sleep(60)\n";

static const char forks[] = "import os, time\n"
			    "pid = os.fork()\n"
			    "if pid: print(pid, flush=True)\n"
			    "time.sleep(60)\n";

TEST(python_of_every_installed_version_is_found_and_checked)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		struct py_layout l;
		struct live live;
		uint64_t none, state, holder;
		unsigned long minor;
		char why[WHY], *at;
		enum py_found found;

		CHECK(live_start(&live, all.path[i], threads));
		found = py_find(live.pid, &l, why, sizeof(why));
		minor = strtoul(live.said, &at, 10);
		none = strtoull(at, &at, 10);
		state = strtoull(at, &at, 10);
		if (found != PY_FOUND || !strstr(why, ", 4 of 4 threads checked")) {
			live_stop(&live);
			return test_fail(__FILE__, __LINE__, "%s: %d, %s", all.path[i], found, why);
		}
		CHECK_U64(l.version, 0x300 + minor);
		CHECK_U64(l.none, none);
		CHECK(l.gil && live_read(live.pid, l.gil + GIL_LAST_HOLDER, &holder, 8));
		live_stop(&live);
		CHECK_U64(holder, state); /* the others slept before it */
	}
	return 0;
}

TEST(python_is_found_in_a_forked_child)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		struct py_layout parent, child;
		enum py_found found = PY_NONE;
		struct live live;
		char why[WHY];
		int pid;

		CHECK(live_start(&live, all.path[i], forks));
		pid = (int)strtol(live.said, NULL, 10);
		CHECK(py_find(live.pid, &parent, why, sizeof(why)) == PY_FOUND);
		if (pid > 0) {
			found = py_find(pid, &child, why, sizeof(why));
			kill(pid, SIGKILL);
		}
		live_stop(&live);
		CHECK(found == PY_FOUND);
		CHECK(parent.key == child.key && parent.gil == child.gil);
		CHECK(parent.tsd == child.tsd && parent.version == child.version);
	}
	return 0;
}

TEST(python_is_not_found_where_there_is_none)
{
	struct py_layout l;
	struct live live;
	char why[WHY];

	CHECK(py_find(getpid(), &l, why, sizeof(why)) == PY_NONE);
	CHECK(py_find(1, &l, why, sizeof(why)) == PY_NONE);
	CHECK(py_find(-1, &l, why, sizeof(why)) == PY_NONE);
	CHECK(live_start(&live, "/bin/sh", "echo ready; sleep 60"));
	CHECK(py_find(live.pid, &l, why, sizeof(why)) == PY_NONE);
	live_stop(&live);
	CHECK(py_find(live.pid, &l, why, sizeof(why)) == PY_NONE);
	return 0;
}

/* From before the exec to the end of it: none or too early, then found, never anything else. */
static int watch_start(const char *path, bool *ret_found)
{
	struct py_layout l;
	char why[WHY], refusal[WHY] = "";
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, "-c", "import time; time.sleep(0.05)", NULL);
		_exit(127);
	}
	*ret_found = false;
	while (!waitpid(pid, NULL, WNOHANG)) {
		enum py_found found = py_find(pid, &l, why, sizeof(why));

		if (found == PY_REFUSED)
			str_copy(refusal, sizeof(refusal), why);
		*ret_found |= found == PY_FOUND;
	}
	return refusal[0] ? test_fail(__FILE__, __LINE__, "%s: %s", path, refusal) : 0;
}

TEST(python_that_starts_or_ends_is_never_refused)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		bool found = false, ever = false;

		for (int k = 0; k < 3; k++) {
			if (watch_start(all.path[i], &found))
				return 1;
			ever |= found;
		}
		CHECK(ever);
	}
	return 0;
}
