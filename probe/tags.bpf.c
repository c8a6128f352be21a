// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tags of tasks: told by the thread itself through its name, by CULPRIT_TAG when a program starts, handed
 * down to children. And what happens to files that are checked. An object of its own: it is loaded, and its
 * parts are attached, without the rest.
 */
#include "probe/tag.bpf.h"

#include "probe/integrity_xfs.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cred___tag {
	struct kuid___tag uid, fsuid;
};

struct mm_struct___tag {
	unsigned long env_start, env_end;
};

struct counter___tag {
	int counter;
};

struct signal_struct___tag {
	struct counter___tag live;
};

struct task_struct___tag {
	int pid, tgid, exit_code;
	const struct cred___tag *cred;
	struct mm_struct___tag *mm;
	struct signal_struct___tag *signal;
};

#pragma clang attribute pop

#define BY_ENVIRONMENT 'e'
#define ENV_NAME "CULPRIT_TAG="
#define ENV_NAME_LEN (sizeof(ENV_NAME) - 1)
#define ENV_CHUNK 256 /* a power of two */
#define ENV_CHUNKS 2048 /* what is behind that is not looked at */

/* A label that is being told. */
struct draft {
	__u32 len;
	__u32 broken; /* too long */
	char label[TAG_LABEL_MAX + TAG_PIECE]; /* room, so that a piece can be put at any place */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct draft);
} tag_drafts SEC(".maps");

/* ---- telling user space ---- */

static __always_inline void lost(struct tag_gate *gate)
{
	__sync_fetch_and_add(&gate->lost, 1);
}

static __noinline __u64 label_hash(const char *label)
{
	__u64 hash = TAG_HASH_START;

	if (!label)
		return 0;
	for (int i = 0; i < TAG_LABEL_MAX - 1; i++) {
		char c = 0;

		bpf_probe_read_kernel(&c, 1, label + i);
		if (!c)
			break;
		hash = tag_hash_byte(hash, (unsigned char)c);
	}
	return hash;
}

static __always_inline struct tag_told *tell(struct tag_gate *gate, __u32 event, __u32 by,
					     __u64 tag)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tag_told *told = bpf_ringbuf_reserve(&tag_ring, sizeof(*told), 0);

	if (!told) {
		lost(gate);
		return NULL;
	}
	__builtin_memset(told, 0, sizeof(*told));
	told->event = event;
	told->by = by;
	told->tag = tag;
	told->at = bpf_ktime_get_boot_ns();
	told->pid = task->tgid;
	told->tid = task->pid;
	told->uid = BPF_CORE_READ((struct task_struct___tag *)task, cred, uid.val);
	return told;
}

/* ---- tasks ---- */

/* True: it had another before. */
static __always_inline bool set_task(struct tag_gate *gate, __u32 key, __u64 tag)
{
	__u64 *old = bpf_map_lookup_elem(&tag_tasks, &key);

	if (!tag) {
		if (old)
			bpf_map_delete_elem(&tag_tasks, &key);
		return old != NULL;
	}
	if (old && *old == tag)
		return false;
	gate->tasks = 1;
	if (bpf_map_update_elem(&tag_tasks, &key, &tag, BPF_ANY))
		__sync_fetch_and_add(&gate->full, 1);
	return true;
}

static __always_inline void tag_current(struct tag_gate *gate, struct draft *draft, __u32 by)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 key = by != TAG_THREAD ? task->tgid | TAG_OF_PROCESS : (__u32)task->pid;
	__u64 tag = draft->len ? label_hash(draft->label) : 0;
	struct tag_told *told;

	if (!set_task(gate, key, tag))
		return;
	told = tell(gate, TAG_EVENT_TASK, by, tag);
	if (!told)
		return;
	bpf_probe_read_kernel_str(told->label, sizeof(told->label), draft->label);
	bpf_ringbuf_submit(told, 0);
}

/* ---- files, by descriptor ---- */

