// SPDX-License-Identifier: Apache-2.0
/* Reads what the GPUs said of themselves, who used them, and their errors. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/facts.h"

#define SECONDS_MAX 1000000 /* of one GPU; a file can hold anything */

static void *grow(void *ptr, int n, size_t size)
{
	return n & (n - 1) ? ptr : xrealloc(ptr, n ? 2 * (size_t)n : 1, size);
}

/* Another run tells of it anew, under another id. */
static struct gpu_facts *gpu_of(struct facts *f, const char *uuid, uint32_t index)
{
	struct gpu_facts *gpu;

	for (int i = 0; i < f->gpus; i++)
		if (streq(f->gpu[i].uuid, uuid) && f->gpu[i].index == index)
			return &f->gpu[i];
	f->gpu = grow(f->gpu, f->gpus, sizeof(*f->gpu));
	gpu = &f->gpu[f->gpus++];
	*gpu = (struct gpu_facts){ .index = index };
	return gpu;
}

static int on_gpu(const struct gpu_info *row, void *arg)
{
	struct gpu_facts *gpu;
	char uuid[96];

	text_safe(uuid, sizeof(uuid), row->uuid);
	gpu = gpu_of(arg, uuid, row->index);
	memcpy(gpu->uuid, uuid, sizeof(gpu->uuid));
	text_safe(gpu->name, sizeof(gpu->name), row->name);
	text_safe(gpu->bus_id, sizeof(gpu->bus_id), row->bus_id);
	gpu->id = grow(gpu->id, gpu->ids, sizeof(*gpu->id));
	gpu->id[gpu->ids++] = row->id;
	return 0;
}

static struct gpu_facts *find(struct facts *f, int64_t id)
{
	for (int i = 0; i < f->gpus; i++)
		for (int k = 0; k < f->gpu[i].ids; k++)
			if (f->gpu[i].id[k] == id)
				return &f->gpu[i];
	return NULL;
}

static int on_second(const struct gpu_second_info *row, void *arg)
{
	struct gpu_facts *gpu = find(arg, row->gpu);

	if (!gpu || gpu->seconds == SECONDS_MAX)
		return 0;
	gpu->second = grow(gpu->second, gpu->seconds, sizeof(*gpu->second));
	gpu->second[gpu->seconds++] = *row;
	return 0;
}

static int on_process(const struct gpu_process_info *row, void *arg)
{
	struct gpu_facts *gpu = find(arg, row->gpu);

	if (!gpu)
		return 0;
	gpu->user = grow(gpu->user, gpu->users, sizeof(*gpu->user));
	gpu->user[gpu->users++] = *row;
	return 0;
}

static int on_error(const struct gpu_error_row *row, void *arg)
{
	struct facts *f = arg;
	struct gpu_error *e;

	f->gpu_error = grow(f->gpu_error, f->gpu_errors, sizeof(*f->gpu_error));
	e = &f->gpu_error[f->gpu_errors++];
	*e = (struct gpu_error){ .at_ns = row->at_ns, .code = row->code, .pid = row->pid };
	text_safe(e->bus_id, sizeof(e->bus_id), row->bus_id);
	text_safe(e->comm, sizeof(e->comm), row->comm);
	text_safe(e->text, sizeof(e->text), row->text);
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct gpu_second_info *a = x, *b = y;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

int facts_load_gpus(struct store *s, struct facts *f)
{
	struct window w = f->window;
	int err = store_each_gpu(s, w, on_gpu, f);

	if (!err)
		err = store_each_gpu_second(s, w, on_second, f);
	if (!err)
		err = store_each_gpu_process(s, w, on_process, f);
	if (!err)
		err = store_each_gpu_error(s, w, on_error, f);
	for (int i = 0; i < f->gpus; i++)
		if (f->gpu[i].seconds)
			qsort(f->gpu[i].second, (size_t)f->gpu[i].seconds,
			      sizeof(*f->gpu[i].second), by_time);
	return err;
}

void facts_release_gpus(struct facts *f)
{
	for (int i = 0; i < f->gpus; i++) {
		free(f->gpu[i].second);
		free(f->gpu[i].user);
		free(f->gpu[i].id);
	}
	free(f->gpu);
	free(f->gpu_error);
}
