// SPDX-License-Identifier: Apache-2.0
/*
 * A program that stops with a known stack: plain frames, C++, a variable frame, a realigned stack, a
 * signal at the first instruction of a function. x86-64 only.
 *
 * main, walk_outer, the outlying part of _PyEval_EvalFrameDefault, walk_cxx, demo::run, demo::Box<int>::twice, demo::lift<7>, walk_variable, walk_realigned,
 * walk_trap, a signal frame, walk_handler, then walk_stop: the frame that the test begins behind.
 */
#include <signal.h>
#include <stdlib.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

int walk_outer(int n);
int walk_variable(int n);
int walk_realigned(int n, const volatile char *from);
void _PyEval_EvalFrameDefault(int n);
void walk_stop(void);
void walk_before(void);
int walk_trap(int n);

/* The byte before walk_trap belongs to another function: an address taken one too low is wrong. */
__asm__(".text\n"
	".globl walk_stop\n"
	".type walk_stop, @function\n"
	"walk_stop: .cfi_startproc\n"
	"	int3\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size walk_stop, .-walk_stop\n"
	".globl walk_before\n"
	".type walk_before, @function\n"
	"walk_before: .cfi_startproc\n"
	"	push %rax\n"
	"	.cfi_def_cfa_offset 16\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size walk_before, .-walk_before\n"
	".globl walk_trap\n"
	".type walk_trap, @function\n"
	"walk_trap: .cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size walk_trap, .-walk_trap\n");

/* Split as gcc splits CPython's evaluation loop. */
__asm__(".globl _PyEval_EvalFrameDefault\n"
	".type _PyEval_EvalFrameDefault, @function\n"
	"_PyEval_EvalFrameDefault: .cfi_startproc\n"
	"	sub $24, %rsp\n"
	"	.cfi_def_cfa_offset 32\n"
	"	jmp _PyEval_EvalFrameDefault.cold\n"
	"1:	add $24, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size _PyEval_EvalFrameDefault, .-_PyEval_EvalFrameDefault\n"
	".section .text.unlikely, \"ax\", @progbits\n"
	".type _PyEval_EvalFrameDefault.cold, @function\n"
	"_PyEval_EvalFrameDefault.cold: .cfi_startproc\n"
	"	.cfi_def_cfa_offset 32\n"
	"	call walk_cxx\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	".size _PyEval_EvalFrameDefault.cold, .-_PyEval_EvalFrameDefault.cold\n"
	".text\n");

static volatile int sink;

static void NOINLINE walk_handler(int sig)
{
	(void)sig;
	walk_stop();
	_Exit(0);
}

NOINLINE int walk_realigned(int n, const volatile char *from)
{
	_Alignas(128) volatile char buf[256];
	volatile char *room = __builtin_alloca((size_t)n * 24);

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = from[0];
	room[0] = buf[1];
	return walk_trap(n) + buf[3] + room[0];
}

NOINLINE int walk_variable(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 16 + 8);

	room[0] = (char)n;
	return walk_realigned(n + 1, room) + room[0];
}

NOINLINE int walk_outer(int n)
{
	_PyEval_EvalFrameDefault(n + 1);
	return sink + n;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = walk_handler };

	(void)argv;
	sigaction(SIGILL, &act, NULL);
	return walk_outer(argc) + sink;
}