/* Who may say what a file is: its owner, and root. */
static __always_inline bool owns(struct task_struct *task, const struct inode___tag *inode)
{
	__u32 uid = BPF_CORE_READ((struct task_struct___tag *)task, cred, fsuid.val);

	return !uid || uid == BPF_CORE_READ(inode, i_uid.val);
}

static __always_inline struct inode___tag *inode_behind(struct task_struct *task, __u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **table, *file = NULL;

	if (fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	table = BPF_CORE_READ(fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &table[fd]) || !file)
		return NULL;
	return (struct inode___tag *)BPF_CORE_READ(file, f_inode);
}

static __always_inline void tag_descriptor(struct tag_gate *gate, struct draft *draft, __u32 by,
					   __u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode___tag *inode = inode_behind(task, fd);
	struct tag_mark mark = {};
	struct tag_file file = {};
	struct tag_told *told;
	__u32 one = 1, mode;

	if (!inode || !draft->len || !owns(task, inode))
		return;
	mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	if (mode != S_IFREG && mode != S_IFDIR)
		return;
	file.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	file.ino = BPF_CORE_READ(inode, i_ino);
	mark.generation = BPF_CORE_READ(inode, i_generation);
	mark.tag = label_hash(draft->label);
	mark.flags = by == TAG_CHECKED ? MARK_CHECKED : 0;
	bpf_map_update_elem(&tag_devices, &file.dev, &one, BPF_ANY);
	if (mode == S_IFREG) {
		gate->files = 1;
		one = bpf_map_update_elem(&tag_files, &file, &mark, BPF_ANY) != 0;
	} else {
		gate->dirs = 1;
		gate->epoch++;
		one = bpf_map_update_elem(&tag_dirs, &file, &mark, BPF_ANY) != 0;
	}
	if (one)
		__sync_fetch_and_add(&gate->full, 1);
	told = tell(gate, TAG_EVENT_FILE, by, mark.tag);
	if (!told)
		return;
	told->file = file;
	told->generation = mark.generation;
	bpf_probe_read_kernel_str(told->label, sizeof(told->label), draft->label);
	bpf_ringbuf_submit(told, 0);
}

/* ---- names ---- */

static __always_inline void draft_add(struct draft *draft, const char *piece)
{
	long n;

	if (draft->len > TAG_LABEL_MAX - 1) {
		draft->broken = 1;
		return;
	}
	n = bpf_probe_read_kernel_str(draft->label + draft->len, TAG_PIECE + 1, piece);
	if (n > 1 && n <= TAG_PIECE + 1)
		draft->len += n - 1;
	if (draft->len > TAG_LABEL_MAX - 1)
		draft->broken = 1;
}

static __always_inline __u32 number(const char *digits)
{
	__u32 value = 0;

	for (int i = 0; i < 7; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			break;
		value = value * 10 + (digits[i] - '0');
	}
	return value;
}

SEC("tp_btf/task_rename")
int BPF_PROG(tag_renamed, struct task_struct *task, const char *name)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct tag_gate *gate = tag_gate();
	struct draft *draft;
	char text[16] = {};

	if (!gate || gate->stopped)
		return 0;
	bpf_probe_read_kernel_str(text, sizeof(text), name);
	if (text[0] != 'a' || text[1] != 'i' || task->pid != self->pid)
		return 0; /* nearly all of them: threads name themselves once */
	if (text[2] != TAG_BEGIN && text[2] != TAG_MORE && text[2] != TAG_THREAD &&
	    text[2] != TAG_PROCESS && text[2] != TAG_FILE && text[2] != TAG_CHECKED)
		return 0;
	draft = bpf_task_storage_get(&tag_drafts, self, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!draft) {
		__sync_fetch_and_add(&gate->full, 1);
		return 0;
	}
	if (text[2] == TAG_BEGIN)
		draft->len = draft->broken = draft->label[0] = 0;
	if (text[2] == TAG_BEGIN || text[2] == TAG_MORE) {
		draft_add(draft, text + 3);
		return 0;
	}
	if (!draft->broken) {
		if (text[2] == TAG_THREAD || text[2] == TAG_PROCESS)
			tag_current(gate, draft, text[2]);
		else
			tag_descriptor(gate, draft, text[2], number(text + 3));
	}
	draft->len = draft->broken = draft->label[0] = 0;
	return 0;
}

