// SPDX-License-Identifier: Apache-2.0
/* Flame data in the two forms. */
#include "export/export.h"

#include <errno.h>

#include "base/fail.h"
#include "base/json.h"
#include "export/export_int.h"

/* ---- folded ---- */

/* A frame ends at a semicolon, the stack at the last space. */
static void folded_name(const struct flame_frame *f, FILE *out)
{
	for (const char *c = f->name; *c; c++)
		putc(*c == ';' ? ',' : *c, out);
	if (f->line)
		fprintf(out, ":%d", f->line);
}

void folded_write(const struct flame *f, FILE *out)
{
	for (int i = 0; i < f->samples; i++) {
		const struct flame_sample *s = &f->sample[i];

		for (int k = 0; k < s->frames; k++) {
			if (k)
				putc(';', out);
			folded_name(&f->frame[s->frame[k]], out);
		}
		fprintf(out, " %llu\n", (unsigned long long)s->ns);
	}
}

/* ---- speedscope ---- */

static void write_frames(struct json *j, const struct flame *f)
{
	json_open(j, "shared", '{');
	json_open(j, "frames", '[');
	for (int i = 0; i < f->frames; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", f->frame[i].name);
		if (f->frame[i].file[0])
			json_str(j, "file", f->frame[i].file);
		if (f->frame[i].line)
			json_i64(j, "line", f->frame[i].line);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_profile(struct json *j, const struct flame *f, int profile)
{
	json_open(j, NULL, '{');
	json_str(j, "type", "sampled");
	json_str(j, "name", f->profile[profile].name);
	json_str(j, "unit", "nanoseconds");
	json_u64(j, "startValue", 0);
	json_u64(j, "endValue", f->profile[profile].ns);
	json_open(j, "samples", '[');
	for (int i = 0; i < f->samples; i++) {
		if (f->sample[i].profile != profile)
			continue;
		json_open(j, NULL, '[');
		for (int k = 0; k < f->sample[i].frames; k++)
			json_i64(j, NULL, f->sample[i].frame[k]);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_open(j, "weights", '[');
	for (int i = 0; i < f->samples; i++)
		if (f->sample[i].profile == profile)
			json_u64(j, NULL, f->sample[i].ns);
	json_close(j, ']');
	json_close(j, '}');
}

void speedscope_write(const struct flame *f, FILE *out)
{
	struct json j = JSON_TO(out);

	json_open(&j, NULL, '{');
	json_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&j, "exporter", "culprit " VERSION);
	json_str(&j, "name", "culprit");
	json_u64(&j, "activeProfileIndex", 0);
	write_frames(&j, f);
	json_open(&j, "profiles", '[');
	for (int i = 0; i < f->profiles; i++)
		write_profile(&j, f, i);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}

/* ---- both ---- */

int export_stacks(struct store *s, const struct export_opts *opts, FILE *out)
{
	struct flame flame = { 0 };
	int err = flame_gather(s, opts, &flame);

	if (!err && !flame.samples)
		err = fail(-ENODATA,
			   opts->weight == EXPORT_LOST
				   ? "no time was lost for a cause that this version knows"
				   : "no traced thread in that time");
	if (!err && opts->format == EXPORT_FOLDED)
		folded_write(&flame, out);
	else if (!err)
		speedscope_write(&flame, out);
	flame_release(&flame);
	if (!err && (fflush(out) || ferror(out)))
		err = fail(-EIO, "cannot be written");
	return err;
}
