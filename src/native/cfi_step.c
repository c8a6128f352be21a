// SPDX-License-Identifier: Apache-2.0
/* From a frame's registers to those of its caller, by the rules of a row. */
#include "native/cfi.h"

#include <string.h>

/* User addresses have 48 bits; above them is the signature. */
#define UNSIGNED_RA 0xffffffffffffull

bool cfi_read(struct cfi_memory *m, uint64_t addr, size_t size, uint64_t *ret)
{
	struct bytes b;

	if (addr < m->addr || addr - m->addr > m->size || size > m->size - (addr - m->addr)) {
		m->outside = addr >= m->addr; /* above: the copy ended too early */
		return false;
	}
	b = bytes_of(m->data + (addr - m->addr), size);
	*ret = bytes_number(&b, size);
	return true;
}

static bool known(const struct cfi_state *s, uint64_t reg)
{
	return reg < CFI_REGS && (s->known >> reg & 1);
}

static bool cfa_of(const struct cfi_row *row, const struct cfi_state *now, struct cfi_memory *m,
		   uint64_t *ret)
{
	if (row->cfa.kind == CFI_VAL_EXPR)
		return cfi_expression(row->cfa.expr, now, NULL, m, ret);
	if (!known(now, row->cfa.reg))
		return false;
	*ret = now->reg[row->cfa.reg] + (uint64_t)row->cfa.offset;
	return true;
}

/* The caller's value of one register; false: not to be had, which matters only if it is used. */
static bool value_of(const struct cfi_rule *rule, unsigned int reg, uint64_t cfa,
		     const struct cfi_state *now, struct cfi_memory *m, uint64_t *ret)
{
	uint64_t addr;

	switch (rule->kind) {
	case CFI_SAME:
		if (!known(now, reg))
			return false;
		*ret = now->reg[reg];
		return true;
	case CFI_OFFSET:
		return cfi_read(m, cfa + (uint64_t)rule->offset, 8, ret);
	case CFI_VAL_OFFSET:
		*ret = cfa + (uint64_t)rule->offset;
		return true;
	case CFI_REGISTER:
		if (!known(now, rule->reg))
			return false;
		*ret = now->reg[rule->reg];
		return true;
	case CFI_EXPR:
		return cfi_expression(rule->expr, now, &cfa, m, &addr) && cfi_read(m, addr, 8, ret);
	case CFI_VAL_EXPR:
		return cfi_expression(rule->expr, now, &cfa, m, ret);
	default: /* CFI_UNDEFINED */
		return false;
	}
}

bool cfi_step(const struct fde *f, const struct cfi_row *row, const struct cfi_state *now,
	      struct cfi_memory *m, struct cfi_caller *ret)
{
	const struct cfi_rule *ra = &row->reg[f->cie.return_reg];

	memset(ret, 0, sizeof(*ret));
	m->outside = false;
	if (!cfa_of(row, now, m, &ret->cfa))
		return false;
	ret->end = ra->kind == CFI_UNDEFINED;
	if (ret->end)
		return true;
	for (unsigned int i = 0; i < CFI_REGS; i++) {
		const struct cfi_rule *rule = &row->reg[i];

		if (i == CFI_SP && rule->kind == CFI_SAME)
			ret->state.reg[i] = ret->cfa;
		else if (!value_of(rule, i, ret->cfa, now, m, &ret->state.reg[i]))
			continue;
		ret->state.known |= 1ull << i;
	}
	if (!known(&ret->state, f->cie.return_reg) || !known(&ret->state, CFI_SP))
		return false;
	ret->ip = ret->state.reg[f->cie.return_reg];
	if (row->signed_ra)
		ret->ip &= UNSIGNED_RA;
	m->outside = false; /* of a register that nobody may need */
	return true;
}
