// SPDX-License-Identifier: Apache-2.0
/* Every row of every FDE of real libraries, against what readelf says. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "native/image.h"
#include "test/test.h"

#if defined(__x86_64__)

static const char *const reg_names[CFI_REGS] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
						 "rbp", "rsp", "r8",  "r9",  "r10", "r11",
						 "r12", "r13", "r14", "r15", "ra" };

struct reading {
	struct image *im;
	struct eh_buffer *buf;
	uint64_t budget;
	int column[32]; /* register of each column behind the CFA; -1: one that we do not follow */
	int columns;
	bool in_fde, any;
	uint64_t start, end, at; /* of the FDE; of the row that is not yet checked */
	char row[512];
	long fdes, rows, wrong;
	char first_wrong[256];
};

static int reg_by_name(const char *name)
{
	for (int i = 0; i < CFI_REGS; i++) {
		if (streq(name, reg_names[i]))
			return i;
	}
	return -1;
}

static void rule_text(const struct cfi_rule *r, char *dst, size_t cap)
{
	switch (r->kind) {
	case CFI_SAME:
	case CFI_UNDEFINED:
		snprintf(dst, cap, "u");
		break;
	case CFI_OFFSET:
		snprintf(dst, cap, "c%+lld", (long long)r->offset);
		break;
	case CFI_VAL_OFFSET:
		snprintf(dst, cap, "v%+lld", (long long)r->offset);
		break;
	case CFI_REGISTER:
		snprintf(dst, cap, "r%llu", (unsigned long long)r->reg);
		break;
	case CFI_EXPR:
		snprintf(dst, cap, "exp");
		break;
	case CFI_VAL_EXPR:
		snprintf(dst, cap, "vexp");
		break;
	}
}

static void wrong(struct reading *r, uint64_t pc, const char *what, const char *ours)
{
	if (!r->wrong++)
		snprintf(r->first_wrong, sizeof(r->first_wrong), "%llx: readelf %.80s, we %.80s",
			 (unsigned long long)pc, what, ours);
}

/* A row's text against ours at one address. */
static void check_at(struct reading *r, uint64_t pc)
{
	char row[512], cfa[32], *next = NULL, *word;
	struct cfi_row ours;
	struct fde f;

	if (!eh_find(r->im, pc, r->buf, &f) || f.start != r->start || f.start + f.size != r->end ||
	    !cfi_row_at(&f, pc, &ours)) {
		wrong(r, pc, r->row, "nothing");
		return;
	}
	snprintf(row, sizeof(row), "%s", r->row);
	word = strtok_r(row, " \n", &next);
	if (ours.cfa.kind == CFI_VAL_EXPR)
		snprintf(cfa, sizeof(cfa), "exp");
	else
		snprintf(cfa, sizeof(cfa), "%s%+lld",
			 ours.cfa.reg < CFI_REGS ? reg_names[ours.cfa.reg] : "?",
			 (long long)ours.cfa.offset);
	if (!word || !streq(word, cfa)) {
		wrong(r, pc, r->row, cfa);
		return;
	}
	for (int i = 0; i < r->columns; i++) {
		char text[32] = "";

		do
			word = strtok_r(NULL, " \n", &next);
		while (word && word[0] == '('); /* "r1 (rdx)" */
		if (r->column[i] < 0)
			continue;
		rule_text(&ours.reg[r->column[i]], text, sizeof(text));
		if (!word || !(streq(word, text) || (streq(word, "s") && streq(text, "u")))) {
			wrong(r, pc, r->row, text);
			return;
		}
	}
}

/* The row that began at r->at ends before `end`: both of its ends must have it. */
static void check_row(struct reading *r, uint64_t end)
{
	if (!r->any)
		return;
	r->any = false;
	if (r->at >= end || r->at >= r->end)
		return; /* empty: readelf shows what a compiler wrote twice for one address */
	r->rows++;
	check_at(r, r->at);
	if (end - 1 > r->at)
		check_at(r, end - 1);
}

static void take_columns(struct reading *r, char *line)
{
	char *next = NULL, *word;

	r->columns = 0;
	strtok_r(line, " \n", &next); /* LOC */
	strtok_r(NULL, " \n", &next); /* CFA */
	while ((word = strtok_r(NULL, " \n", &next)) && r->columns < 32)
		r->column[r->columns++] = reg_by_name(word);
}

static void take_line(struct reading *r, char *line)
{
	const char *pc = strstr(line, " pc=");
	char *after;

	if (strstr(line, " FDE ") && pc) {
		check_row(r, r->end);
		r->in_fde = true;
		r->start = strtoull(pc + 4, &after, 16);
		r->end = strtoull(after + strspn(after, "."), NULL, 16);
		r->fdes++;
		r->columns = 0;
	} else if (strstr(line, " CIE ")) {
		check_row(r, r->end);
		r->in_fde = false;
	} else if (starts_with(line, "   LOC")) {
		take_columns(r, line);
	} else if (r->in_fde && strspn(line, "0123456789abcdef") == 16) {
		uint64_t at = strtoull(line, &after, 16);

		check_row(r, at);
		r->at = at;
		r->any = true;
		snprintf(r->row, sizeof(r->row), "%s", after);
	}
}

static bool run_readelf(const char *path, struct reading *r)
{
	char line[1024];
	int out[2], status;
	FILE *f;
	pid_t pid;

	if (pipe(out))
		return false;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(out[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("readelf", "readelf", "--debug-dump=frames-interp",
		       "--debug-dump=no-follow-links", path, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (starts_with(line, "Contents of the .debug_frame"))
			r->in_fde = false;
		take_line(r, line);
		r->budget = UINT64_MAX;
	}
	check_row(r, r->end);
	if (f)
		fclose(f);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int compare(const char *path)
{
	struct reading r = { .im = xcalloc(1, sizeof(*r.im)),
			     .buf = xcalloc(1, sizeof(*r.buf)),
			     .budget = UINT64_MAX };
	struct elf *e = xcalloc(1, sizeof(*e));
	struct stat st = { 0 };
	bool ran;

	r.im->own.fd = open(path, O_RDONLY | O_CLOEXEC);
	r.im->debug.fd = -1;
	fstat(r.im->own.fd, &st);
	r.im->own.size = (uint64_t)st.st_size;
	r.im->own.budget = &r.budget;
	image_read_headers(r.im, e);
	ran = run_readelf(path, &r);
	if (getenv("NATIVE_SHOW"))
		printf("  %s: %ld FDEs, %ld rows, %ld differ%s%s\n", path, r.fdes, r.rows, r.wrong,
		       r.wrong ? ": " : "", r.first_wrong);
	image_free(r.im);
	free(r.buf);
	free(e);
	if (!ran)
		return 0; /* no binutils here */
	CHECK(r.fdes > 0 && r.rows > 0);
	CHECK_STR(r.first_wrong, "");
	return 0;
}

TEST(cfi_has_the_rows_that_readelf_has)
{
	static const char *const usual[] = { "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib64/libc.so.6" };
	char *files = getenv("NATIVE_FILES"), *next = NULL; /* others, with colons between them */

	if (files) {
		files = xstrdup(files);
		for (char *f = strtok_r(files, ":", &next); f; f = strtok_r(NULL, ":", &next)) {
			if (compare(f))
				return 1;
		}
		free(files);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
		if (!access(usual[i], R_OK))
			return compare(usual[i]);
	}
	return 0;
}

#endif
