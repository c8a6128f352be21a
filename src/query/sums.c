// SPDX-License-Identifier: Apache-2.0
/*
 * Counts and sums without counting: of a plain question for aggregates over events, count(*) is the sum of n
 * over the rows that stand for n events each, and so on. The same question is asked of these; the answer is
 * the same, and does not take longer the more events there were. What is not plainly such a question is left
 * alone: then the events are gone through one by one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "query/query_int.h"

#define TOKENS_MAX 1000

enum kind { WORD, SIGN, OTHER }; /* other: strings, numbers, quoted names */

struct token {
	const char *at;
	int len;
	enum kind kind;
};

static const struct {
	const char *table, *sums, *duration;
} expanded[] = {
	{ "events", "event_sum", "duration" },
	{ "cuda_events", "cuda_event_sum", "duration_ns" },
	{ "nccl_events", "nccl_event_sum", "duration_ns" },
};

struct question {
	struct token token[TOKENS_MAX];
	int tokens;
	int table; /* index of expanded[] */
	int name; /* token with the table's name */
	char alias[64]; /* as its columns are qualified */
	bool aliased; /* in the statement itself */
};

/* ---- tokens ---- */

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == WORD && (int)strlen(word) == t->len &&
	       !sqlite3_strnicmp(t->at, word, t->len);
}

static bool is_sign(const struct token *t, char sign)
{
	return t->kind == SIGN && t->at[0] == sign;
}

static const char *skip_blanks(const char *s)
{
	for (;;) {
		if (isspace((unsigned char)*s)) {
			s++;
		} else if (starts_with(s, "--")) {
			s += strcspn(s, "\n");
		} else if (starts_with(s, "/*")) {
			const char *end = strstr(s + 2, "*/");

			s = end ? end + 2 : s + strlen(s);
		} else {
			return s;
		}
	}
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* A quote that is doubled is part of the text. */
static const char *quoted_end(const char *s)
{
	char close = *s;

	if (close == '[')
		close = ']';

	for (s++; *s; s++) {
		if (*s != close)
			continue;
		if (s[1] != close || close == ']')
			return s + 1;
		s++;
	}
	return s;
}

static struct token next_token(const char *s)
{
	struct token t = { .at = s, .len = 1, .kind = SIGN };

	if (in_word(*s)) {
		t.kind = isdigit((unsigned char)*s) ? OTHER : WORD;
		while (in_word(s[t.len]) || (t.kind == OTHER && s[t.len] == '.'))
			t.len++;
	} else if (strchr("'\"`[", *s)) {
		t.kind = OTHER;
		t.len = (int)(quoted_end(s) - s);
	}
	return t;
}

static bool read_tokens(const char *sql, struct question *q)
{
	for (const char *s = skip_blanks(sql); *s; s = skip_blanks(s)) {
		if (q->tokens == TOKENS_MAX)
			return false;
		q->token[q->tokens] = next_token(s);
		s += q->token[q->tokens++].len;
	}
	return q->tokens > 0;
}

/* Past the end there is a sign that nobody looks for. */
static const struct token *token_at(const struct question *q, int i)
{
	static const struct token none = { "", 0, OTHER };

	return i >= 0 && i < q->tokens ? &q->token[i] : &none;
}

/* ---- is it such a question? ---- */

static bool is_any(const struct token *t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_word(t, words[i]))
			return true;
	return false;
}

/* One SELECT, whose rows are those of the tables, all of them. */
static bool is_plain(const struct question *q)
{
	static const char *const strange[] = {
		"SELECT", "WITH",   "UNION", "INTERSECT", "EXCEPT", "OVER",    "FILTER", "DISTINCT",
		"WINDOW", "VALUES", "LEFT",  "RIGHT",     "FULL",   "NATURAL", "EXISTS", "OUTER",
	};

	if (!is_word(&q->token[0], "SELECT"))
		return false;
	for (int i = 1; i < q->tokens; i++)
		if (is_any(&q->token[i], strange, ARRAY_LEN(strange)))
			return false;
	return true;
}

/* The name behind FROM, JOIN or a comma, once. */
static bool find_table(struct question *q)
{
	static const char *const not_alias[] = { "JOIN",  "INNER",  "CROSS",   "ON",
						 "USING", "WHERE",  "GROUP",   "ORDER",
						 "LIMIT", "HAVING", "INDEXED", "NOT" };
	int found = 0;

	for (int i = 1; i < q->tokens; i++) {
		const struct token *before = token_at(q, i - 1), *next = token_at(q, i + 1);

		for (size_t k = 0; k < ARRAY_LEN(expanded); k++) {
			if (!is_word(&q->token[i], expanded[k].table) || is_sign(next, '.'))
				continue;
			if (!is_word(before, "FROM") && !is_word(before, "JOIN") &&
			    !is_sign(before, ','))
				return false;
			found++;
			q->table = (int)k;
			q->name = i;
		}
	}
	if (found != 1)
		return false;
	int at = q->name + 1 + is_word(token_at(q, q->name + 1), "AS");
	const struct token *alias = token_at(q, at);

	q->aliased = alias->kind == WORD && !is_any(alias, not_alias, ARRAY_LEN(not_alias));
	if (!q->aliased)
		alias = &q->token[q->name];
	return alias->len < (int)sizeof(q->alias) &&
	       snprintf(q->alias, sizeof(q->alias), "%.*s", alias->len, alias->at) > 0;
}

