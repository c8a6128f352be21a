// SPDX-License-Identifier: Apache-2.0
/*
 * How the kernel will treat a breakpoint on given bytes. The x86-64 rules were found by attaching
 * to every opcode, timing hits and comparing results on Linux 6.18; the aarch64 rules come from
 * reading about the kernel and are untested.
 *
 * The kernel looks at the opcode byte alone, even behind a VEX prefix, so it takes some vector
 * instructions for jumps and drops them: the program goes on with wrong numbers. That is why a
 * class "refused" exists for sites that attach without complaint.
 */
#include "capture/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* One bit per opcode, byte 0 bit 0 is opcode 0: what the kernel does not let us probe. */
static const uint8_t refused_opcodes[32] = {
	0xc0, 0x40, 0xc0, 0xc0, 0x80, 0x80, 0x80, 0x80, /* 06 07 0e 16 17 1e 1f 27 2f 37 3f */
	0x00, 0x00, 0x00, 0x00, 0x03, 0xf0, 0x00, 0x00, /* 60 61 6c-6f */
	0x04, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, /* 82 9a */
	0x00, 0xf0, 0x50, 0x00, 0xf0, 0xf4, 0x12, 0x0c, /* cc-cf d4 d6 e4-e7 ea ec-ef f1 f4 fa fb */
};

/* The kernel's own nops of 3 to 8 bytes; others are stepped. Before 6.18 these may be too. */
static const struct {
	uint8_t len, bytes[8];
} nops[] = {
	{ 3, { 0x0f, 0x1f, 0x00 } },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 } },
	{ 5, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 6, { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 7, { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 } },
	{ 8, { 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 } },
};

struct prefixes {
	bool operand16; /* 66 */
	bool any;
	uint8_t rex;
};

/* Step over prefixes. False: one the kernel refuses (es cs ss ds lock), or nothing but prefixes. */
static bool skip_prefixes(const uint8_t *b, size_t len, struct prefixes *p, size_t *ret)
{
	size_t i = 0;

	memset(p, 0, sizeof(*p));
	for (; i < len; i++) {
		if (b[i] == 0x26 || b[i] == 0x2e || b[i] == 0x36 || b[i] == 0x3e || b[i] == 0xf0)
			return false;
		if (b[i] == 0x66)
			p->operand16 = true;
		else if (b[i] != 0x64 && b[i] != 0x65 && b[i] != 0x67 && b[i] != 0xf2 &&
			 b[i] != 0xf3)
			break;
		p->any = true;
	}
	if (i < len && (b[i] & 0xf0) == 0x40)
		p->rex = b[i++];
	*ret = i;
	return i < len;
}

static bool is_branch(uint8_t op)
{
	return op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70;
}

static bool opcode_refused(uint8_t op)
{
	return refused_opcodes[op / 8] & (1u << (op % 8));
}

/* VEX and EVEX: what the kernel sees is the opcode byte, which means something else there. */
static enum insn_class vector_class(uint8_t op)
{
	return opcode_refused(op) || is_branch(op) || op == 0x90 ? INSN_REFUSED : INSN_STEPPED;
}

/* Opcodes behind 0f. The kernel attaches to all of them, sensible or not. */
static enum insn_class class_0f(uint8_t op, const struct prefixes *p)
{
	if ((op & 0xf0) == 0x80)
		return p->operand16 ? INSN_REFUSED : INSN_EMULATED;
	switch (op) {
	case 0x05: /* syscall and sysenter change the flags and rcx that stepping relies on */
	case 0x34:
	case 0x0b: /* ud2, ud1, ud0: no function starts like this */
	case 0xb9:
	case 0xff:
		return INSN_REFUSED;
	default:
		return INSN_STEPPED;
	}
}

static enum insn_class class_x86(const uint8_t *b, size_t len)
{
	struct prefixes p;
	uint8_t op;
	size_t i;

	for (i = 0; i < ARRAY_LEN(nops); i++)
		if (len >= nops[i].len && !memcmp(b, nops[i].bytes, nops[i].len))
			return INSN_EMULATED;
	if (!skip_prefixes(b, len, &p, &i))
		return INSN_REFUSED;

