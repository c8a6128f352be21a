// SPDX-License-Identifier: Apache-2.0
/*
 * DWARF expressions, as far as unwinding uses them: PLT entries, signal frames, functions that realign
 * their stack. Bounded by a number of steps, since they may jump back.
 */
#include "native/cfi.h"

#define STACK_MAX 32
#define STEPS_MAX 256

enum {
	OP_addr = 0x03,
	OP_deref = 0x06,
	OP_const1u = 0x08,
	OP_const1s = 0x09,
	OP_const2u = 0x0a,
	OP_const2s = 0x0b,
	OP_const4u = 0x0c,
	OP_const4s = 0x0d,
	OP_const8u = 0x0e,
	OP_const8s = 0x0f,
	OP_constu = 0x10,
	OP_consts = 0x11,
	OP_dup = 0x12,
	OP_drop = 0x13,
	OP_over = 0x14,
	OP_pick = 0x15,
	OP_swap = 0x16,
	OP_rot = 0x17,
	OP_abs = 0x19,
	OP_and = 0x1a,
	OP_div = 0x1b,
	OP_minus = 0x1c,
	OP_mod = 0x1d,
	OP_mul = 0x1e,
	OP_neg = 0x1f,
	OP_not = 0x20,
	OP_or = 0x21,
	OP_plus = 0x22,
	OP_plus_uconst = 0x23,
	OP_shl = 0x24,
	OP_shr = 0x25,
	OP_shra = 0x26,
	OP_xor = 0x27,
	OP_bra = 0x28,
	OP_eq = 0x29,
	OP_ge = 0x2a,
	OP_gt = 0x2b,
	OP_le = 0x2c,
	OP_lt = 0x2d,
	OP_ne = 0x2e,
	OP_skip = 0x2f,
	OP_lit0 = 0x30,
	OP_reg0 = 0x50,
	OP_breg0 = 0x70,
	OP_breg_end = 0x90,
	OP_bregx = 0x92,
	OP_deref_size = 0x94,
	OP_nop = 0x96,
};

struct machine {
	struct bytes b;
	const uint8_t *start;
	const struct cfi_state *regs;
	struct cfi_memory *memory;
	uint64_t stack[STACK_MAX];
	int depth;
	bool bad;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		m->bad = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static uint64_t peek(struct machine *m, uint64_t from_top)
{
	if (from_top >= (uint64_t)m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[(uint64_t)m->depth - 1 - from_top];
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGS || !(m->regs->known >> reg & 1))
		m->bad = true;
	else
		push(m, m->regs->reg[reg] + (uint64_t)offset);
}

static void deref(struct machine *m, uint64_t size)
{
	uint64_t value = 0;

	if (size < 1 || size > 8 || !cfi_read(m->memory, pop(m), (size_t)size, &value))
		m->bad = true;
	push(m, value);
}

static void jump(struct machine *m, int64_t by)
{
	int64_t at = (m->b.at - m->start) + by;

	if (at < 0 || at > m->b.end - m->start)
		m->bad = true;
	else
		m->b.at = m->start + at;
}

static uint64_t arithmetic_shift(uint64_t value, uint64_t by)
{
	uint64_t sign = value >> 63 ? ~0ull : 0;

	if (by >= 64)
		return sign;
	return by ? value >> by | sign << (64 - by) : value;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b || (b == ~0ull && a == 1ull << 63)) {
		m->bad = true;
		return 0;
	}
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b) {
		m->bad = true;
		return 0;
	}
	return a % b;
}

/* b was pushed last. */
static bool binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *ret)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_and:
		*ret = a & b;
		return true;
	case OP_div:
		*ret = divide(m, a, b);
		return true;
	case OP_minus:
		*ret = a - b;
		return true;
	case OP_mod:
		*ret = modulo(m, a, b);
		return true;
	case OP_mul:
		*ret = a * b;
		return true;
	case OP_or:
		*ret = a | b;
		return true;
	case OP_plus:
		*ret = a + b;
		return true;
	case OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	case OP_shra:
		*ret = arithmetic_shift(a, b);
		return true;
	case OP_xor:
		*ret = a ^ b;
		return true;
	case OP_eq:
		*ret = a == b;
		return true;
	case OP_ge:
		*ret = x >= y;
		return true;
	case OP_gt:
		*ret = x > y;
		return true;
	case OP_le:
		*ret = x <= y;
		return true;
	case OP_lt:
		*ret = x < y;
		return true;
	case OP_ne:
		*ret = a != b;
		return true;
	default:
		return false;
	}
}

