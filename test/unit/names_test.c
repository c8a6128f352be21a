// SPDX-License-Identifier: Apache-2.0
/* Names of real things: interrupts, descriptors, sockets, and a Python that fights for its lock. */
#include "capture/names.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "capture/host.h"
#include "test/test.h"

TEST(names_of_interrupts_are_those_of_the_kernel)
{
	DIR *dir = opendir("/sys/kernel/irq");
	struct dirent *entry;
	char got[64], path[300], want[64];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/irq/%s/actions", entry->d_name);
		CHECK(!file_read(path, want, sizeof(want), NULL));
		want[strcspn(want, "\n")] = '\0';
		CHECK(names_irq((int)strtol(entry->d_name, NULL, 10), got, sizeof(got)) ==
		      (want[0] != '\0'));
		CHECK_STR(got, want);
	}
	if (dir)
		closedir(dir);
	str_copy(got, sizeof(got), "x");
	CHECK(!names_irq(-1, got, sizeof(got)));
	CHECK_STR(got, "");
	CHECK(!names_irq(1000000, got, sizeof(got)));
	return 0;
}

/* The root group has the id 1 wherever there is a unified hierarchy; asking needs rights. */
TEST(names_of_control_groups_and_disks_are_told_or_are_empty)
{
	char got[64] = "x";

	if (names_cgroup(1, got, sizeof(got)))
		CHECK_STR(got, "/");
	else
		CHECK_STR(got, "");
	CHECK(!names_cgroup(UINT64_MAX, got, sizeof(got)));
	CHECK_STR(got, "");
	str_copy(got, sizeof(got), "x");
	CHECK(!names_disk(4000ull << 20 | 77, got, sizeof(got)));
	CHECK_STR(got, "");
	return 0;
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

TEST(names_of_descriptors_hold_while_they_are_open)
{
	char got[128], want[64];
	int ends[2], null = open("/dev/null", O_RDONLY);
	uint64_t ino;

	CHECK(!pipe(ends));
	ino = inode_of(ends[0]);
	snprintf(want, sizeof(want), "pipe:[%llu]", (unsigned long long)ino);
	CHECK(names_fd(getpid(), ends[0], ino, got, sizeof(got)));
	CHECK_STR(got, want);
	CHECK(names_fd(getpid(), null, inode_of(null), got, sizeof(got)));
	CHECK_STR(got, "/dev/null");

	CHECK(!names_fd(getpid(), ends[0], ino + 1, got, sizeof(got)));
	CHECK_STR(got, "");
	CHECK(dup2(null, ends[0]) == ends[0]); /* the same number, another file */
	CHECK(!names_fd(getpid(), ends[0], ino, got, sizeof(got)));
	close(ends[0]);
	CHECK(!names_fd(getpid(), ends[0], ino, got, sizeof(got)));
	CHECK(!names_fd(getpid(), -1, ino, got, sizeof(got)));
	close(ends[1]);
	close(null);
	return 0;
}

TEST(names_of_descriptors_are_safe_to_print)
{
	static const char path[] = "/tmp/names_test\n\x1b[31m";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char got[128];

	CHECK(fd >= 0 && !unlink(path));
	CHECK(names_fd(getpid(), fd, inode_of(fd), got, sizeof(got)));
	CHECK_STR(got, "/tmp/names_test\\x0a\\x1b[31m (deleted)");
	CHECK(names_fd(getpid(), fd, inode_of(fd), got, 10));
	CHECK_STR(got, "/tmp/name");
	close(fd);
	fd = eventfd(0, 0);
	CHECK(names_fd(getpid(), fd, inode_of(fd), got, sizeof(got)));
	CHECK_STR(got, "anon_inode:[eventfd]");
	close(fd);
	return 0;
}

/* A socket that listens on a port of the kernel's choice. */
static int listen_somewhere(int family, uint16_t *ret_port)
{
	struct sockaddr_in6 addr = { .sin6_family = (sa_family_t)family };
	socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(addr);
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&addr, len) || listen(fd, 1) ||
	    getsockname(fd, (void *)&addr, &len)) {
		close(fd);
		return -1;
	}
	*ret_port = ntohs(addr.sin6_port);
	return fd;
}