/* ---- aggregates ---- */

/* NAME ( duration ) or NAME ( alias . duration ): its length in tokens; 0: it is not. */
static int of_duration(const struct question *q, int at)
{
	const char *column = expanded[q->table].duration;

	if (!is_sign(token_at(q, at + 1), '('))
		return 0;
	if (is_word(token_at(q, at + 2), column) && is_sign(token_at(q, at + 3), ')'))
		return 4;
	return is_word(token_at(q, at + 2), q->alias) && is_sign(token_at(q, at + 3), '.') &&
			       is_word(token_at(q, at + 4), column) &&
			       is_sign(token_at(q, at + 5), ')')
		       ? 6
		       : 0;
}

static const struct {
	const char *name, *sql; /* %s: the alias */
} aggregates[] = {
	{ "count", "coalesce(sum(%s.timed),0)" },
	{ "sum", "sum(%s.total_ns)" },
	{ "total", "total(%s.total_ns)" },
	{ "max", "max(%s.top_ns)" },
	{ "min", "min(%s.low_ns)" },
	{ "avg", "total(%s.total_ns)/sum(%s.timed)" },
};

/*
 * What to write for the tokens from here on, how many they are in *ret_len; NULL: as they are. -1 there:
 * something that rows of n cannot answer.
 */
static char *aggregate_at(const struct question *q, int at, int *ret_len)
{
	/* Others count each row; max() and min() of anything do not. */
	static const char *const counting[] = { "count",
						"sum",
						"total",
						"avg",
						"group_concat",
						"json_group_array",
						"json_group_object" };
	const struct token *t = &q->token[at];

	*ret_len = 1;
	if (t->kind != WORD)
		return NULL;
	if (is_word(t, "count") && is_sign(token_at(q, at + 1), '(') &&
	    is_sign(token_at(q, at + 2), '*') && is_sign(token_at(q, at + 3), ')')) {
		*ret_len = 4;
		return sqlite3_mprintf("coalesce(sum(%s.n),0)", q->alias);
	}
	for (size_t i = 0; i < ARRAY_LEN(aggregates); i++) {
		int len = is_word(t, aggregates[i].name) ? of_duration(q, at) : 0;

		if (!len)
			continue;
		*ret_len = len;
		return sqlite3_mprintf(aggregates[i].sql, q->alias, q->alias);
	}
	if ((is_any(t, counting, ARRAY_LEN(counting)) && is_sign(token_at(q, at + 1), '(')) ||
	    is_word(t, expanded[q->table].duration))
		*ret_len = -1;
	return NULL;
}

/* ---- the other question ---- */

static char *add(char *to, const char *text, int len)
{
	return sqlite3_mprintf("%z %.*s", to, len, text);
}

char *sums_of(const char *sql)
{
	struct question *q = xcalloc(1, sizeof(*q));
	char *ret = NULL;
	bool any = false;

	if (!read_tokens(sql, q) || !is_plain(q) || !find_table(q)) {
		free(q);
		return NULL;
	}
	ret = sqlite3_mprintf("");
	for (int i = 0, len; ret && i < q->tokens; i += len) {
		char *other = aggregate_at(q, i, &len);

		if (other) {
			ret = sqlite3_mprintf("%z %z", ret, other);
			any = true;
		} else if (len < 0) {
			sqlite3_free(ret);
			ret = NULL;
		} else if (i == q->name) {
			ret = sqlite3_mprintf("%z temp.%s%s%s", ret, expanded[q->table].sums,
					      q->aliased ? "" : " AS ", q->aliased ? "" : q->alias);
		} else {
			/* What stands together, as in <= or ||, must not be torn apart. */
			bool joined =
				i && q->token[i - 1].at + q->token[i - 1].len == q->token[i].at;

			ret = joined ? sqlite3_mprintf("%z%.*s", ret, q->token[i].len,
						       q->token[i].at)
				     : add(ret, q->token[i].at, q->token[i].len);
		}
		len = len < 1 ? 1 : len;
	}
	if (!any) {
		sqlite3_free(ret);
		ret = NULL;
	}
	free(q);
	return ret;
}
