/* SPDX-License-Identifier: Apache-2.0 */
/* Inside export/: stacks with their weights, between those who gather and those who write them. */
#ifndef EXPORT_EXPORT_INT_H
#define EXPORT_EXPORT_INT_H

#include "export/export.h"

#define FLAME_TEXT 512

/* One frame as the viewers take it. */
struct flame_frame {
	char name[FLAME_TEXT]; /* printable */
	char file[FLAME_TEXT]; /* "": none */
	int line; /* 0: none */
};

struct flame_sample {
	int profile; /* index */
	int *frame; /* indexes of frames, outermost first */
	int frames;
	uint64_t ns;
};

/* One thread. */
struct flame_profile {
	char name[FLAME_TEXT];
	int64_t thread;
	uint64_t ns;
};

struct flame {
	struct flame_frame *frame;
	int frames;
	struct flame_sample *sample; /* by profile, most first */
	int samples;
	struct flame_profile *profile;
	int profiles;
};

/* gather.c. Release in any case. */
int flame_gather(struct store *s, const struct export_opts *opts, struct flame *ret);
void flame_release(struct flame *f);

void folded_write(const struct flame *f, FILE *out);
void speedscope_write(const struct flame *f, FILE *out);

#endif
