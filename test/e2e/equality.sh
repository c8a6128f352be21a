#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs compute the same whether they are traced or not: C++ exceptions, cancelled threads and
# signals beside traced calls, deep recursion, forks, libraries that are deleted, in another mount
# namespace or overwritten in place, and many processes that are gone at once.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

command -v g++ >/dev/null || skip "no C++ compiler"
export SIM_KERNEL_US=1 SIM_LAUNCH_US=0 SIM_ALLOC_US=0

cat >"$dir/work.cc" <<'END'
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using call = int (*)(long, long, long, long, long, long, long, long, long, long);
static call make, copy, launch, wait_for, leave;
static uint64_t sum = 14695981039346656037ull;
static volatile sig_atomic_t alarms;
static bool counted = true; /* how often it was called is the same each time, so the handles are */

static void mix(uint64_t x)
{
	sum = (sum ^ x) * 1099511628211ull;
}

static void use(long n)
{
	long out = 0;

	mix(make((long)&out, 64 + n, 3, 4, 5, 6, 7, 8, 9, 10));
	mix(counted ? (uint64_t)out : out != 0);
	mix(launch(n, 2, 3, 4, 5, 6, 7, 0, 9, 10));
	mix(copy(1, 2, n, 1, 0, 6, 7, 8, 9, 10));
	if (n % 16 == 0)
		mix(wait_for(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	mix(leave(out, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

struct Noted {
	long n;
	~Noted()
	{
		use(n);
		mix(n);
	}
};

/* Destructors that call, while an exception goes by. */
static long thrower(long n)
{
	Noted noted{ n };

	use(n);
	if (n % 3 == 0)
		throw std::runtime_error("three " + std::to_string(n));
	return n ? thrower(n - 1) + n : 0;
}

static void exceptions()
{
	for (long i = 0; i < 500; i++) {
		try {
			mix(thrower(i % 40));
		} catch (const std::exception &e) {
			for (const char *c = e.what(); *c; c++)
				mix((unsigned char)*c);
		}
	}
}

static uint64_t recurse(int depth)
{
	uint64_t x;

	use(depth);
	x = depth ? recurse(depth - 1) * 31 + depth : 7;
	mix(launch(depth, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	return x;
}

static void on_alarm(int)
{
	alarms = alarms + 1;
	launch(1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void signals()
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } }, never = {};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, nullptr);
	for (long i = 0; alarms < 200; i++) {
		long out;

		make((long)&out, i, 0, 0, 0, 0, 0, 0, 0, 0);
		leave(out, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	}
	setitimer(ITIMER_REAL, &never, nullptr);
	mix(alarms >= 200);
}

static void cleaned(void *arg)
{
	++*(int *)arg;
}

struct Last {
	int *n;
	~Last()
	{
		++*n;
	}
};

/* Calls, then sleeps outside of them, where it is cancelled. */
static void *victim(void *arg)
{
	int *n = (int *)arg;
	Last last{ n };

	pthread_cleanup_push(cleaned, n);
	for (;;) {
		long out;

		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
		make((long)&out, 64, 0, 0, 0, 0, 0, 0, 0, 0);
		launch(1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		wait_for(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		leave(out, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
		usleep(50);
	}
	pthread_cleanup_pop(0);
	return nullptr;
}

static void cancellations()
{
	for (int i = 0; i < 60; i++) {
		int n = 0;
		pthread_t thread;
		void *ret;

		pthread_create(&thread, nullptr, victim, &n);
		usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, &ret);
		mix(n);
		mix(ret == PTHREAD_CANCELED);
	}
}

static void forks()
{
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			for (int k = 0; k < 50; k++)
				use(i * k);
			_exit((int)(sum % 251));
		}
		waitpid(pid, &status, 0);
		mix((uint64_t)status);
		use(i);
	}
}

int main(int, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);

	if (!lib)
		return 1;
	make = (call)dlsym(lib, "cudaMalloc");
	copy = (call)dlsym(lib, "cudaMemcpyAsync");
	launch = (call)dlsym(lib, "cudaLaunchKernel");
	wait_for = (call)dlsym(lib, "cudaStreamSynchronize");
	leave = (call)dlsym(lib, "cudaFree");
	if (argv[2]) /* somebody takes the library away meanwhile */
		unlink(argv[1]);
	exceptions();
	printf("exceptions %016lx\n", sum);
	printf("recursion %016lx %016lx\n", recurse(150), sum);
	counted = false;
	signals();
	cancellations();
	printf("cancelled threads %016lx\n", sum);
	forks();
	printf("forks %016lx\n", sum);
	return 0;
}
END
g++ -O2 -o "$dir/work" "$dir/work.cc" -ldl -pthread 2>"$dir/err" || die "$(head -5 "$dir/err")"

# Two libraries of one size. Where the first has the beginning of its function, the second has the
# middle of a number that its function returns: a breakpoint that is left there changes it.
for n in 1 2; do
	cat >"$dir/lib$n.S" <<END
	.text
	.globl cudaMalloc
	.type cudaMalloc, @function
	.p2align 12
#if $n == 1
	nop; nop
cudaMalloc:
	push %rbp
	mov \$0x1234567, %eax
	pop %rbp
	ret
#else
cudaMalloc:
	mov \$0x7654321, %eax
	ret
	nop; nop; nop; nop
#endif
	.size cudaMalloc, .-cudaMalloc
	.section .note.GNU-stack,"",@progbits
END
	cc -shared -nostdlib -Wl,--build-id=none -o "$dir/lib$n.so" "$dir/lib$n.S" || die "no assembler"
done
cat >"$dir/ask.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*fn)(long *, long) = lib ? dlsym(lib, "cudaMalloc") : 0;
	long out;

	if (!fn)
		return 1;
	if (argc > 2)
		usleep(1500000); /* it is attached to */
	printf("%x\n", fn(&out, 1));
	return 0;
}
END
cc -O1 -o "$dir/ask" "$dir/ask.c" -ldl || die "no compiler"

# All of it: what it computes goes to FILE.
work() {
	mkdir -p "$dir/libs"
	lib=$dir/libs/libcudart.so.13
	{
		"$dir/work" "$sim/libcudart.so.13"
		cp "$sim/libcudart.so.13" "$lib"
		"$dir/work" "$lib" deleted
		cp "$sim/libcudart.so.13" "$lib"
		# shellcheck disable=SC2016 # for the inner shell
		unshare -m sh -c 'mount --bind "$1/libs" /mnt && exec "$1/work" /mnt/libcudart.so.13' sh "$dir"
		rm "$lib"
		i=0
		while [ $i -lt 300 ]; do
			"$sim/calls" --values cudaMalloc 7 2 || echo "failed $?"
			i=$((i + 1))
		done
		cp "$dir/lib1.so" "$lib"
		"$dir/ask" "$lib" slowly
		start=$(now_ns)
		cat "$dir/lib2.so" >"$lib" # in place: the same inode
		wrote_ms=$((($(now_ns) - start) / 1000000))
		for _ in 1 2 3; do
			"$dir/ask" "$lib" || echo "failed $?"
		done
		"$dir/ask" "$lib" slowly
		cat "$dir/lib1.so" >"$lib"
		"$dir/ask" "$lib"
		rm "$lib"
	} >"$1" 2>&1
}

work "$dir/alone"
trace_with --budget 1
work "$dir/traced"
untrace
if cmp -s "$dir/alone" "$dir/traced"; then
	good "the same results" "$(wc -l <"$dir/alone") lines"
else
	bad "results" "$(diff "$dir/alone" "$dir/traced" | head -20)" "the same"
fi
is "the overwritten library, new" "$(tail -1 "$dir/alone")" 1234567
at_most "ms that the writer waited" "$wrote_ms" 3000
has "the tracer let go of it in time" "$trace_err" "is being overwritten"
at_least "and was there before" "$(sql "SELECT count(*) FROM coverage JOIN string ON string.id = library
	WHERE text LIKE '%/libs/libcudart.so.13'")" 2
at_least "calls seen" "$(sql 'SELECT sum(calls) FROM op_totals')" 50000 # some loops go by the clock
