// SPDX-License-Identifier: Apache-2.0
/* Rows out: stacks, and where calls and running threads had them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "store/store_int.h"

#define FRAMES_MAX 512 /* more than any stack of ours has; a file can hold anything */
#define TEXT_MAX 1024

/* ---- one stack ---- */

struct gathered {
	bool any;
	unsigned flags;
	struct {
		struct frame frame;
		size_t func, file; /* in text, which moves until all is there */
	} * frame;
	int frames;
	char *text;
	size_t len;
};

static size_t gather_text(struct gathered *g, const char *from)
{
	size_t at = g->len;

	g->text = xrealloc(g->text, g->len + TEXT_MAX, 1);
	text_safe(g->text + at, TEXT_MAX, from);
	g->len += strlen(g->text + at) + 1;
	return at;
}

static int frame_row(sqlite3_stmt *stmt, void *arg)
{
	struct gathered *g = arg;
	int64_t line = sqlite3_column_int64(stmt, 5);

	g->any = true;
	g->flags = column_u32(stmt, 0);
	if (sqlite3_column_type(stmt, 1) == SQLITE_NULL || g->frames == FRAMES_MAX)
		return 0; /* a stack without frames */
	g->frame = xrealloc(g->frame, (size_t)g->frames + 1, sizeof(*g->frame));
	g->frame[g->frames].func = gather_text(g, column_text(stmt, 3));
	g->frame[g->frames].file = gather_text(g, column_text(stmt, 4));
	g->frame[g->frames++].frame = (struct frame){
		.id = column_bits(stmt, 1),
		.kind = streq(column_text(stmt, 2), "native") ? FRAME_native : FRAME_python,
		.line = line < 0 || line > INT32_MAX ? 0 : (int)line,
	};
	return 0;
}

/* All of it behind the stack itself, so that one free() is enough. */
static struct stack *pack(uint64_t id, const struct gathered *g)
{
	size_t n = (size_t)g->frames;
	struct stack *stack =
		xcalloc(1, sizeof(*stack) + n * (sizeof(void *) + sizeof(struct frame)) + g->len);
	struct frame *frame = (struct frame *)(stack + 1);
	const struct frame **list = (const struct frame **)(frame + n);
	char *text = (char *)(list + n);

	if (g->len)
		memcpy(text, g->text, g->len);
	for (size_t i = 0; i < n; i++) {
		frame[i] = g->frame[i].frame;
		frame[i].func = text + g->frame[i].func;
		frame[i].file = text + g->frame[i].file;
		list[i] = &frame[i];
	}
	*stack = (struct stack){ .id = id, .frame = list, .frames = g->frames, .flags = g->flags };
	return stack;
}

int store_find_stack(struct store *s, uint64_t id, struct stack **ret)
{
	struct gathered g = { 0 };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT flags, frame.id, kind, func.text, file.text, frame.line"
			      " FROM stack LEFT JOIN stack_frame ON stack_frame.stack=stack.id"
			      " LEFT JOIN frame ON frame.id=stack_frame.frame"
			      " LEFT JOIN string func ON func.id=frame.func"
			      " LEFT JOIN string file ON file.id=frame.file"
			      " WHERE stack.id=?3 ORDER BY n",
			      (struct window){ 0, 0 }, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, (int64_t)id);
	err = store_rows(s, stmt, frame_row, &g);
	if (!err && !g.any)
		err = fail(-ENOENT, "no stack %lld", (long long)id);
	if (!err)
		*ret = pack(id, &g);
	free(g.frame);
	free(g.text);
	return err;
}

/* ---- who had them ---- */

static int sample_row(sqlite3_stmt *stmt, void *arg)
{
	struct sample_info row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.symbol = column_text(stmt, 1),
		.class = column_text(stmt, 2),
		.at_ns = column_u64(stmt, 3),
		.stack = column_bits(stmt, 4),
		.samples = column_u64(stmt, 5),
		.ns = column_u64(stmt, 6),
		.state = column_text(stmt, 7),
	};
	struct to *to = arg;

	return ((int (*)(const struct sample_info *, void *))to->fn)(&row, to->arg);
}

int store_each_sample(struct store *s, struct window w,
		      int (*fn)(const struct sample_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT thread, symbol, class, at_ns, stack, samples, ns, state"
		" FROM sample_second JOIN op ON op.id=sample_second.op"
		" WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY thread, at_ns, op, stack, state",
		w, &stmt);

	return err ? err : store_rows(s, stmt, sample_row, &to);
}

static int call_stack_row(sqlite3_stmt *stmt, void *arg)
{
	struct call_stack_info row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.symbol = column_text(stmt, 1),
		.class = column_text(stmt, 2),
		.first_ns = column_u64(stmt, 3),
		.stack = column_bits(stmt, 4),
		.calls = column_u64(stmt, 5),
		.ns = column_u64(stmt, 6),
		.fair = column_u64(stmt, 7),
	};
	struct to *to = arg;

	return ((int (*)(const struct call_stack_info *, void *))to->fn)(&row, to->arg);
}

/* Those in blocks: a block says it without its calls being unpacked. */
struct in_block {
	sqlite3_stmt *op; /* asks for the names of one */
	struct hash *ops; /* id -> struct op_names: most are met again at once */
	struct to *to;
	struct call_stack_info info;
};

