/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to src/native: call frame information. From the bytes of a CIE and an FDE to the rules that
 * lead from one frame to its caller, and from rules and registers to the caller's registers. Pure.
 */
#ifndef NATIVE_CFI_H
#define NATIVE_CFI_H

#include <elf.h>

#include "native/bytes.h"

#if defined(__aarch64__) /* untested: there was no such machine */
#define CFI_MACHINE EM_AARCH64
#define CFI_SP 31
#define CFI_RA 30
#define CFI_REGS 32
#else /* also what a build for another machine reads: it then finds no file of its own */
#define CFI_MACHINE EM_X86_64
#define CFI_SP 7
#define CFI_RA 16
#define CFI_REGS 17
#endif

struct cie {
	uint8_t encoding; /* of addresses in its FDEs */
	bool augmented; /* its FDEs have augmentation data */
	bool signal; /* frames interrupted by a signal: their address is not behind a call */
	uint64_t code_align, return_reg;
	int64_t data_align;
	struct bytes insns; /* borrowed from the CIE's bytes */
	uint64_t insns_addr;
};

struct fde {
	struct cie cie;
	uint64_t start, size; /* of the code, virtual addresses of the file */
	struct bytes insns; /* borrowed from the FDE's bytes */
	uint64_t insns_addr;
};

enum cfi_kind {
	CFI_SAME, /* also what has no rule */
	CFI_UNDEFINED,
	CFI_OFFSET, /* saved at CFA + offset */
	CFI_VAL_OFFSET, /* is CFA + offset; of the CFA itself: is reg + offset */
	CFI_REGISTER, /* is in another register */
	CFI_EXPR, /* saved where the expression says */
	CFI_VAL_EXPR, /* is what the expression says */
};

struct cfi_rule {
	enum cfi_kind kind;
	uint64_t reg;
	int64_t offset;
	struct bytes expr;
};

struct cfi_row {
	struct cfi_rule cfa; /* CFI_VAL_OFFSET or CFI_VAL_EXPR */
	struct cfi_rule reg[CFI_REGS];
	bool signed_ra; /* aarch64: the return address carries a signature */
};

struct cfi_state {
	uint64_t reg[CFI_REGS];
	uint64_t known; /* bit n: reg[n] has a value */
};

/* Eight bytes or less of the stack; false: not in the copy. */
struct cfi_memory {
	const uint8_t *data;
	uint64_t addr, size;
	bool outside; /* set when a read missed, above the copy */
};

bool cfi_read(struct cfi_memory *m, uint64_t addr, size_t size, uint64_t *ret);

/* What follows length and id. `addr` is the virtual address of the first byte of body. */
bool cfi_parse_cie(struct bytes body, uint64_t addr, struct cie *ret);

/* What follows length and CIE pointer; ret->cie is already filled in. */
bool cfi_parse_fde(struct bytes body, uint64_t addr, struct fde *ret);

/* The rules at pc, which is inside. False: bytes that make no sense. */
bool cfi_row_at(const struct fde *f, uint64_t pc, struct cfi_row *ret);

struct cfi_caller {
	struct cfi_state state; /* its stack pointer is the CFA unless a rule says otherwise */
	uint64_t cfa, ip;
	bool end; /* no return address: the frame was the outermost */
};

/* From a frame to its caller. False: a value that is needed is not known or not in the copy. */
bool cfi_step(const struct fde *f, const struct cfi_row *row, const struct cfi_state *now,
	      struct cfi_memory *m, struct cfi_caller *ret);

/* A DWARF expression; `first` starts on the stack if not NULL. */
bool cfi_expression(struct bytes expr, const struct cfi_state *s, const uint64_t *first,
		    struct cfi_memory *m, uint64_t *ret);

#endif
