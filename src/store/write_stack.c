// SPDX-License-Identifier: Apache-2.0
/* Rows in: stacks and their frames, each told once, and where threads ran. */
#include "store/store_int.h"

static const char *const kind_names[FRAME_KIND_COUNT] = {
#define X(id, text) #id,
	FRAME_KINDS(X)
#undef X
};

static int put_frame(struct store *s, const struct frame *frame)
{
	struct row r;

	if (store_knows(s->stacks, ~(int64_t)frame->id)) /* its own key space in the same set */
		return 0;
	r = row_begin(s, STMT_FRAME);
	row_bits(&r, frame->id);
	row_text(&r, kind_names[frame->kind]);
	row_string(&r, frame->func);
	row_string(&r, frame->file);
	row_i64(&r, frame->line);
	if (!row_end(&r, "insert frame"))
		store_remember(&s->stacks, ~(int64_t)frame->id);
	return r.err;
}

static int put_stack_frame(struct store *s, const struct stack *stack, int n)
{
	struct row r;
	int err = put_frame(s, stack->frame[n]);

	if (err)
		return err;
	r = row_begin(s, STMT_STACK_FRAME);
	row_bits(&r, stack->id);
	row_i64(&r, n);
	row_bits(&r, stack->frame[n]->id);
	return row_end(&r, "insert stack_frame");
}

int store_put_stack(struct store *s, const struct stack *stack)
{
	const struct frame *users = stack_user_frame(stack);
	struct row r;
	int err = 0;

	if (store_knows(s->stacks, (int64_t)stack->id))
		return 0;
	for (int i = 0; !err && i < stack->frames; i++)
		err = put_stack_frame(s, stack, i);
	if (err)
		return err;
	r = row_begin(s, STMT_STACK);
	row_bits(&r, stack->id);
	row_i64(&r, stack->flags);
	if (users)
		row_bits(&r, users->id);
	else
		row_null(&r);
	err = row_end(&r, "insert stack");
	if (!err)
		store_remember(&s->stacks, (int64_t)stack->id);
	return err;
}

int store_sample_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
			const struct sample_row *row)
{
	struct row r;

	if (!row->op)
		return 0;
	r = row_begin(s, STMT_SAMPLE_SECOND);
	row_i64(&r, thread);
	row_time(&r, at_boot_ns);
	row_op(&r, row->op);
	row_bits(&r, row->stack);
	row_text(&r, state_names[row->state]);
	row_u64(&r, row->samples);
	row_u64(&r, row->ns);
	return row_end(&r, "insert sample_second");
}
