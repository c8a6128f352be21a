// SPDX-License-Identifier: Apache-2.0
/* The classes are those measured on Linux 6.18; see the head of insn.c. */
#include "capture/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"

enum { CODE = 64 };

/* An ELF file of nothing but its header and this code. */
static int code_file(uint16_t machine, const void *code, size_t len)
{
	Elf64_Ehdr head = { .e_machine = machine };
	int fd = memfd_create("code", MFD_CLOEXEC);

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	if (write(fd, &head, sizeof(head)) != sizeof(head) || write(fd, code, len) != (ssize_t)len)
		abort();
	return fd;
}

static enum insn_class judge(uint16_t machine, const char *code, size_t len)
{
	struct insn_site site = { .class = INSN_REFUSED };
	int fd = code_file(machine, code, len);

	if (insn_site(fd, CODE, &site))
		abort();
	close(fd);
	return site.class;
}

struct insn_case {
	const char *what, *code;
	size_t len;
};

#define CODE_OF(what_, code_)                                                                      \
	{                                                                                          \
		what_, code_ "\xc3", sizeof(code_)                                                 \
	}

static int check_all(const struct insn_case *cases, size_t n, enum insn_class want)
{
	for (size_t i = 0; i < n; i++) {
		enum insn_class got = judge(EM_X86_64, cases[i].code, cases[i].len);

		if (got != want)
			return test_fail(__FILE__, __LINE__, "%s is %s", cases[i].what,
					 insn_class_name(got));
	}
	return 0;
}

TEST(insn_calls_emulated_what_costs_one_trap)
{
	static const struct insn_case cases[] = {
		CODE_OF("nop", "\x90"),
		CODE_OF("66 nop", "\x66\x90"),
		CODE_OF("pause", "\xf3\x90"),
		CODE_OF("rex.w nop", "\x48\x90"),
		CODE_OF("nop3", "\x0f\x1f\x00"),
		CODE_OF("nop4", "\x0f\x1f\x40\x00"),
		CODE_OF("nop5", "\x0f\x1f\x44\x00\x00"),
		CODE_OF("nop6", "\x66\x0f\x1f\x44\x00\x00"),
		CODE_OF("nop7", "\x0f\x1f\x80\x00\x00\x00\x00"),
		CODE_OF("nop8", "\x0f\x1f\x84\x00\x00\x00\x00\x00"),
		CODE_OF("push rbp", "\x55"),
		CODE_OF("push rdi", "\x57"),
		CODE_OF("push r15", "\x41\x57"),
		CODE_OF("jmp short", "\xeb\x00"),
		CODE_OF("jmp near", "\xe9\x00\x00\x00\x00"),
		CODE_OF("bnd jmp", "\xf2\xe9\x00\x00\x00\x00"),
		CODE_OF("call", "\xe8\x00\x00\x00\x00"),
		CODE_OF("je", "\x74\x00"),
		CODE_OF("jne near", "\x0f\x85\x00\x00\x00\x00"),
	};

	return check_all(cases, ARRAY_LEN(cases), INSN_EMULATED);
}

TEST(insn_calls_stepped_what_costs_two)
{
	static const struct insn_case cases[] = {
		CODE_OF("nop9", "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00"),
		CODE_OF("nop4 with a displacement", "\x0f\x1f\x40\x08"),
		CODE_OF("rex push", "\x40\x55"),
		CODE_OF("push word", "\x66\x55"),
		CODE_OF("push imm", "\x6a\x01"),
		CODE_OF("sub rsp", "\x48\x83\xec\x08"),
		CODE_OF("mov", "\x48\x89\xf8"),
		CODE_OF("xor", "\x31\xc0"),
		CODE_OF("lea rip", "\x48\x8d\x05\x00\x00\x00\x00"),
		CODE_OF("mov fs:0", "\x64\x48\x8b\x04\x25\x00\x00\x00\x00"),
		CODE_OF("jrcxz", "\xe3\x00"),
		CODE_OF("ret", "\xc3"),
		CODE_OF("rep ret", "\xf3\xc3"),
		CODE_OF("movaps", "\x0f\x28\xc1"),
		CODE_OF("por", "\x66\x0f\xeb\xc1"),
		CODE_OF("vandps", "\xc5\xf8\x54\xc1"),
		CODE_OF("vpermilps", "\xc4\xe3\x79\x04\xc1\x00"),
		CODE_OF("mov es", "\x8e\xc0"),
	};

	return check_all(cases, ARRAY_LEN(cases), INSN_STEPPED);
}

TEST(insn_refuses_what_the_kernel_refuses)
{
	static const struct insn_case cases[] = {
		CODE_OF("cs nopw", "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"),
		CODE_OF("cs nop", "\x2e\x90"),
		CODE_OF("notrack jmp", "\x3e\xe9\x00\x00\x00\x00"),
		CODE_OF("lock add", "\xf0\x83\x04\x24\x00"),
		CODE_OF("int3", "\xcc"),
		CODE_OF("int", "\xcd\x80"),
		CODE_OF("hlt", "\xf4"),
		CODE_OF("in", "\xec"),
		CODE_OF("cli", "\xfa"),
		CODE_OF("jmp word", "\x66\xeb\x00"),
		CODE_OF("call word", "\x66\xe8\x00\x00\x00\x00"),
		CODE_OF("je word", "\x66\x0f\x84\x00\x00\x00\x00"),
		CODE_OF("mov ss", "\x8e\xd0"),
		CODE_OF("vpxor", "\xc5\xf9\xef\xc0"),
		CODE_OF("vmovdqa", "\xc5\xf9\x6f\xc1"),
		CODE_OF("rex evex", "\x48\x62\xf1\x7c\x48\x57\xc0"),
		CODE_OF("rex2", "\xd5\x11\x57"),
	};

	return check_all(cases, ARRAY_LEN(cases), INSN_REFUSED);
}