static bool constants(struct machine *m, uint8_t op)
{
	if (op >= OP_lit0 && op < OP_reg0) {
		push(m, (uint64_t)(op - OP_lit0));
		return true;
	}
	if (op >= OP_const1u && op <= OP_const8s) { /* sizes 1, 2, 4, 8, each unsigned, signed */
		size_t size = 1u << ((op - OP_const1u) / 2);
		bool is_signed = (op - OP_const1u) % 2;

		push(m,
		     is_signed ? (uint64_t)bytes_signed(&m->b, size) : bytes_number(&m->b, size));
		return true;
	}
	switch (op) {
	case OP_constu:
		push(m, bytes_uleb(&m->b));
		return true;
	case OP_consts:
		push(m, (uint64_t)bytes_sleb(&m->b));
		return true;
	default: /* OP_addr too: where the file is mapped is not known here, and nobody needs it */
		return false;
	}
}

static void rotate(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	push(m, second);
}

static void swap(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m);

	push(m, first);
	push(m, second);
}

/* Everything that is neither a constant nor takes two operands. */
static void other(struct machine *m, uint8_t op)
{
	uint64_t a;

	if (op >= OP_breg0 && op < OP_breg_end) {
		push_register(m, (uint64_t)(op - OP_breg0), bytes_sleb(&m->b));
		return;
	}
	switch (op) {
	case OP_bregx:
		a = bytes_uleb(&m->b);
		push_register(m, a, bytes_sleb(&m->b));
		break;
	case OP_deref:
		deref(m, 8);
		break;
	case OP_deref_size:
		deref(m, bytes_number(&m->b, 1));
		break;
	case OP_dup:
		push(m, peek(m, 0));
		break;
	case OP_over:
		push(m, peek(m, 1));
		break;
	case OP_pick:
		push(m, peek(m, bytes_number(&m->b, 1)));
		break;
	case OP_drop:
		pop(m);
		break;
	case OP_swap:
		swap(m);
		break;
	case OP_rot:
		rotate(m);
		break;
	case OP_abs:
		a = pop(m);
		push(m, a >> 63 ? -a : a);
		break;
	case OP_neg:
		push(m, -pop(m));
		break;
	case OP_not:
		push(m, ~pop(m));
		break;
	case OP_plus_uconst:
		push(m, pop(m) + bytes_uleb(&m->b));
		break;
	case OP_skip:
		jump(m, bytes_signed(&m->b, 2));
		break;
	case OP_bra:
		a = (uint64_t)bytes_signed(&m->b, 2);
		if (pop(m))
			jump(m, (int64_t)a);
		break;
	case OP_nop:
		break;
	default:
		m->bad = true;
	}
}

bool cfi_expression(struct bytes expr, const struct cfi_state *s, const uint64_t *first,
		    struct cfi_memory *memory, uint64_t *ret)
{
	struct machine m = { .b = expr, .start = expr.at, .regs = s, .memory = memory };

	if (first)
		push(&m, *first);
	for (int steps = 0; bytes_left(&m.b); steps++) {
		uint8_t op = (uint8_t)bytes_number(&m.b, 1);
		uint64_t value;

		if (m.bad || m.b.bad || steps == STEPS_MAX)
			return false;
		if (op >= OP_and && op <= OP_ne && m.depth >= 2 &&
		    binary(&m, op, peek(&m, 1), peek(&m, 0), &value)) {
			m.depth -= 2;
			push(&m, value);
		} else if (!constants(&m, op)) {
			other(&m, op);
		}
	}
	*ret = pop(&m);
	return !m.bad && !m.b.bad;
}
