#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls that never return: left by longjmp, or by the end of the process.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$dir/jump.c" <<'END'
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static sigjmp_buf back;

static void on_alarm(int sig)
{
	siglongjmp(back, sig);
}

int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	long (*sync)(long) = dlsym(lib, "cudaStreamSynchronize");
	long (*launch)(long, long, long, long, long, long, long, long) = dlsym(lib, "cudaLaunchKernel");
	long (*alloc)(long *, long) = dlsym(lib, "cudaMalloc");
	volatile int left = 0;
	long out;

	signal(SIGALRM, on_alarm);
	puts("ready");
	fflush(stdout);
	getchar();
	launch(1, 1, 1, 1, 1, 1, 1, 0);
	for (volatile int i = 0; i < 101; i++) {
		struct itimerval soon = { .it_value = { 0, 2000 } };

		if (sigsetjmp(back, 1)) {
			left++;
		} else {
			setitimer(ITIMER_REAL, &soon, NULL);
			sync(0);
		}
		for (int k = 0; k < 10; k++)
			alloc(&out, 64);
	}
	printf("left %d\n", left);
	return 0;
}
END
cat >"$dir/leave.py" <<'END'
import os, sys, threading, time
import simgpu

gpu = simgpu.Gpu(kernel_us=60e6, sync="block")
print("ready", flush=True)
sys.stdin.readline()
gpu.launch(1)
for _ in range(100):
    gpu.sync(stream=1)  # nothing to wait for
threading.Thread(target=lambda: gpu.sync(stream=0), daemon=True).start()
time.sleep(0.3)
if sys.argv[1] == "exit":
    os._exit(0)
os.kill(os.getpid(), 9)
END
cc -O1 -o "$dir/jump" "$dir/jump.c" -ldl || die "no compiler"

waiting env SIM_KERNEL_US=60000000 "$dir/jump" "$sim/libcudart.so.13"
jump=$caller
waiting "$python" "$dir/leave.py" exit
leave=$caller
waiting "$python" "$dir/leave.py" kill
killed=$caller
trace
go "$jump" "$leave" "$killed"
ends "$jump" 'left 101'
ends "$leave"
soon 20 gone "$killed" || die "the one that kills itself does not end"
reap "$killed" 2>/dev/null
untrace

# entered PID OP: entered and returned
entered() {
	sql "SELECT sum(calls), sum(done) FROM op_second JOIN op ON op.id = op JOIN thread ON
		thread.id = thread JOIN process ON process.id = process WHERE pid = $1 AND symbol = '$2'"
}
is "left by longjmp" "$(entered "$jump" cudaStreamSynchronize)" '101|0'
is "what it called after that" "$(entered "$jump" cudaMalloc)" '1010|1010'
is "said as loss" "$(sql "SELECT sum(count) FROM loss WHERE reason = 'no_return'")" 101
is "the process ended inside" "$(entered "$leave" cudaStreamSynchronize)" '101|100'
is "the process was killed inside" "$(entered "$killed" cudaStreamSynchronize)" '101|100'
is "their threads have an end" "$(sql "SELECT count(*) FROM thread JOIN process ON process.id = process
	WHERE pid IN ($jump, $leave, $killed) AND thread.exit_ns IS NULL")" 0
