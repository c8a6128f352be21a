// SPDX-License-Identifier: Apache-2.0
/*
 * A program that launches in between other work, as a training loop does: a megabyte of code and 32 of data, of which
 * each piece of work takes another part, so that whoever comes next finds little of what it needs in the caches.
 * A step has what was counted in one of test/gpu/overhead.py: 692 launches of two functions, some after a fill or a
 * longer pause, and five synchronisations. For each the line "START SECONDS 1" goes to the file STEPS. Works until stopped.
 *
 *   busy LIBRARY STEPS [PIECES between two launches]
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LAUNCHES 692
#define KERNELS 60
#define EXTENDED 11 /* one launch in so many is by the other function, */
#define FILLED 27 /* ... comes after a fill, */
#define PAUSED 37 /* ... after PAUSE times as much work as others, */
#define SYNCED 138 /* ... is waited for */
#define PAUSE 8
#define ROUTINES 1024 /* each of a KiB of code, one load in each of its lines */
#define DATA_BYTES (32u << 20)

extern char routines[];

__asm__(".text\n"
	".p2align 12\n"
	"routines:\n"
	".rept 1024\n"
	".p2align 10\n"
	".rept 15\n"
	"	imul $0x5851f42d, %rax, %rax\n"
	"	add $0x14057b7e, %rax\n"
	"	mov %rax, %rcx\n"
	"	shr $20, %rcx\n"
	"	and $0x1ffffc0, %ecx\n"
	"	add (%rdi,%rcx), %rdx\n"
	"	xor %rdx, %rsi\n"
	"	rol $5, %rsi\n"
	"	add %rsi, %rdx\n"
	"	xor %r8, %rdx\n"
	"	lea 1(%r8), %r8\n"
	"	.p2align 6\n"
	".endr\n"
	"	ret\n"
	".endr\n");

static uint64_t seed = 88172645463325252ull;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void work(const char *data, int pieces)
{
	for (int i = 0; i < pieces; i++) {
		const char *to = routines + (next() % ROUTINES) * 1024;
		uint64_t where = next();

		__asm__ volatile("call *%[to]"
				 : "+a"(where)
				 : [to] "r"(to), "D"(data)
				 : "rcx", "rdx", "rsi", "r8", "memory", "cc");
	}
}

struct config { /* as CUlaunchConfig begins */
	unsigned size[7];
	void *stream;
};

struct calls {
	void (*launch)(uint64_t kernel, int, int, int, int, int, int, int, void *stream, void *,
		       void *);
	void (*extended)(const struct config *, uint64_t kernel, void *, void *);
	void (*fill)(uint64_t to, unsigned char value, size_t n, void *stream);
	void (*sync)(void *stream);
};

static void launch(const struct calls *call, int i, const char *data, int pieces)
{
	static const struct config config;
	uint64_t kernel = 0x7f0000001000ull + (uint64_t)(i % KERNELS) * 64;

	work(data, i % PAUSED ? pieces : PAUSE * pieces);
	if (i % FILLED == 1) {
		call->fill(0x7f1000000000ull, 0, 4096, NULL);
		work(data, pieces);
	}
	if (i % EXTENDED == 2)
		call->extended(&config, kernel, NULL, NULL);
	else
		call->launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	if (i % SYNCED == SYNCED - 1)
		call->sync(NULL);
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	void *lib = argc < 3 ? NULL : dlopen(argv[1], RTLD_NOW);
	FILE *out = argc < 3 ? NULL : fopen(argv[2], "w");
	int pieces = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 60;
	char *data = mmap(NULL, DATA_BYTES + 64, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct calls call;

	for (size_t i = 0; data != MAP_FAILED && i < DATA_BYTES; i += 64)
		data[i] = (char)i; /* or else all pages are the same one */
	if (!lib || !out || data == MAP_FAILED) {
		fprintf(stderr, "busy: LIBRARY STEPS [PIECES]\n");
		return 2;
	}
	*(void **)&call.launch = dlsym(lib, "cuLaunchKernel");
	*(void **)&call.extended = dlsym(lib, "cuLaunchKernelEx");
	*(void **)&call.fill = dlsym(lib, "cuMemsetD8Async");
	*(void **)&call.sync = dlsym(lib, "cuStreamSynchronize");
	for (;;) {
		double at = now(CLOCK_REALTIME), start = now(CLOCK_MONOTONIC);

		for (int i = 0; i < LAUNCHES; i++)
			launch(&call, i, data, pieces);
		fprintf(out, "%.6f %.7f 1\n", at, now(CLOCK_MONOTONIC) - start);
	}
}
