// SPDX-License-Identifier: Apache-2.0
/*
 * Looks like a process with CPython 3.12 inside, passes every check, and then lies: frames in a ring,
 * wild pointers, strings and tables of any length, all of it changing while it is read.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNTIME_SIZE 460000
#define RUNTIME_INITIALIZED 16
#define RUNTIME_KEY 1548
#define RUNTIME_INTERPRETERS 40
#define INTERPRETER_THREADS 72
#define INTERPRETER_GIL 384
#define THREAD_INTERPRETER 16
#define THREAD_CFRAME 56
#define THREAD_ID 136
#define THREAD_NATIVE_ID 144
#define FRAMES 64
#define CODES 32
#define WORDS 64 /* of each object */

/* What a reader looks for. */
extern uint8_t _PyRuntime[RUNTIME_SIZE];
extern const uint32_t Py_Version;
extern uint64_t _Py_NoneStruct[2];
uint8_t _PyRuntime[RUNTIME_SIZE] __attribute__((aligned(64)));
const uint32_t Py_Version = 0x030c03f0;
uint64_t _Py_NoneStruct[2];

static uint64_t interpreter[1024], thread[64], gil[64], cframe[4];
static uint64_t frames[FRAMES][WORDS], codes[CODES][WORDS], strings[CODES][WORDS];
static volatile int stop;

static void put(void *base, size_t at, uint64_t value, size_t size)
{
	memcpy((uint8_t *)base + at, &value, size);
}

static uint64_t any(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly an object of ours, sometimes anything. */
static uint64_t pointer(uint64_t *seed)
{
	static const uint64_t wild[] = {
		0, 1, 8, 0x7fffffffffff, 0xffff888000000000, UINT64_MAX - 7
	};
	uint64_t r = any(seed);

	switch (r % 8) {
	case 0:
		return wild[r / 8 % (sizeof(wild) / sizeof(*wild))];
	case 1:
		return any(seed);
	case 2:
	case 3:
		return (uint64_t)(uintptr_t)frames[r / 8 % FRAMES];
	case 4:
		return (uint64_t)(uintptr_t)strings[r / 8 % CODES];
	default:
		return (uint64_t)(uintptr_t)codes[r / 8 % CODES];
	}
}

static void *scribble(void *arg)
{
	uint64_t seed = 88172645463325252ull;

	(void)arg;
	while (!stop) {
		uint64_t r = any(&seed);

		frames[r % FRAMES][r / 64 % WORDS] = pointer(&seed);
		frames[r % FRAMES][1] = (uint64_t)(uintptr_t)frames[r / 4096 % FRAMES];
		frames[r % FRAMES][0] = (uint64_t)(uintptr_t)codes[r / 512 % CODES];
		codes[r % CODES][r / 64 % WORDS] = pointer(&seed);
		strings[r % CODES][r / 64 % 16] = r % 3 ? any(&seed) : r % 512;
		if (r % 97 == 0)
			cframe[0] = pointer(&seed);
	}
	return NULL;
}

static void pretend(void)
{
	pthread_key_t key;

	pthread_key_create(&key, NULL);
	pthread_setspecific(key, thread);
	put(_PyRuntime, RUNTIME_INITIALIZED, 1, 4);
	put(_PyRuntime, RUNTIME_KEY - 4, 1, 4);
	put(_PyRuntime, RUNTIME_KEY, key, 4);
	put(_PyRuntime, RUNTIME_INTERPRETERS, (uintptr_t)interpreter, 8);
	put(_PyRuntime, RUNTIME_INTERPRETERS + 8, (uintptr_t)interpreter, 8);
	put(interpreter, INTERPRETER_THREADS, (uintptr_t)thread, 8);
	put(interpreter, INTERPRETER_GIL, (uintptr_t)gil, 8);
	put(thread, THREAD_INTERPRETER, (uintptr_t)interpreter, 8);
	put(thread, THREAD_CFRAME, (uintptr_t)cframe, 8);
	put(thread, THREAD_ID, (uint64_t)pthread_self(), 8);
	put(thread, THREAD_NATIVE_ID, (uint64_t)gettid(), 8);
	gil[1] = (uintptr_t)thread;
	gil[2] = 1;
	cframe[0] = (uintptr_t)frames[0];
	for (int i = 0; i < FRAMES; i++) {
		frames[i][0] = (uintptr_t)codes[i % CODES];
		frames[i][1] = (uintptr_t)frames[(i + 1) % FRAMES];
	}
}

int main(int argc, char **argv)
{
	void *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*sync)(void *) = NULL;
	long calls = argc == 3 ? strtol(argv[2], NULL, 10) : 0, failed = 0;
	pthread_t liar;

	if (lib)
		*(void **)&sync = dlsym(lib, "cudaEventSynchronize");
	if (!sync) {
		(void)fprintf(stderr, "usage: forge LIBCUDART CALLS\n");
		return 2;
	}
	pretend();
	puts("ready");
	(void)fflush(stdout);
	(void)getchar();
	pthread_create(&liar, NULL, scribble, NULL);
	for (long i = 0; i < calls; i++) {
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the tracer */
		failed += sync((void *)i) != 0;
		if (i % 64 == 0)
			usleep(50);
	}
	stop = 1;
	pthread_join(liar, NULL);
	printf("calls %ld failed %ld\n", calls, failed);
	return 0;
}
