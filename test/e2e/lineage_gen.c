// SPDX-License-Identifier: Apache-2.0
/*
 * lineage_gen DIR TRUTH write|read FILES: processes of known ids write or read known files in every way that
 * there is. Logs the truth, a line each: op mode ino offset bytes pid.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 8
#define MAX_BYTES (2 << 20)
#define CHUNK 65536
#define SHARED_KINDS 4
#define SHARED_BYTES (1 << 20)

enum mode {
	BUFFERED,
	SYNCED,
	DIRECT,
	MAPPED,
	RING,
	RING_DIRECT,
	RING_ASYNC,
	APPENDED,
	FROM_MAP,
	MODES
};

static const char *const mode_names[MODES] = {
	"buffered", "fsync", "direct", "mmap", "uring", "uring-direct", "uring-async", "append"
};

static const char *dir;
static FILE *truth;
static int writes;

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "lineage_gen: %s: %s\n", #x, strerror(errno));             \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void say(const char *mode, int fd, long offset, long bytes)
{
	struct stat st;

	MUST(!fstat(fd, &st));
	fprintf(truth, "%s %s %lu %ld %ld %d\n", writes ? "write" : "read", mode,
		(unsigned long)st.st_ino, offset, bytes, getpid());
	fflush(truth);
}

/* ---- io_uring, by hand: one request at a time is enough ---- */

struct ring {
	int fd;
	struct io_uring_sqe *sqes;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_cqe *cqes;
};

static void ring_open(struct ring *r)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	r->fd = (int)syscall(SYS_io_uring_setup, 8, &p);
	MUST(r->fd >= 0);
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	MUST(sq != MAP_FAILED && cq != MAP_FAILED && (void *)r->sqes != MAP_FAILED);
	r->sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	r->sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
	r->sq_array = (uint32_t *)(sq + p.sq_off.array);
	r->cq_head = (uint32_t *)(cq + p.cq_off.head);
	r->cq_tail = (uint32_t *)(cq + p.cq_off.tail);
	r->cq_mask = (uint32_t *)(cq + p.cq_off.ring_mask);
	r->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

static void ring_one(struct ring *r, int fd, const char *buf, long bytes, long offset, int async)
{
	uint32_t tail = *r->sq_tail, at = tail & *r->sq_mask;
	struct io_uring_sqe *sqe = &r->sqes[at];
	long did;

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = writes ? IORING_OP_WRITE : IORING_OP_READ;
	sqe->flags = async ? IOSQE_ASYNC : 0;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buf;
	sqe->len = (uint32_t)bytes;
	sqe->off = (uint64_t)offset;
	r->sq_array[at] = at;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	do
		did = syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	while (did < 0 && errno == EINTR);
	MUST(did == 1);
	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == *r->cq_head)
		MUST(syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) >=
		     0);
	MUST(r->cqes[*r->cq_head & *r->cq_mask].res == bytes);
	__atomic_store_n(r->cq_head, *r->cq_head + 1, __ATOMIC_RELEASE);
}

/* ---- one file ---- */

static long piece(long size, long at, long most)
{
	return size - at < most ? size - at : most;
}

static void plainly(int fd, char *buf, long size, long most)
{
	for (long at = 0; at < size; at += most) {
		long n = piece(size, at, most);

		MUST((writes ? pwrite(fd, buf, (size_t)n, at) : pread(fd, buf, (size_t)n, at)) ==
		     n);
	}
}

static void mapped(int fd, long size)
{
	volatile char sum = 0;
	char *map;

	MUST(!writes || !ftruncate(fd, size));
	map = mmap(NULL, (size_t)size, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
		   0);
	MUST(map != MAP_FAILED);
	for (long at = 0; at < size; at += 4096) {
		if (writes)
			map[at] = 'm';
		else
			sum = (char)(sum + map[at]);
	}
	munmap(map, (size_t)size);
}

static void by_ring(int fd, char *buf, long size, int async)
{
	struct ring ring;

	ring_open(&ring);
	for (long at = 0; at < size; at += CHUNK)
		ring_one(&ring, fd, buf, piece(size, at, CHUNK), at, async);
	close(ring.fd);
}