TEST(names_know_who_listens)
{
	uint16_t port = 0, port6 = 0;
	int fd = listen_somewhere(AF_INET, &port), fd6 = listen_somewhere(AF_INET6, &port6);
	struct names *n = names_new();

	if (fd >= 0)
		CHECK(names_listens(n, getpid(), port));
	if (fd6 >= 0)
		CHECK(names_listens(n, getpid(), port6));
	CHECK(!names_listens(n, getpid(), 1));
	close(fd);
	close(fd6);
	if (fd >= 0)
		CHECK(names_listens(n, getpid(), port)); /* not read again within a second */
	names_free(n);

	n = names_new();
	CHECK(!names_listens(n, getpid(), port));
	CHECK(!names_listens(n, -1, port));
	names_free(n);
	return 0;
}

TEST(names_read_lines_of_the_socket_table)
{
	uint16_t port = 0;

	CHECK(names_tcp_line("   0: 0100007F:1F90 00000000:0000 0A 0:0 1", &port) == 10);
	CHECK(port == 8080);
	CHECK(names_tcp_line("  17: 0000000000000000FFFF00000100007F:A1B2 "
			     "0000000000000000FFFF00000100007F:0016 01 00",
			     &port) == 1);
	CHECK(port == 0xa1b2);
	CHECK(names_tcp_line("  sl  local_address rem_address   st tx_queue", &port) == -1);
	CHECK(names_tcp_line("", &port) == -1);
	CHECK(names_tcp_line("0: ", &port) == -1);
	CHECK(names_tcp_line("0: 0100007F", &port) == -1);
	CHECK(names_tcp_line("0: 0100007F:", &port) == -1);
	CHECK(names_tcp_line("0: 0100007F:12345 0:0 0A", &port) == -1);
	CHECK(names_tcp_line("0: 0100007F:1F90 00000000:0000 0A1", &port) == -1);
	return 0;
}

TEST(names_of_connections_are_the_other_end)
{
	uint64_t addr = inet_addr("10.0.0.2");
	char got[32];

	CHECK_STR(names_tcp(addr << 32 | 9000ull << 16 | 51234, got, sizeof(got)), "10.0.0.2:9000");
	CHECK_STR(names_tcp(9000ull << 16 | 51234, got, sizeof(got)), ":9000");
	CHECK_STR(names_tcp(UINT64_MAX, got, sizeof(got)), "255.255.255.255:65535");
	CHECK_STR(names_tcp(UINT64_MAX, got, 4), "255");
	return 0;
}

/* ---- Python's lock */

static const char program[] = "import threading as t, time\n"
			      "hold = t.Lock(); hold.acquire()\n"
			      "def spin():\n"
			      "    print('spin', t.get_native_id(), flush=True)\n"
			      "    while True: pass\n"
			      "def wait():\n"
			      "    print('wait', t.get_native_id(), flush=True)\n"
			      "    hold.acquire()\n"
			      "t.Thread(target=wait, daemon=True).start()\n"
			      "time.sleep(0.3)\n"
			      "for f in (spin, spin): t.Thread(target=f, daemon=True).start()\n"
			      "t.Event().wait()\n";

struct python {
	pid_t pid;
	int spin[2], wait; /* threads */
};

