// SPDX-License-Identifier: Apache-2.0
/* Counters: of GPUs, of the host, of processes and threads. See value_kinds[] for the list. */
#include <math.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "export/timeline.h"

struct values {
	struct timeline_out *t;
	const struct value_kind *kind;
	struct hash *gpus; /* row -> its group, 0: of a node that is not shown */
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
	uint64_t *group;

	if (!tl_node_selected(v->t, node))
		return 0;
	snprintf(name, sizeof(name), "%s: GPU %u (%s)", v->t->node[node].name, gpu->index,
		 text_safe(safe, sizeof(safe), gpu->name));
	group = hash_put(v->gpus, &gpu->id);
	*group = tl_group(v->t, tl_node_track(v->t, node), name);
	return 0;
}

/* 0: not shown. */
static uint64_t parent_of(struct values *v, const struct value_row *row)
{
	struct tl_process *process;
	struct tl_thread *thread;
	uint64_t *group;
	int node;

	switch (v->kind->owner) {
	case OWNER_NODE:
		node = tl_node(v->t, row->node);
		return tl_node_selected(v->t, node) ? tl_node_track(v->t, node) : 0;
	case OWNER_GPU:
		group = hash_get(v->gpus, &row->owner);
		return group ? *group : 0;
	case OWNER_PROCESS:
		process = tl_process(v->t, row->owner);
		return process ? tl_process_track(v->t, process) : 0;
	case OWNER_THREAD:
		thread = tl_thread(v->t, row->owner);
		return thread ? tl_thread_track(v->t, thread) : 0;
	}
	return 0;
}

static void next_track(struct values *v, const struct value_row *row)
{
	char name[256], safe[128];

	v->any = true;
	v->owner = row->owner;
	str_copy(v->label, sizeof(v->label), row->label);
	tl_sequence(v->t);
	v->parent = parent_of(v, row);
	snprintf(name, sizeof(name), row->label[0] ? "%s: %s" : "%s", v->kind->name,
		 text_safe(safe, sizeof(safe), row->label));
	v->track = v->parent ? tl_counter(v->t, v->parent, name, v->kind->unit) : 0;
}

static int on_value(const struct value_row *row, void *arg)
{
	struct values *v = arg;

	if (!v->any || row->owner != v->owner ||
	    strncmp(row->label, v->label, sizeof(v->label) - 1))
		next_track(v, row);
	if (v->track && isfinite(row->value) && row->at_ns >= v->t->w.from_ns)
		sink_value(&v->t->sink, v->track, row->at_ns, row->value);
	return tl_progress(v->t, row->at_ns);
}

int tl_values(struct timeline_out *t)
{
	struct values v = { .t = t, .gpus = hash_new(sizeof(int64_t), sizeof(uint64_t)) };
	int err = store_each_gpu_place(t->store, on_gpu, &v);

	for (v.kind = value_kinds; !err && v.kind->name; v.kind++) {
		v.any = false;
		err = store_each_value(t->store, t->w, v.kind, on_value, &v);
	}
	hash_free(v.gpus);
	return err;
}
