// SPDX-License-Identifier: Apache-2.0
/* Code objects as the probes have met them, and the line of an instruction. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "python/python.h"
#include "stack/stack_int.h"

/*
 * Each frame of a new stack may cost a walk through a table as long as this. The longest in the
 * standard libraries of 3.9 to 3.14, of generated code, has 84 KB.
 */
#define TABLE_MAX (128 << 10)
#define TEXT_CAP (8 * PY_FILE_BYTES + 1) /* every byte a control character */
#define OVERHEAD 128

_Static_assert(PY_FILE_BYTES >= PY_NAME_BYTES, "TEXT_CAP");

static const char *text(struct stacks *s, const uint8_t *src, size_t size, int64_t len,
			uint32_t state)
{
	char buf[TEXT_CAP];

	return intern_text(s, py_text(src, size, len, state, buf, sizeof(buf)));
}

/* The whole of a table of which the record has only the head; NULL: it is another one by now. */
static uint8_t *read_table(struct stacks *s, const struct py_code *r)
{
	uint8_t *table;

	if (!s->read || r->table_len > TABLE_MAX)
		return NULL;
	table = xcalloc((size_t)r->table_len, 1);
	if (s->read(s->arg, r->pid, r->table_addr, table, (size_t)r->table_len) &&
	    !memcmp(table, r->table, PY_TABLE_BYTES))
		return table;
	free(table);
	return NULL;
}

/*
 * A table that the probe could not read, because its page is swapped out: nobody else reads it, so it
 * stays away. We may wait for it. That the code is gone meanwhile is possible, but then a fresh one of
 * the same name and place has to have another table at the very same address.
 */
static void fetch_table(struct stacks *s, struct code *c, const struct py_code *r)
{
	int64_t len;

	if (!s->read || r->table_addr < 32 ||
	    !s->read(s->arg, r->pid, r->table_addr - 16, &len, sizeof(len)) || len <= 0 ||
	    len > TABLE_MAX)
		return;
	c->table = xcalloc((size_t)len, 1);
	if (!s->read(s->arg, r->pid, r->table_addr, c->table, (size_t)len)) {
		free(c->table);
		c->table = NULL;
		return;
	}
	c->table_size = (size_t)len;
	c->complete = true;
	s->bytes += c->table_size;
}

static void take_table(struct stacks *s, struct code *c, const struct py_code *r)
{
	if (r->table_len < 0)
		fetch_table(s, c, r);
	if (r->table_len <= 0)
		return;
	c->table_size = (size_t)r->table_len;
	c->complete = true;
	if (r->table_len > PY_TABLE_BYTES) {
		c->table = read_table(s, r);
		if (!c->table) {
			c->table_size = PY_TABLE_BYTES;
			c->complete = false;
		}
	}
	if (!c->table) {
		c->table = xcalloc(c->table_size, 1);
		memcpy(c->table, r->table, c->table_size);
	}
	s->bytes += c->table_size;
}

void code_release(struct stacks *s, struct code *c)
{
	s->bytes -= c->table_size + OVERHEAD;
	free(c->table);
}

bool code_news(struct stacks *s, const struct py_code *r, size_t table_size)
{
	struct code_key key = { .code = r->code, .generation = r->generation, .fp = r->fp };
	struct code c = { .version = r->version }, *slot;
	const struct code *old = hash_get(s->codes, &key);

	if (r->version < 0x309 || r->version > 0x30e)
		return false;
	if (r->table_len > 0 && min_u64((uint64_t)r->table_len, PY_TABLE_BYTES) > table_size)
		return false;
	if (old && old->known)
		return true; /* told again because the probes had forgotten it */
	c.line = r->line > INT_MAX ? 0 : (int)r->line;
	c.name = text(s, r->name, sizeof(r->name), r->name_len, r->name_state);
	c.file = text(s, r->file, sizeof(r->file), r->file_len, r->file_state);
	take_table(s, &c, r);
	c.known = r->name_len >= 0 && r->file_len >= 0 && (r->table_len >= 0 || c.table);
	slot = hash_put(s->codes, &key);
	if (slot->version)
		code_release(s, slot);
	*slot = c;
	s->bytes += OVERHEAD;
	return true;
}

/* Up to 3.9 the last entry holds to the end of the code, so a cut table seems to answer all. */
static bool reaches(const struct code *c, int lasti)
{
	int64_t addr = 0;

	for (size_t i = 0; i + 1 < c->table_size; i += 2) {
		addr += c->table[i];
		if (addr > lasti)
			return true;
	}
	return false;
}

static int line_at(const struct code *c, int lasti)
{
	int line;

	if (lasti >= 0 && !c->table_size && !c->known)
		return 0;
	if (lasti >= 0 && c->version < 0x30a && !c->complete && c->table_size && !reaches(c, lasti))
		return 0;
	line = py_line(c->version, c->table, c->table_size, c->line, lasti);
	return line < 0 ? 0 : line;
}

const struct frame *code_frame(struct stacks *s, uint32_t generation, const struct py_frame *f)
{
	struct place_key key = {
		.code = { .code = f->code, .generation = generation, .fp = f->fp },
		.lasti = f->lasti,
	};
	const struct frame **place = hash_get(s->places, &key);
	const struct frame *frame;
	const struct code *c;

	if (place)
		return *place;
	c = hash_get(s->codes, &key.code);
	if (!c && s->elder)
		c = hash_get(s->elder->codes, &key.code);
	if (!c) /* a code object that could not be read has no fingerprint */
		return f->fp ? NULL : intern_frame(s, FRAME_python, "", "", 0);
	frame = intern_frame(s, FRAME_python, c->name, c->file, line_at(c, f->lasti));
	if (c->known) {
		place = hash_put(s->places, &key);
		*place = frame;
		s->bytes += OVERHEAD;
	}
	return frame;
}