struct op_names {
	bool known; /* the file has it */
	char symbol[64], class[16];
};

static const struct op_names *names_of(struct in_block *b, uint64_t id)
{
	struct op_names *names = hash_get(b->ops, &id);

	if (names)
		return names;
	names = hash_put(b->ops, &id);
	sqlite3_bind_int64(b->op, 1, (int64_t)id);
	if (sqlite3_step(b->op) == SQLITE_ROW) {
		names->known = true;
		str_copy(names->symbol, sizeof(names->symbol), column_text(b->op, 0));
		str_copy(names->class, sizeof(names->class), column_text(b->op, 1));
	}
	sqlite3_reset(b->op);
	return names;
}

static int block_kind(const struct packed_kind *kind, void *arg)
{
	struct in_block *b = arg;
	const struct op_names *names = names_of(b, kind->op);

	if (!names->known)
		return 0;
	b->info.symbol = names->symbol;
	b->info.class = names->class;
	b->info.stack = kind->stack;
	b->info.calls = b->info.fair = (uint64_t)store_number(kind->calls);
	b->info.ns = (uint64_t)store_number(kind->ns);
	return ((int (*)(const struct call_stack_info *, void *))b->to->fn)(&b->info, b->to->arg);
}

static int block_row(sqlite3_stmt *stmt, void *arg)
{
	struct in_block *b = arg;

	b->info = (struct call_stack_info){
		.thread = sqlite3_column_int64(stmt, 0),
		.first_ns = column_u64(stmt, 1),
	};
	return column_kinds(stmt, 2, block_kind, b);
}

static int each_block_stack(struct store *s, struct window w, struct to *to)
{
	struct in_block b = { .to = to,
			      .ops = hash_new(sizeof(uint64_t), sizeof(struct op_names)) };
	sqlite3_stmt *stmt;
	int err = store_query(s, "SELECT symbol, class FROM op WHERE id=?1", w, &b.op);

	if (!err)
		err = store_query(s,
				  "SELECT thread, max(first_ns, ?1), kinds FROM call_block"
				  " WHERE last_ns >= ?1 AND first_ns <= ?2",
				  w, &stmt);
	if (!err)
		err = store_rows(s, stmt, block_row, &b);
	sqlite3_finalize(b.op);
	hash_free(b.ops);
	return err;
}

int store_each_call_stack(struct store *s, struct window w,
			  int (*fn)(const struct call_stack_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT thread, symbol, class, min(start_ns), stack, count(*),"
			      " total(dur_ns), total(because & 12 <> 0) FROM call"
			      " JOIN op ON op.id=call.op"
			      " WHERE start_ns >= ?1 AND start_ns <= ?2"
			      " GROUP BY thread, op, stack, start_ns / 1000000000",
			      w, &stmt);

	if (!err)
		err = store_rows(s, stmt, call_stack_row, &to);
	return err ? err : each_block_stack(s, w, &to);
}

/* ---- how many have one ---- */

struct counting {
	uint64_t *with, *without; /* by enum no_stack */
};

static void count_one(struct counting *c, uint64_t reason, uint64_t n)
{
	if (reason >= STACK_REASONS)
		*c->with += n;
	else
		c->without[reason < NO_STACK_COUNT ? reason : NO_STACK_not_looked] += n;
}

static int count_row(sqlite3_stmt *stmt, void *arg)
{
	count_one(arg, column_bits(stmt, 0), column_u64(stmt, 1));
	return 0;
}

static int count_kind(const struct packed_kind *kind, void *arg)
{
	count_one(arg, kind->stack, (uint64_t)store_number(kind->calls));
	return 0;
}

static int count_block(sqlite3_stmt *stmt, void *arg)
{
	return column_kinds(stmt, 0, count_kind, arg);
}

/* A reason, or the same number for every stack. */
#define REASON "CASE WHEN stack BETWEEN 0 AND 255 THEN stack ELSE 256 END"

int store_stack_counts(struct store *s, struct window w, struct stack_counts *ret)
{
	struct counting calls = { &ret->calls, ret->no_calls };
	struct counting waits = { &ret->wait_ns, ret->no_wait_ns };
	sqlite3_stmt *stmt;
	int err;

	*ret = (struct stack_counts){ 0 };
	err = store_query(s,
			  "SELECT " REASON ", count(*) FROM call"
			  " WHERE start_ns >= ?1 AND start_ns <= ?2 GROUP BY 1",
			  w, &stmt);
	if (!err)
		err = store_rows(s, stmt, count_row, &calls);
	if (!err)
		err = store_query(s,
				  "SELECT kinds FROM call_block"
				  " WHERE last_ns >= ?1 AND first_ns <= ?2",
				  w, &stmt);
	if (!err)
		err = store_rows(s, stmt, count_block, &calls);
	if (!err)
		err = store_query(s,
				  "SELECT " REASON ", total(ns) FROM wait_second"
				  " JOIN hop ON hop.chain=wait_second.chain AND n=0"
				  " WHERE at_ns > ?1 AND at_ns <= ?2 GROUP BY 1",
				  w, &stmt);
	return err ? err : store_rows(s, stmt, count_row, &waits);
}
