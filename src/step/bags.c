// SPDX-License-Identifier: Apache-2.0
/*
 * Loops whose passes are not of equal length: inputs of different size, experts, a cache that is
 * sometimes cold. Cut at one op; when neighbouring pieces hold about the same calls, in whatever
 * order, it is a loop. Pieces between two places of chance differ far too much for that.
 */
#include <string.h>

#include "step/period_int.h"

#define SCORE_MIN 0.8
#define PIECES_MIN 5
#define ANCHORS_MAX 16 /* that are tried */
#define KINDS_MAX 64 /* of ops in a piece */

struct bags {
	size_t kinds;
	uint16_t type[KINDS_MAX];
	uint32_t now[KINDS_MAX], before[KINDS_MAX];
	uint32_t min[KINDS_MAX], max[KINDS_MAX]; /* sums over pairs of neighbours */
	uint32_t in[KINDS_MAX]; /* pieces that have it */
	size_t pieces, beats;
};

static void end_piece(struct bags *b)
{
	for (size_t k = 0; k < b->kinds; k++) {
		uint32_t x = b->now[k], y = b->before[k];

		if (b->pieces) {
			b->min[k] += x < y ? x : y;
			b->max[k] += x < y ? y : x;
		}
		b->in[k] += x > 0;
		b->before[k] = x;
		b->now[k] = 0;
	}
	b->pieces++;
}

static void count_kind(struct bags *b, uint16_t type)
{
	for (size_t k = 0; k < b->kinds; k++) {
		if (b->type[k] == type) {
			b->now[k]++;
			return;
		}
	}
}

/* Cut at an op. False: too few pieces, or too many kinds in them. */
static bool cut(const struct search *s, uint16_t anchor, struct bags *b)
{
	uint32_t cuts = s->type[anchor].total;
	size_t first = s->n;

	memset(b, 0, sizeof(*b));
	if (cuts <= PIECES_MIN)
		return false;
	for (size_t t = 0; t < s->types; t++) {
		if (t == anchor || s->type[t].total * RARE < cuts)
			continue;
		if (b->kinds == KINDS_MAX)
			return false;
		b->type[b->kinds++] = (uint16_t)t;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (s->seq[i] != anchor) {
			count_kind(b, s->seq[i]);
		} else if (first == s->n) {
			first = i;
			memset(b->now, 0,
			       sizeof(b->now)); /* what was before it is no whole piece */
		} else {
			end_piece(b);
			b->beats = i - first;
		}
	}
	return b->kinds > 0;
}

static double score_of(const struct bags *b)
{
	double sum = 0;

	for (size_t k = 0; k < b->kinds; k++)
		sum += b->max[k] ? (double)b->min[k] / b->max[k] : 0;
	return sum / (double)b->kinds;
}

static bool describe(struct search *s, uint16_t anchor, const struct bags *b, struct rhythm *ret)
{
	for (size_t k = 0; k < b->kinds; k++) {
		struct type *type = &s->type[b->type[k]];

		if (b->in[k] * (size_t)10 >= b->pieces * 9)
			type->every = (uint32_t)((type->total + b->pieces / 2) / b->pieces);
	}
	s->type[anchor].every = 1;
	s->type[anchor].steady = UINT32_MAX;
	return period_describe(s, (uint32_t)((b->beats + b->pieces / 2) / b->pieces), ret);
}

bool bags_find(struct search *s, const struct rhythm *like, struct rhythm *ret)
{
	double best = 0;
	uint16_t anchor = 0;
	struct bags b;
	int tried = 0;

	for (size_t t = 0; t < s->types && tried < ANCHORS_MAX; t++) {
		const struct type *type = &s->type[t];
		double score;

		s->type[t].every = 0;
		if (type->mark > MARK_RESULT || (like && type->op != like->anchor))
			continue;
		if (!cut(s, (uint16_t)t, &b))
			continue;
		tried++;
		score = score_of(&b);
		if (score >= SCORE_MIN && score > best) {
			best = score;
			anchor = (uint16_t)t;
		}
	}
	if (best < SCORE_MIN || (like && like->every != 1))
		return false;
	return cut(s, anchor, &b) && describe(s, anchor, &b, ret);
}