/* ---- the environment of a program that starts ---- */

struct search {
	__u64 at, end;
	__u32 inside; /* of a variable that is longer than a chunk */
	__u32 found;
};

struct chunk {
	char text[ENV_CHUNK];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chunk);
} tag_chunk SEC(".maps");

static __always_inline bool is_ours(const char *text)
{
	const char name[] = ENV_NAME;

	for (__u32 i = 0; i < ENV_NAME_LEN; i++)
		if (text[i] != name[i])
			return false;
	return true;
}

static long search_chunk(__u32 i, void *ctx)
{
	struct search *s = ctx;
	__u32 zero = 0;
	struct chunk *c = bpf_map_lookup_elem(&tag_chunk, &zero);
	long n;

	if (!c || s->at >= s->end)
		return 1;
	n = bpf_probe_read_user_str(c->text, sizeof(c->text), (void *)s->at);
	if (n <= 0)
		return 1;
	if (!s->inside && is_ours(c->text)) {
		s->found = 1;
		return 1;
	}
	s->inside = n == ENV_CHUNK;
	s->at += s->inside ? n - 1 : n;
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(tag_exec, struct task_struct *task)
{
	struct search s = { .at = BPF_CORE_READ((struct task_struct___tag *)task, mm, env_start),
			    .end = BPF_CORE_READ((struct task_struct___tag *)task, mm, env_end) };
	struct task_struct *self = bpf_get_current_task_btf();
	struct tag_gate *gate = tag_gate();
	struct draft *draft;
	long n;

	if (!gate || gate->stopped)
		return 0;
	bpf_loop(ENV_CHUNKS, search_chunk, &s, 0);
	if (!s.found)
		return 0;
	draft = bpf_task_storage_get(&tag_drafts, self, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!draft)
		return 0;
	n = bpf_probe_read_user_str(draft->label, TAG_LABEL_MAX, (void *)(s.at + ENV_NAME_LEN));
	draft->len = n > 1 ? (__u32)n - 1 : 0;
	if (draft->len) {
		set_task(gate, self->pid, 0); /* what the program before worked on */
		tag_current(gate, draft, BY_ENVIRONMENT);
	}
	draft->len = draft->broken = draft->label[0] = 0;
	return 0;
}

/* ---- children and ends ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(tag_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tid = parent->pid, process = parent->tgid | TAG_OF_PROCESS;
	struct tag_gate *gate = tag_gate();
	__u64 *tag;

	if (!gate || !gate->tasks || gate->stopped)
		return 0;
	tag = bpf_map_lookup_elem(&tag_tasks, &tid);
	if (tag)
		set_task(gate, child->pid, *tag);
	if (child->pid != child->tgid)
		return 0;
	tag = bpf_map_lookup_elem(&tag_tasks, &process);
	if (tag)
		set_task(gate, child->tgid | TAG_OF_PROCESS, *tag);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(tag_exit, struct task_struct *task)
{
	__u32 tid = task->pid, process = task->tgid | TAG_OF_PROCESS;
	struct tag_gate *gate = tag_gate();

	if (!gate || !(gate->tasks | gate->files | gate->dirs))
		return 0;
	if (gate->tasks)
		bpf_map_delete_elem(&tag_tasks, &tid);
	if (BPF_CORE_READ((struct task_struct___tag *)task, signal, live.counter))
		return 0;
	if (gate->tasks)
		bpf_map_delete_elem(&tag_tasks, &process);
	writer_ends(gate, task->tgid, BPF_CORE_READ((struct task_struct___tag *)task, exit_code));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