	op = b[i];
	if (op == 0xd5) /* REX2: too new to have been tried */
		return INSN_REFUSED;
	if (op == 0xc5 || op == 0xc4 || op == 0x62) {
		if (p.rex)
			return INSN_REFUSED; /* no instruction at all */
		i += op == 0xc5 ? 2 : op == 0xc4 ? 3 : 4;
		return i < len ? vector_class(b[i]) : INSN_REFUSED;
	}
	if (op == 0x0f)
		return i + 1 < len ? class_0f(b[i + 1], &p) : INSN_REFUSED;
	if (is_branch(op))
		return p.operand16 ? INSN_REFUSED : INSN_EMULATED;
	if (op == 0x90) /* REX.B makes it an exchange, which the kernel drops as if it were a nop */
		return p.rex & 1 ? INSN_REFUSED : INSN_EMULATED;
	if ((op & 0xf8) == 0x50)
		return !p.any && (!p.rex || p.rex == 0x41) ? INSN_EMULATED : INSN_STEPPED;
	if (op == 0x8e && (i + 1 >= len || (b[i + 1] & 0x38) == 0x10))
		return INSN_REFUSED; /* a load of ss masks the trap that stepping waits for */
	return opcode_refused(op) ? INSN_REFUSED : INSN_STEPPED;
}

/* Untested. Only what the architecture makes certain; the rest is called stepped. */
static enum insn_class class_arm64(const uint8_t *b, size_t len, uint64_t offset)
{
	uint32_t w;

	if (len < 4 || offset % 4)
		return INSN_REFUSED;
	w = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	if (w == 0xd503201f || /* nop */
	    (w & 0x7c000000) == 0x14000000 || /* b, bl */
	    (w & 0xff000010) == 0x54000000 || /* b.cond */
	    (w & 0x7c000000) == 0x34000000 || /* cbz, cbnz, tbz, tbnz */
	    (w & 0x1f000000) == 0x10000000 || /* adr, adrp */
	    (w & 0xff9ffc1f) == 0xd61f0000) /* br, blr, ret */
		return INSN_EMULATED;
	if ((w & 0xff000000) == 0xd4000000 || /* svc, hvc, smc, brk, hlt */
	    (w & 0x3f800000) == 0x08000000 || /* exclusives never succeed under single step */
	    (w & 0xffff0000) == 0x00000000) /* udf */
		return INSN_REFUSED;
	return INSN_STEPPED;
}

/* As many bytes as the file has at offset, up to len; or a negative errno. */
static ssize_t read_some(int fd, uint64_t offset, void *dst, size_t len)
{
	ssize_t got;

	if (offset > INT64_MAX - len)
		return 0;
	do
		got = pread(fd, dst, len, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? fail(-errno, "read code at offset %#llx: %s", (unsigned long long)offset,
			      strerror(errno))
		       : got;
}

int insn_site(int fd, uint64_t offset, struct insn_site *ret)
{
	struct insn_site site = { .offset = offset };
	Elf64_Ehdr head;
	ssize_t got;

	got = read_some(fd, 0, &head, sizeof(head));
	if (got < 0)
		return (int)got;
	if (got != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return fail(-ENOEXEC, "not an ELF file");
	if (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64)
		return fail(-ENOTSUP, "code for machine %u", head.e_machine);

	got = read_some(fd, offset, site.bytes, sizeof(site.bytes));
	if (head.e_machine == EM_X86_64 && got >= (ssize_t)sizeof(endbr64) &&
	    !memcmp(site.bytes, endbr64, sizeof(endbr64))) {
		site.offset += sizeof(endbr64);
		memset(site.bytes, 0, sizeof(site.bytes));
		got = read_some(fd, site.offset, site.bytes, sizeof(site.bytes));
	}
	if (got < 0)
		return (int)got;

	if (head.e_machine == EM_X86_64)
		site.class = class_x86(site.bytes, (size_t)got);
	else
		site.class = class_arm64(site.bytes, (size_t)got, site.offset);
	*ret = site;
	return 0;
}

const char *insn_class_name(enum insn_class c)
{
	switch (c) {
	case INSN_EMULATED:
		return "emulated";
	case INSN_STEPPED:
		return "single-stepped";
	case INSN_REFUSED:
		break;
	}
	return "refused";
}
