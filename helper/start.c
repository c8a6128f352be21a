// SPDX-License-Identifier: Apache-2.0
/*
 * The beginning of the helper. The compiler's own asks for symbols of glibc 2.34, which a host from
 * before 2021 does not have; tools/check-glibc sees to it that nothing else does either.
 */
#include "helper/old_glibc.h"

#if defined(__x86_64__)
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rdx, %r9\n" /* what the loader wants to be called at the end */
	"	pop %rsi\n" /* argc */
	"	mov %rsp, %rdx\n" /* argv */
	"	and $-16, %rsp\n"
	"	push %rax\n"
	"	push %rsp\n"
	"	xor %r8d, %r8d\n" /* nothing to be done before main, or after */
	"	xor %ecx, %ecx\n"
	"	mov main@GOTPCREL(%rip), %rdi\n"
	"	call *__libc_start_main@GOTPCREL(%rip)\n"
	"	hlt\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x5, x0\n"
	"	ldr x1, [sp]\n"
	"	add x2, sp, #8\n"
	"	mov x6, sp\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	adrp x0, :got:main\n"
	"	ldr x0, [x0, #:got_lo12:main]\n"
	"	bl __libc_start_main\n"
	"	udf #0\n");
#else
#error "no beginning for this machine"
#endif