/* False: no Python here. */
static bool python_start(struct python *ret)
{
	char line[64];
	int from_child[2], n = 0;
	FILE *in;

	memset(ret, 0, sizeof(*ret));
	if (pipe(from_child))
		abort();
	ret->pid = fork();
	if (!ret->pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(from_child[1], 1);
		dup2(null, 2);
		close(from_child[0]);
		execlp("python3", "python3", "-c", program, NULL);
		_exit(127);
	}
	close(from_child[1]);
	in = fdopen(from_child[0], "r");
	while (n < 2 && fgets(line, sizeof(line), in)) {
		int tid = (int)strtol(line + strcspn(line, " "), NULL, 10);

		if (starts_with(line, "wait"))
			ret->wait = tid;
		else
			ret->spin[n++] = tid;
	}
	fclose(in);
	return n == 2 && ret->wait;
}

static void python_stop(const struct python *py)
{
	kill(py->pid, SIGKILL);
	waitpid(py->pid, NULL, 0);
}

/* The futex that a thread waits on right now; 0: it does something else. */
static uint64_t futex_of(int pid, int tid)
{
	char path[64], text[256], *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	if (file_read(path, text, sizeof(text), NULL))
		return 0;
	if (strtol(text, &at, 10) != SYS_futex || at == text)
		return 0;
	return strtoull(at, NULL, 16);
}

/* How often a thread gave up its CPU. One that waits for the interpreter's lock looks up every 5 ms, one
 * that waits for another lock sleeps on. */
static long switches_of(int pid, int tid)
{
	char path[64], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (file_read(path, text, sizeof(text), NULL))
		return -1;
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	return at ? strtol(strchr(at, ':') + 1, NULL, 10) : -1;
}

/* The thread has arrived at the lock that nobody gives back, and sleeps. */
static bool settled(const struct python *py)
{
	struct timespec pause = { .tv_nsec = 50000000 };

	for (int i = 0; i < 1200; i++) {
		long before = switches_of(py->pid, py->wait);

		nanosleep(&pause, NULL);
		if (before > 0 && switches_of(py->pid, py->wait) == before &&
		    futex_of(py->pid, py->wait))
			return true;
	}
	return false;
}

TEST(names_tell_the_lock_of_python_from_others)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct names *n = names_new();
	int waits = 0, own = 0, others = 0, other_waits = 0;
	struct proc_info info = { .pid = 0 };
	struct python py;
	uint64_t last = 0;
	bool rests;

	if (!python_start(&py) || proc_read(py.pid, &info)) {
		python_stop(&py);
		names_free(n);
		return 0; /* none, or one from before 3.8 */
	}
	rests = settled(&py);
	if (!rests) {
		python_stop(&py);
		names_free(n);
	}
	CHECK(rests);
	for (int i = 0; i < 3000 && (waits < 100 || other_waits < 20); i++) {
		uint64_t addr;

		for (int k = 0; k < 2; k++) {
			addr = futex_of(py.pid, py.spin[k]);
			waits += addr != 0;
			last = addr ? addr : last;
			own += addr && names_is_gil(n, py.pid, info.start_ns, addr);
		}
		addr = futex_of(py.pid, py.wait);
		other_waits += addr != 0;
		others += addr && names_is_gil(n, py.pid, info.start_ns, addr);
		nanosleep(&pause, NULL);
	}
	python_stop(&py);
	/* What it was is remembered when it is gone. */
	own += last && names_is_gil(n, py.pid, info.start_ns, last) ? 0 : -1;
	names_free(n);
	if (geteuid() == 0 && waits) {
		CHECK(own == waits);
		CHECK(others == 0);
	}
	return 0;
}

TEST(names_see_no_python_where_there_is_none)
{
	struct names *n = names_new();

	CHECK(!names_is_gil(n, getpid(), 1, (uint64_t)(uintptr_t)n));
	CHECK(!names_is_gil(n, getpid(), 1, 0));
	CHECK(!names_is_gil(n, -1, 1, 4096));
	for (uint64_t i = 0; i < 10000; i++) /* forgets, rather than grow */
		CHECK(!names_is_gil(n, -1, i, 4096));
	names_free(n);
	names_free(NULL);
	return 0;
}
