// SPDX-License-Identifier: Apache-2.0
/* Parses CIEs and FDEs and runs their instructions up to an address. */
#include "native/cfi.h"

#include <string.h>

#define REMEMBERED_MAX 16 /* nested; compilers use one */

/* DW_CFA_*: the first three carry an operand in their low six bits. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c, /* aarch64 */
	CFA_NEGATE_RA_STATE = 0x2d, /* aarch64 */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	const struct cie *cie;
	struct bytes b;
	uint64_t addr; /* virtual, of b.at when the run began at start */
	const uint8_t *start;
	uint64_t loc, until;
	struct cfi_row row;
	const struct cfi_row *initial; /* NULL while the CIE's own instructions run */
	struct cfi_row remembered[REMEMBERED_MAX];
	int n_remembered;
};

static bool augmentation(const char *text, struct bytes data, uint64_t addr, struct cie *ret)
{
	const uint8_t *start = data.at;

	for (; *text; text++) {
		uint64_t personality;
		uint8_t encoding;

		switch (*text) {
		case 'R':
			ret->encoding = (uint8_t)bytes_number(&data, 1);
			break;
		case 'P':
			encoding = (uint8_t)bytes_number(&data, 1);
			if (!bytes_pointer(&data, encoding, addr + (uint64_t)(data.at - start), 0,
					   &personality))
				return false;
			break;
		case 'L':
			bytes_number(&data, 1);
			break;
		case 'S':
			ret->signal = true;
			break;
		case 'B': /* aarch64: return addresses are signed with the other key */
		case 'G': /* aarch64: memory tagging */
			break;
		default: /* with 'z', what we do not know has a length and may be skipped */
			return !data.bad;
		}
	}
	return !data.bad;
}

bool cfi_parse_cie(struct bytes body, uint64_t addr, struct cie *ret)
{
	const uint8_t *start = body.at;
	uint64_t version = bytes_number(&body, 1);
	const char *text = bytes_string(&body);

	*ret = (struct cie){ .encoding = PTR_ABSOLUTE };
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && bytes_number(&body, 2) != 8) /* address size 8, no segments */
		return false;
	if (text[0] == 'e' && text[1] == 'h') { /* gcc 2: a pointer to exception data */
		bytes_number(&body, 8);
		text += 2;
	}
	ret->code_align = bytes_uleb(&body);
	ret->data_align = bytes_sleb(&body);
	ret->return_reg = version == 1 ? bytes_number(&body, 1) : bytes_uleb(&body);
	if (text[0] == 'z') {
		struct bytes data = bytes_take(&body, bytes_uleb(&body));

		ret->augmented = true;
		if (!augmentation(text + 1, data, addr + (uint64_t)(data.at - start), ret))
			return false;
	} else if (text[0]) {
		return false; /* without a length nobody can skip what it does not know */
	}
	ret->insns = body;
	ret->insns_addr = addr + (uint64_t)(body.at - start);
	return !body.bad && ret->return_reg < CFI_REGS;
}

bool cfi_parse_fde(struct bytes body, uint64_t addr, struct fde *ret)
{
	const uint8_t *start = body.at;

	if (!bytes_pointer(&body, ret->cie.encoding & (uint8_t)~PTR_INDIRECT, addr, 0, &ret->start))
		return false;
	/* The size has the pointer's format, but is no pointer. */
	if (!bytes_pointer(&body, ret->cie.encoding & PTR_FORMAT, 0, 0, &ret->size))
		return false;
	if (ret->cie.augmented)
		bytes_take(&body, bytes_uleb(&body));
	ret->insns = body;
	ret->insns_addr = addr + (uint64_t)(body.at - start);
	return !body.bad && ret->size && ret->size <= UINT64_MAX - ret->start;
}

/* Registers that we do not follow, such as vector registers, get a rule that nobody reads. */
static struct cfi_rule *rule_of(struct run *r, uint64_t reg, struct cfi_rule *unused)
{
	return reg < CFI_REGS ? &r->row.reg[reg] : unused;
}

static int64_t scaled(const struct run *r, uint64_t n)
{
	return (int64_t)(n * (uint64_t)r->cie->data_align);
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg < CFI_REGS)
		r->row.reg[reg] = r->initial ? r->initial->reg[reg] : (struct cfi_rule){ 0 };
}

static bool advance(struct run *r, uint64_t delta)
{
	uint64_t by = delta * r->cie->code_align;

	if (by > UINT64_MAX - r->loc)
		return false;
	r->loc += by;
	return true;
}

static bool set_loc(struct run *r)
{
	uint64_t pc = r->addr + (uint64_t)(r->b.at - r->start), loc;

	if (!bytes_pointer(&r->b, r->cie->encoding, pc, 0, &loc) || loc < r->loc)
		return false;
	r->loc = loc;
	return true;
}

static bool remember(struct run *r)
{
	if (r->n_remembered == REMEMBERED_MAX)
		return false;
	r->remembered[r->n_remembered++] = r->row;
	return true;
}

static bool recall(struct run *r)
{
	if (!r->n_remembered)
		return false;
	r->row = r->remembered[--r->n_remembered];
	return true;
}

