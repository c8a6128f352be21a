// SPDX-License-Identifier: Apache-2.0
/* A trace with some bytes changed, merged with one that is sound: it is refused or it is merged. */
#include "merge/merge.h"

#include "test/fuzz/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define EDIT 4 /* bytes: where (three), what */

static uint8_t *sound;
static size_t size;
static char bad_db[128], out_db[128];

/* Once, at the first input. */
static void begin(void)
{
	FILE *in;

	fuzz_trace();
	snprintf(bad_db, sizeof(bad_db), "%s/bad.db", fuzz_dir);
	snprintf(out_db, sizeof(out_db), "%s/out.db", fuzz_dir);
	in = fopen(fuzz_db, "r");
	if (!in || fseek(in, 0, SEEK_END))
		abort();
	size = (size_t)ftell(in);
	sound = xcalloc(size, 1);
	rewind(in);
	if (fread(sound, 1, size, in) != size)
		abort();
	fclose(in);
	atexit(fuzz_trace_remove);
}

static void write_bad(const uint8_t *data, size_t len)
{
	uint8_t *copy = xcalloc(size, 1);
	FILE *to = fopen(bad_db, "w");

	memcpy(copy, sound, size);
	for (size_t i = 0; i + EDIT <= len; i += EDIT)
		copy[(data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % size] =
			data[i + 3];
	/* A length that is no multiple: the file is cut. */
	if (!to || fwrite(copy, 1, len % EDIT == 3 ? size / 2 : size, to) == 0)
		abort();
	fclose(to);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *input[] = { fuzz_db, bad_db };
	struct merge_opts opts = { .input = input, .inputs = 2, .output = out_db };
	struct merge_result result;

	if (!sound)
		begin();
	write_bad(data, len);
	(void)merge_traces(&opts, &result);
	(void)unlink(out_db);
	(void)unlink(bad_db);
	return 0;
}
