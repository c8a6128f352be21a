// SPDX-License-Identifier: Apache-2.0
/* The lines of code of an explanation, for people. */
#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

void print_where(const struct finding *f, FILE *out)
{
	const struct line *w = &f->where;
	char text[512];

	fprintf(out, "  Where:  %s", line_text(w, f->python_note, text, sizeof(text)));
	if (w->file[0] && w->share < 99.5)
		fprintf(out, " (%.0f %% of it)", w->share);
	putc('\n', out);
	if (w->file[0] && strchr(w->file, '/'))
		fprintf(out, "          %s\n", w->file);
}

const char *print_at(const struct line *line, char *dst, size_t cap)
{
	char text[512];

	if (cap)
		dst[0] = '\0';
	if (line->file[0])
		snprintf(dst, cap, ", %s", line_text(line, "", text, sizeof(text)));
	return dst;
}

/* ---- all frames ---- */

static void print_frame(const struct frame *f, FILE *out)
{
	if (f->kind == FRAME_python)
		fprintf(out, "          [Python] %s:%d in %s%s\n", f->file, f->line, f->func,
			f->func[0] == '<' ? "" : "()");
	else
		fprintf(out, "          [native] %s in %s\n", f->func[0] ? f->func : "(no symbol)",
			f->file[0] ? f->file : "(no file)");
}

static void print_stack(const struct stack *stack, const char *whose, FILE *out)
{
	fprintf(out, "  Stack:  %s, innermost first\n", whose);
	for (int i = 0; i < stack->frames; i++)
		print_frame(stack->frame[i], out);
	if (stack->flags & PY_STACK_CUT)
		fputs("          ... deeper than could be read\n", out);
	if (stack->flags & PY_STACK_BROKEN)
		fputs("          ... the rest could not be read\n", out);
}

void print_stacks(const struct explanation *e, const struct finding *f, FILE *out)
{
	const struct stack *stack = explain_stack(e, f->where.stack);
	char whose[64];

	if (!e->full_stack)
		return;
	snprintf(whose, sizeof(whose), "%s %u", f->comm, f->tid);
	if (stack)
		print_stack(stack, whose, out);
	for (int h = 1; h < f->chain.hops; h++) {
		stack = explain_stack(e, f->hop_line[h].stack);
		snprintf(whose, sizeof(whose), "%s %u", f->chain.hop[h].comm, f->chain.hop[h].tid);
		if (stack)
			print_stack(stack, whose, out);
	}
}

/* ---- how much has lines ---- */

/* Those of which a line could be known: threads that run Python. */
static uint64_t of_python(uint64_t with, const uint64_t without[NO_STACK_COUNT])
{
	uint64_t sum = with;

	for (int i = 0; i < NO_STACK_COUNT; i++)
		if (i != NO_STACK_no_python && i != NO_STACK_no_thread)
			sum += without[i];
	return sum;
}

struct lines_known lines_known(const struct explanation *e)
{
	const struct stack_counts *c = &e->stacks;

	return (struct lines_known){
		.calls = of_python(c->calls, c->no_calls),
		.wait_ns = of_python(c->wait_ns, c->no_wait_ns),
		.calls_pct = percent(c->calls, of_python(c->calls, c->no_calls)),
		.wait_pct = percent(c->wait_ns, of_python(c->wait_ns, c->no_wait_ns)),
	};
}

void print_lines_known(const struct explanation *e, FILE *out)
{
	struct lines_known known = lines_known(e);
	double most_pct = 0;
	int most = -1;

	if (!known.calls && !known.wait_ns)
		return;
	for (int i = 0; i < NO_STACK_COUNT; i++) {
		double pct = percent(e->stacks.no_calls[i], known.calls) +
			     percent(e->stacks.no_wait_ns[i], known.wait_ns);

		if (i == NO_STACK_no_python || i == NO_STACK_no_thread || pct <= most_pct)
			continue;
		most_pct = pct;
		most = i;
	}
	fprintf(out,
		"Lines of Python: known of %.1f %% of the calls stored one by one, %.1f %% of the "
		"waiting time",
		known.calls_pct, known.wait_pct);
	if (most >= 0) {
		struct line line = { .why = (enum no_stack)most };

		fprintf(out, ";\n  of most others: %s", line_why(&line, ""));
	}
	fputs(".\n", out);
}

/* ---- by line ---- */

void print_by_line(const struct explanation *e, FILE *out)
{
	char ns[UNITS_CAP], text[512];

	fputs("      LOST        %  CAUSE               LINE\n", out);
	for (int i = 0; i < e->lines; i++) {
		const struct line_sum *s = &e->line[i];

		fprintf(out, "  %8s  %5.1f %%  %-18s  %s", format_ns(ns, sizeof(ns), s->ns),
			s->line.share, s->cause, line_text(&s->line, "", text, sizeof(text)));
		fprintf(out, "  [%s %u]\n", s->comm, s->pid);
	}
	if (!e->lines)
		fputs("  no time was lost for a cause that this version knows\n", out);
}