/* Where the CFA is. */
static bool run_cfa(struct run *r, uint8_t op)
{
	struct cfi_rule *cfa = &r->row.cfa;

	switch (op) {
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
		cfa->kind = CFI_VAL_OFFSET;
		cfa->reg = bytes_uleb(&r->b);
		cfa->offset = op == CFA_DEF_CFA ? (int64_t)bytes_uleb(&r->b)
						: scaled(r, (uint64_t)bytes_sleb(&r->b));
		return true;
	case CFA_DEF_CFA_REGISTER:
		cfa->reg = bytes_uleb(&r->b);
		return cfa->kind == CFI_VAL_OFFSET;
	case CFA_DEF_CFA_OFFSET:
		cfa->offset = (int64_t)bytes_uleb(&r->b);
		return cfa->kind == CFI_VAL_OFFSET;
	case CFA_DEF_CFA_OFFSET_SF:
		cfa->offset = scaled(r, (uint64_t)bytes_sleb(&r->b));
		return cfa->kind == CFI_VAL_OFFSET;
	default: /* CFA_DEF_CFA_EXPRESSION */
		*cfa = (struct cfi_rule){ .kind = CFI_VAL_EXPR };
		cfa->expr = bytes_take(&r->b, bytes_uleb(&r->b));
		return true;
	}
}

/* Where a register is. */
static void run_reg(struct run *r, uint8_t op)
{
	struct cfi_rule unused, *rule = rule_of(r, bytes_uleb(&r->b), &unused);

	*rule = (struct cfi_rule){ 0 };
	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_VAL_OFFSET:
		rule->offset = scaled(r, bytes_uleb(&r->b));
		break;
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_VAL_OFFSET_SF:
		rule->offset = scaled(r, (uint64_t)bytes_sleb(&r->b));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		rule->offset = scaled(r, -bytes_uleb(&r->b));
		break;
	case CFA_REGISTER:
		rule->reg = bytes_uleb(&r->b);
		break;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		rule->expr = bytes_take(&r->b, bytes_uleb(&r->b));
		break;
	default: /* CFA_UNDEFINED, CFA_SAME_VALUE: nothing more */
		break;
	}
	if (op == CFA_OFFSET_EXTENDED || op == CFA_OFFSET_EXTENDED_SF ||
	    op == CFA_GNU_NEGATIVE_OFFSET)
		rule->kind = CFI_OFFSET;
	else if (op == CFA_VAL_OFFSET || op == CFA_VAL_OFFSET_SF)
		rule->kind = CFI_VAL_OFFSET;
	else if (op == CFA_REGISTER)
		rule->kind = CFI_REGISTER;
	else if (op == CFA_EXPRESSION)
		rule->kind = CFI_EXPR;
	else if (op == CFA_VAL_EXPRESSION)
		rule->kind = CFI_VAL_EXPR;
	else if (op == CFA_UNDEFINED)
		rule->kind = CFI_UNDEFINED;
}

static bool run_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOC:
		return set_loc(r);
	case CFA_ADVANCE_LOC1:
		return advance(r, bytes_number(&r->b, 1));
	case CFA_ADVANCE_LOC2:
		return advance(r, bytes_number(&r->b, 2));
	case CFA_ADVANCE_LOC4:
		return advance(r, bytes_number(&r->b, 4));
	case CFA_RESTORE_EXTENDED:
		restore(r, bytes_uleb(&r->b));
		return true;
	case CFA_REMEMBER_STATE:
		return remember(r);
	case CFA_RESTORE_STATE:
		return recall(r);
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF:
		return run_cfa(r, op);
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_REGISTER:
	case CFA_EXPRESSION:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_VAL_EXPRESSION:
	case CFA_GNU_NEGATIVE_OFFSET:
		run_reg(r, op);
		return true;
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC:
		r->row.signed_ra = !r->row.signed_ra;
		return CFI_MACHINE == EM_AARCH64;
	case CFA_GNU_ARGS_SIZE:
		bytes_uleb(&r->b);
		return true;
	default: /* its length is not known, so neither is what follows */
		return false;
	}
}

/* Run until the row for `until` is complete. */
static bool run_insns(struct run *r)
{
	while (bytes_left(&r->b)) {
		uint8_t op = (uint8_t)bytes_number(&r->b, 1), low = op & 0x3f;
		bool ok = true;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			ok = advance(r, low);
			break;
		case CFA_OFFSET:
			if (low < CFI_REGS)
				r->row.reg[low] =
					(struct cfi_rule){ .kind = CFI_OFFSET,
							   .offset = scaled(r, bytes_uleb(&r->b)) };
			else
				bytes_uleb(&r->b);
			break;
		case CFA_RESTORE:
			restore(r, low);
			break;
		default:
			ok = run_extended(r, op);
		}
		if (!ok || r->b.bad)
			return false;
		if (r->loc > r->until)
			return true; /* moving on does not change the row */
	}
	return true;
}

bool cfi_row_at(const struct fde *f, uint64_t pc, struct cfi_row *ret)
{
	struct run r = { .cie = &f->cie,
			 .b = f->cie.insns,
			 .start = f->cie.insns.at,
			 .addr = f->cie.insns_addr,
			 .until = UINT64_MAX };
	struct cfi_row initial;

	if (!run_insns(&r))
		return false;
	initial = r.row;
	r.initial = &initial;
	r.b = f->insns;
	r.start = f->insns.at;
	r.addr = f->insns_addr;
	r.loc = f->start;
	r.until = pc;
	r.n_remembered = 0;
	if (!run_insns(&r))
		return false;
	*ret = r.row;
	return ret->cfa.kind != CFI_SAME;
}
