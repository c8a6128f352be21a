// SPDX-License-Identifier: Apache-2.0
/* Counters: of GPUs, of the host, of processes and threads. See value_kinds[] for the list. */
#include <math.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "export/timeline.h"

struct gpu_track {
	uint64_t track;
	int64_t node; /* index */
};

struct values {
	struct timeline_out *t;
	const struct value_kind *kind;
	struct hash *gpus; /* row -> struct gpu_track; none: of a node that is not shown */
	int64_t owner;
	uint64_t track, parent;
	char label[128];
	bool any;
};

static int on_gpu(const struct gpu_place *gpu, void *arg)
{
	struct values *v = arg;
	int node = tl_node(v->t, gpu->node);
	char name[160], safe[96];
	struct gpu_track *to;

	if (!tl_node_selected(v->t, node))
		return 0;
	snprintf(name, sizeof(name), "%s: GPU %u (%s)", v->t->node[node].name, gpu->index,
		 text_safe(safe, sizeof(safe), gpu->name));
	to = hash_put(v->gpus, &gpu->id);
	*to = (struct gpu_track){ tl_group(v->t, tl_node_track(v->t, node), name), node };
	return 0;
}

/* 0: not shown. *node: where that is. */
static uint64_t parent_of(struct values *v, const struct value_row *row, int *node)
{
	struct tl_process *process;
	struct tl_thread *thread;
	struct gpu_track *gpu;

	switch (v->kind->owner) {
	case OWNER_NODE:
		*node = tl_node(v->t, row->node);
		return tl_node_selected(v->t, *node) ? tl_node_track(v->t, *node) : 0;
	case OWNER_GPU:
		gpu = hash_get(v->gpus, &row->owner);
		*node = gpu ? (int)gpu->node : 0;
		return gpu ? gpu->track : 0;
	case OWNER_PROCESS:
		process = tl_process(v->t, row->owner);
		*node = process ? process->node : 0;
		return process ? tl_process_track(v->t, process) : 0;
	case OWNER_THREAD:
		thread = tl_thread(v->t, row->owner);
		*node = thread ? tl_process_of(v->t, thread)->node : 0;
		return thread ? tl_thread_track(v->t, thread) : 0;
	}
	return 0;
}

static void next_track(struct values *v, const struct value_row *row)
{
	char name[256], safe[128];
	int node = 0;

	v->any = true;
	v->owner = row->owner;
	str_copy(v->label, sizeof(v->label), row->label);
	v->parent = parent_of(v, row, &node);
	tl_sequence(v->t, node);
	snprintf(name, sizeof(name), row->label[0] ? "%s: %s" : "%s", v->kind->name,
		 text_safe(safe, sizeof(safe), row->label));
	v->track = v->parent ? tl_counter(v->t, v->parent, name, v->kind->unit) : 0;
}

static int on_value(const struct value_row *row, void *arg)
{
	struct values *v = arg;

	if (!v->any || row->owner != v->owner ||
	    strncmp(row->label, v->label, sizeof(v->label) - 1) != 0)
		next_track(v, row);
	if (v->track && isfinite(row->value) && row->at_ns >= v->t->w.from_ns)
		sink_value(&v->t->sink, v->track, row->at_ns, row->value);
	return tl_progress(v->t, row->at_ns);
}

int tl_values(struct timeline_out *t)
{
	struct values v = { .t = t, .gpus = hash_new(sizeof(int64_t), sizeof(struct gpu_track)) };
	int err = store_each_gpu_place(t->store, on_gpu, &v);

	for (v.kind = value_kinds; !err && v.kind->name; v.kind++) {
		v.any = false;
		err = store_each_value(t->store, t->w, v.kind, on_value, &v);
	}
	hash_free(v.gpus);
	return err;
}
