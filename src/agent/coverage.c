// SPDX-License-Identifier: Apache-2.0
/* What could be seen of each process: the libraries it maps, its interpreter. */
#include <stdint.h>

#include "agent/agent_int.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/host.h"

/* When a process started, exactly: the kernel side's word, or /proc's coarser one. */
struct start_query {
	uint32_t pid;
	uint64_t start_ns;
	char comm[COMM_LEN];
};

static bool match_start(const void *key, void *value, void *arg)
{
	const struct task_info *info = value;
	struct start_query *q = arg;

	(void)key;
	if (info->pid == q->pid && info->start_ns >= q->start_ns) {
		q->start_ns = info->start_ns;
		str_copy(q->comm, sizeof(q->comm), info->comm);
	}
	return false;
}

static struct start_query start_of(struct agent *a, uint32_t pid)
{
	struct start_query q = { .pid = pid };
	struct proc_info info;

	hash_each(a->tasks, match_start, &q);
	if (!q.start_ns && !proc_read((int)pid, &info))
		q.start_ns = info.start_ns;
	return q;
}

void agent_note_coverage(struct agent *a)
{
	for (size_t i = 0; i < a->found_count; i++) {
		const struct lib *lib = &a->found[i].lib;
		struct start_query who = start_of(a, a->found[i].pid);
		int64_t process = roster_process(a->roster, who.pid, who.start_ns, who.comm);
		struct coverage_row row = {
			.library = lib->path,
			.build_id = lib->build_id,
			.note = lib->note,
			.inode = lib->inode,
			.ops = lib->ops,
			.stepped = lib->stepped,
			.refused = lib->refused,
			.missing = lib->missing,
			.since_boot_ns = lib->attached_ns,
		};

		agent_stored(a, store_coverage(a->store, process, &row));
	}
	a->found_count = 0;
	for (size_t i = 0; i < a->note_count; i++) {
		struct start_query who = start_of(a, a->note[i].pid);
		int64_t process = roster_process(a->roster, who.pid, who.start_ns, who.comm);

		agent_stored(a, store_process_python(a->store, process, a->note[i].note));
	}
	a->note_count = 0;
}

void agent_note_python(struct agent *a, uint32_t pid, const char *note)
{
	struct python_note *to;

	a->note = xrealloc(a->note, a->note_count + 1, sizeof(*a->note));
	to = &a->note[a->note_count++];
	to->pid = pid;
	text_safe(to->note, sizeof(to->note), note);
}