/* These attach, and the kernel then takes them for nops and jumps. */
TEST(insn_refuses_what_the_kernel_would_get_wrong)
{
	static const struct insn_case cases[] = {
		CODE_OF("xchg rax, r8", "\x41\x90"),
		CODE_OF("rex.w xchg rax, r8", "\x49\x90"),
		CODE_OF("vpor", "\xc5\xf9\xeb\xc1"),
		CODE_OF("vpsubsb", "\xc5\xf9\xe8\xc1"),
		CODE_OF("vmovdqa to memory", "\xc5\xf9\x7f\xc8"),
		CODE_OF("vpshufd", "\xc5\xf9\x70\xc1\x00"),
		CODE_OF("vpcmpeqb", "\xc5\xf9\x74\xc0"),
		CODE_OF("vpbroadcastb", "\xc4\xe2\x79\x78\xc1"),
		CODE_OF("vzeroupper", "\xc5\xf8\x77"),
		CODE_OF("evex store", "\x62\xf1\xfd\x48\x7f\xc8"),
		CODE_OF("syscall", "\x0f\x05"),
		CODE_OF("ud2", "\x0f\x0b"),
	};

	return check_all(cases, ARRAY_LEN(cases), INSN_REFUSED);
}

TEST(insn_moves_behind_endbr64)
{
	struct insn_site site;
	int fd = code_file(EM_X86_64, "\xf3\x0f\x1e\xfa\x55\xc3", 6);

	CHECK(!insn_site(fd, CODE, &site));
	CHECK_U64(site.offset, CODE + 4);
	CHECK(site.class == INSN_EMULATED);
	CHECK(site.bytes[0] == 0x55 && site.bytes[1] == 0xc3 && site.bytes[2] == 0);
	close(fd);
	return 0;
}

TEST(insn_refuses_code_that_is_cut_off)
{
	static const struct insn_case cases[] = {
		{ "nothing", "", 0 },
		{ "prefix", "\x66", 1 },
		{ "rex", "\x48", 1 },
		{ "0f", "\x0f", 1 },
		{ "vex", "\xc5\xf8", 2 },
		{ "evex", "\x62\xf1\xfd\x48", 4 },
		{ "endbr64", "\xf3\x0f\x1e\xfa", 4 },
	};
	struct insn_site site;
	int fd = code_file(EM_X86_64, "\x55", 1);

	CHECK(!insn_site(fd, UINT64_MAX, &site) && site.class == INSN_REFUSED);
	CHECK(!insn_site(fd, 1u << 30, &site) && site.class == INSN_REFUSED);
	close(fd);
	return check_all(cases, ARRAY_LEN(cases), INSN_REFUSED);
}

TEST(insn_reads_no_foreign_file)
{
	struct insn_site site;
	int fd = code_file(EM_PPC64, "\x55", 1);

	CHECK(insn_site(fd, CODE, &site) == -ENOTSUP);
	CHECK(pwrite(fd, "#!", 2, 0) == 2);
	CHECK(insn_site(fd, CODE, &site) == -ENOEXEC);
	close(fd);
	CHECK(insn_site(-1, CODE, &site) == -EBADF);
	return 0;
}

TEST(insn_judges_arm_by_its_own_rules)
{
	CHECK(judge(EM_AARCH64, "\x1f\x20\x03\xd5", 4) == INSN_EMULATED); /* nop */
	CHECK(judge(EM_AARCH64, "\x00\x00\x00\x14", 4) == INSN_EMULATED); /* b */
	CHECK(judge(EM_AARCH64, "\xc0\x03\x5f\xd6", 4) == INSN_EMULATED); /* ret */
	CHECK(judge(EM_AARCH64, "\xfd\x7b\xbf\xa9", 4) == INSN_STEPPED); /* stp x29, x30 */
	CHECK(judge(EM_AARCH64, "\x3f\x23\x03\xd5", 4) == INSN_STEPPED); /* paciasp */
	CHECK(judge(EM_AARCH64, "\x00\x00\x20\xd4", 4) == INSN_REFUSED); /* brk */
	CHECK(judge(EM_AARCH64, "\x20\x7c\x5f\xc8", 4) == INSN_REFUSED); /* ldxr */
	CHECK(judge(EM_AARCH64, "\x00\x00\x00\x00", 4) == INSN_REFUSED); /* udf */
	CHECK(judge(EM_AARCH64, "\x1f\x20\x03", 3) == INSN_REFUSED);
	return 0;
}

TEST(insn_classes_have_names)
{
	CHECK_STR(insn_class_name(INSN_EMULATED), "emulated");
	CHECK_STR(insn_class_name(INSN_STEPPED), "single-stepped");
	CHECK_STR(insn_class_name(INSN_REFUSED), "refused");
	return 0;
}
