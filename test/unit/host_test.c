// SPDX-License-Identifier: Apache-2.0
#include "capture/host.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"

static void write_file(int root, const char *path, const char *text)
{
	char dir[256];
	int fd;

	str_copy(dir, sizeof(dir), path);
	for (char *s = strchr(dir, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdirat(root, dir, 0700);
		*s = '/';
	}
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

/* A GPU server in a folder. */
static void read_fake_host(struct host *ret)
{
	char dir[] = "/tmp/host_test.XXXXXX";
	int root = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY) : -1;

	if (root < 0)
		abort();
	write_file(root, "etc/os-release", "ID=x\nPRETTY_NAME=\"Some Linux 12\"\nVERSION=3\n");
	write_file(root, "proc/sys/kernel/random/boot_id",
		   "0f1e2d3c-0000-4000-8000-123456789abc\n");
	write_file(root, "proc/self/status", "Name:\tx\nCapEff:\t000000c000200000\n");
	write_file(root, "proc/meminfo", "MemTotal:       24684100 kB\n");
	write_file(root, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor avx\n");
	write_file(root, "proc/sys/kernel/bpf_stats_enabled", "1\n");
	write_file(root, "sys/kernel/btf/vmlinux", "");
	write_file(root, "sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	write_file(root, "sys/fs/cgroup/unified/cgroup.controllers", "");
	write_file(root, ".dockerenv", "");
	write_file(root, "proc/driver/nvidia/version",
		   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release\n"
		   "GCC version:  gcc\n");
	write_file(root, "proc/driver/nvidia/gpus/0000:9b:00.0/information",
		   "Model: \t\t NVIDIA B200\nIRQ: 5\n");
	write_file(root, "proc/driver/nvidia/gpus/0000:1b:00.0/information",
		   "Model: \t\t NVIDIA H200\x1b[31m\nIRQ: 5\n");
	host_read_at(root, ret);
	close(root);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TEST(host_reads_a_gpu_server)
{
	struct host h;

	read_fake_host(&h);
	CHECK_STR(h.distro, "Some Linux 12");
	CHECK_STR(h.boot_id, "0f1e2d3c-0000-4000-8000-123456789abc");
	CHECK_STR(h.lockdown, "integrity");
	CHECK_STR(h.cgroup, "hybrid");
	CHECK_STR(h.driver, "NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release");
	CHECK_STR(h.gpu_name, "NVIDIA H200\\x1b[31m");
	CHECK_STR(h.virt, "vm docker");
	CHECK(h.gpus == 2 && h.btf && h.bpf_stats);
	CHECK_U64(h.mem_bytes, 24684100ull * 1024);
	return 0;
}

TEST(host_knows_its_capabilities)
{
	struct host h;

	read_fake_host(&h);
	CHECK(host_has_cap(&h, 21) && host_has_cap(&h, 38) && host_has_cap(&h, 39));
	CHECK(!host_has_cap(&h, 0) && !host_has_cap(&h, 40));
	CHECK(!host_has_cap(&h, -1) && !host_has_cap(&h, 64));
	return 0;
}

TEST(host_is_empty_where_nothing_can_be_read)
{
	struct host h;

	host_read_at(-1, &h);
	CHECK_STR(h.distro, "");
	CHECK_STR(h.driver, "");
	CHECK_STR(h.virt, "");
	CHECK(!h.btf && !h.gpus && !h.caps && !h.mem_bytes);
	return 0;
}

TEST(host_reads_this_host)
{
	struct host h;

	host_read(&h);
	CHECK(h.kernel[0] && h.machine[0] && h.cpus > 0 && h.mem_bytes > 1 << 20);
	CHECK(strlen(h.boot_id) == 36);
	return 0;
}

TEST(proc_reads_ourselves)
{
	struct proc_info info;
	struct timespec now;

	CHECK(!proc_read(getpid(), &info));
	CHECK(info.pid == getpid() && info.ppid == getppid());
	clock_gettime(CLOCK_BOOTTIME, &now);
	CHECK(info.start_ns > 0 && info.start_ns <= (uint64_t)now.tv_sec * 1000000000 + 999999999);
	CHECK(info.exe[0] == '/' && info.cmdline[0] && !info.ending);
	return 0;
}

/* The kernel may say "/" of it, wherever it was. */
TEST(proc_does_not_tell_the_group_of_a_process_that_ended)
{
	struct proc_info info = { .pid = 0 };
	char cgroup[256];
	siginfo_t ended;
	bool ending;
	pid_t pid;

	CHECK(proc_cgroup(getpid(), cgroup, sizeof(cgroup), &ending));
	CHECK(cgroup[0] == '/' && !ending);
	pid = fork();
	if (!pid)
		_exit(0);
	CHECK(!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT));
	CHECK(proc_cgroup(pid, cgroup, sizeof(cgroup), &ending) ? !streq(cgroup, "/") && !ending
								: !cgroup[0] && ending);
	CHECK(!proc_read(pid, &info) && info.ending);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(!proc_cgroup(0x7ffffff0, cgroup, sizeof(cgroup), &ending));
	CHECK(!cgroup[0] && !ending);
	return 0;
}

TEST(proc_survives_a_name_made_to_confuse)
{
	char old[17] = "";
	struct proc_info info;

	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "a) R 1 (b\n");
	CHECK(!proc_read(getpid(), &info));
	prctl(PR_SET_NAME, old);
	CHECK_STR(info.comm, "a) R 1 (b\\x0a");
	CHECK(info.ppid == getppid());
	return 0;
}

/* A child that shows these arguments until it is told to end. */
static pid_t start_child(int *ret_stdin)
{
	int to_child[2];
	pid_t pid;

	if (pipe(to_child))
		abort();
	pid = fork();
	if (!pid) {
		dup2(to_child[0], 0);
		close(to_child[0]);
		close(to_child[1]);
		execl("/bin/sh", "sh", "-c", "read x", "--token", "hunter2", "a\tb", NULL);
		_exit(1);
	}
	close(to_child[0]);
	*ret_stdin = to_child[1];
	return pid;
}

TEST(proc_keeps_secrets_out_of_the_command_line)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	struct proc_info info = { .pid = 0 };
	char version[8] = "x";
	int to_child;
	pid_t pid = start_child(&to_child);

	for (int i = 0; i < 1000 && !starts_with(info.cmdline, "sh "); i++) {
		nanosleep(&pause, NULL);
		CHECK(!proc_read(pid, &info));
	}
	CHECK_STR(info.cmdline, "sh -c read x --token *** a\\x09b");
	CHECK(python_version(pid, version, sizeof(version)) == -ENOENT);
	CHECK_STR(version, "");
	close(to_child);
	CHECK(waitpid(pid, NULL, 0) == pid);
	return 0;
}

TEST(proc_says_when_a_process_is_gone)
{
	struct proc_info info = { .pid = 5 };
	char version[8];
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(proc_read(pid, &info) == -ESRCH);
	CHECK(proc_read(-1, &info) == -ESRCH);
	CHECK(info.pid == 5);
	CHECK(python_version(pid, version, sizeof(version)) == -ESRCH);
	return 0;
}

TEST(python_tells_its_version)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	char version[8] = "";
	int in[2], err = -ENOENT;
	pid_t pid;

	CHECK(!pipe(in));
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		close(in[1]);
		execlp("python3", "python3", "-c", "import sys; sys.stdin.read()", NULL);
		_exit(1);
	}
	close(in[0]);
	for (int i = 0; i < 1000 && err == -ENOENT; i++) {
		nanosleep(&pause, NULL);
		err = python_version(pid, version, sizeof(version));
	}
	close(in[1]);
	CHECK(waitpid(pid, NULL, 0) == pid);
	if (err == -ESRCH)
		return 0; /* no python3 here */
	CHECK(!err && starts_with(version, "3.") && strlen(version) <= 4);
	return 0;
}