/* Memory that is a file of its own: what is written from it belongs to the file that it is written to. */
static char *source_map(int n)
{
	static char *map;
	static char text[4096];
	char path[256];
	int fd;

	if (map)
		return map;
	snprintf(path, sizeof(path), "%s/d%d/source", dir, n % WORKERS);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	MUST(fd >= 0);
	say("source", fd, 0, MAX_BYTES);
	for (long at = 0; at < MAX_BYTES; at += 4096)
		MUST(pwrite(fd, text, sizeof(text), at) == sizeof(text));
	MUST(!fsync(fd));
	map = mmap(NULL, MAX_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	close(fd);
	return map;
}

static void one_file(int n, char *buf)
{
	enum mode mode = (enum mode)(n / WORKERS % MODES);
	int direct =
		mode == DIRECT || mode == RING_DIRECT || mode == RING_ASYNC || mode == FROM_MAP;
	long size = mode == APPENDED ? 40960 : 4096L * (4 + n * 37 % 300);
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/d%d/f%03d", dir, n % WORKERS, n);
	fd = open(path, (writes ? O_RDWR | O_CREAT : O_RDONLY) | (direct ? O_DIRECT : 0), 0644);
	MUST(fd >= 0);
	say(mode_names[mode], fd, 0, size);
	if (mode == MAPPED)
		mapped(fd, size);
	else if (mode == RING || mode == RING_DIRECT || mode == RING_ASYNC)
		by_ring(fd, buf, size, mode == RING_ASYNC);
	else
		plainly(fd, writes && mode == FROM_MAP ? source_map(n) : buf, size,
			mode == APPENDED ? 1024 : 2 * CHUNK);
	if (writes && mode == SYNCED)
		MUST(!fsync(fd));
	close(fd);
}

static void worker(int w, int files)
{
	char *buf = aligned_alloc(4096, MAX_BYTES);

	MUST(buf);
	memset(buf, 'a' + w, MAX_BYTES);
	for (int n = w; n < files; n += WORKERS)
		one_file(n, buf);
	_exit(0);
}

/* ---- files of two: halves, alternate pages, alternate chunks, halves of each page ---- */

static int is_mine(int kind, long at, int who)
{
	switch (kind) {
	case 0:
		return at / (SHARED_BYTES / 2) == who;
	case 1:
		return (at >> 12 & 1) == who;
	case 2:
		return (at >> 16 & 1) == who;
	default:
		return 1;
	}
}

static void sharer(int kind, int who)
{
	static char page[4096];
	char path[256], mode[32];
	int fd;

	snprintf(path, sizeof(path), "%s/shared%d", dir, kind);
	snprintf(mode, sizeof(mode), "shared%d", kind);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	MUST(fd >= 0);
	for (long at = 0; at < SHARED_BYTES; at += 4096) {
		long offset = kind == 3 ? at + 2048L * who : at, n = kind == 3 ? 2048 : 4096;

		if (!is_mine(kind, at, who))
			continue;
		say(mode, fd, offset, n);
		MUST(pwrite(fd, page, (size_t)n, offset) == n);
	}
	_exit(0);
}

static void reap(void)
{
	int status;

	while (wait(&status) > 0)
		MUST(WIFEXITED(status) && !WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	char path[256];
	int files;

	MUST(argc == 5);
	dir = argv[1];
	truth = fopen(argv[2], "a");
	MUST(truth);
	writes = !strcmp(argv[3], "write");
	files = (int)strtol(argv[4], NULL, 10);
	for (int w = 0; w < WORKERS; w++) {
		snprintf(path, sizeof(path), "%s/d%d", dir, w);
		MUST(!mkdir(path, 0755) || errno == EEXIST);
	}
	for (int w = 0; w < WORKERS; w++)
		if (!fork())
			worker(w, files);
	reap();
	for (int kind = 0; writes && kind < SHARED_KINDS; kind++) {
		for (int who = 0; who < 2; who++)
			if (!fork())
				sharer(kind, who);
		reap();
	}
	return 0;
}
