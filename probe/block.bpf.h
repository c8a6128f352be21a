/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a thread blocks on: asked at its switch-out, where it is still the current task. */
#ifndef PROBE_BLOCK_BPF_H
#define PROBE_BLOCK_BPF_H

#include "probe/irq.bpf.h"

/*
 * System call -> enum state, with flags. A table in read-only memory, filled by user space: one load
 * instead of a switch. See src/capture/syscalls.c.
 */
#define SYSCALLS 512
#define SYS_FD 0x100 /* the first argument is a descriptor: the file behind it decides */
#define SYS_POLL 0x200 /* ... a set of descriptors: if it is one, that one decides */
#define SYS_SELECT 0x400 /* ... the size of a set: if it is empty, it sleeps */
#define SYS_OPEN 0x800 /* the second argument has flags: whether the file is cut to nothing */
#define SYS_OPENAT 0x1000 /* ... the third */
#define TRUNCATES 01000 /* O_TRUNC */
const volatile __u16 syscall_state[SYSCALLS] = {};

#define GPU_MAJORS 4
const volatile __u32 gpu_major[GPU_MAJORS] = {}; /* of /dev/nvidia*; 0: none */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FILES);
	__type(key, struct file_key);
	__type(value, struct file_name);
} files SEC(".maps");

static __always_inline struct file *file_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (fd < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}

/* Keep the name of a file that somebody waits for; most are known already. */
static __noinline int keep_name(struct file *file, __u64 ino, __u64 dev)
{
	struct file_key key = { ino, dev };
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	struct file_name name = {};

	if (bpf_map_lookup_elem(&files, &key))
		return 0;
	bpf_probe_read_kernel_str(name.name, sizeof(name.name), BPF_CORE_READ(dentry, d_name.name));
	bpf_probe_read_kernel_str(name.parent, sizeof(name.parent),
				  BPF_CORE_READ(dentry, d_parent, d_name.name));
	bpf_map_update_elem(&files, &key, &name, BPF_NOEXIST);
	return 0;
}

/* remote v4 address << 32 | remote port << 16 | own port, host order but for the address */
static __always_inline __u64 socket_key(struct sock *sk)
{
	__u64 address = 0, remote = BPF_CORE_READ(sk, __sk_common.skc_dport);

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET)
		address = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	remote = __builtin_bswap16(remote);
	return address << 32 | remote << 16 | BPF_CORE_READ(sk, __sk_common.skc_num);
}

static __always_inline void note_socket(struct thread *t, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	struct tcp_sock *tcp;

	if ((family != AF_INET && family != AF_INET6) ||
	    BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return;
	t->stop.obj2 = socket_key(sk);
	t->sock = (__u64)sk;
	tcp = (struct tcp_sock *)sk;
	t->out_of_order = BPF_CORE_READ(tcp, rcv_ooopack);
}

static __always_inline bool is_gpu(__u32 rdev)
{
	for (int i = 0; i < GPU_MAJORS; i++)
		if (gpu_major[i] && gpu_major[i] == rdev >> 20)
			return true;
	return false;
}

/* `state`: what waiting for a plain file means in this system call. */
static __always_inline __u32 ask_file(struct thread *t, struct file *file, __u32 state)
{
	struct inode *inode = (struct inode *)t->inode;
	__u32 mode;

	mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	t->stop.obj = BPF_CORE_READ(inode, i_ino);
	switch (mode) {
	case S_IFIFO:
		return STATE_PIPE;
	case S_IFSOCK:
		note_socket(t, file);
		return STATE_SOCKET;
	case S_IFCHR:
		t->stop.obj = BPF_CORE_READ(inode, i_rdev);
		return is_gpu(t->stop.obj) ? STATE_GPU : STATE_DEVICE;
	}
	/* Anonymous files (eventfd, io_uring) have no type, or since 6.16 claim to be plain. */
	if (!mode || BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_MAGIC)
		return STATE_POLL;
	t->stop.obj2 = BPF_CORE_READ(inode, i_sb, s_dev);
	keep_name(file, t->stop.obj, t->stop.obj2);
	return state;
}

static __always_inline __u32 file_state(struct thread *t, struct file *file, __u32 state)
{
	__u64 inode;

	if (!file)
		return STATE_SYSCALL;
	inode = (__u64)BPF_CORE_READ(file, f_inode);
	/* Most wait on the same pipe again and again. Sockets are asked anew: their state counts. */
	if (t->file == (__u64)file && t->inode == inode && t->file_state == STATE_PIPE) {
		t->stop.obj = t->file_obj;
		return STATE_PIPE;
	}
	t->file = (__u64)file;
	t->inode = inode;
	t->file_state = ask_file(t, file, state);
	t->file_obj = t->stop.obj;
	return t->file_state;
}

static __always_inline __u32 poll_state(struct thread *t, struct task_struct *task,
					const struct pt_regs *regs)
{
	struct {
		int fd;
		short events, revents;
	} one = { .fd = -1 };

#ifdef __TARGET_ARCH_x86
	__u64 set = regs->di, size = regs->si;
#else
	__u64 set = regs->regs[0], size = regs->regs[1];
#endif

	if (!size)
		return STATE_SLEEP; /* waits for nothing but the time */
	if (size != 1 || bpf_probe_read_user(&one, sizeof(one), (void *)set))
		return STATE_POLL;
	if (one.fd < 0)
		return STATE_SLEEP;
	t->stop.fd = one.fd;
	return file_state(t, file_of(task, one.fd), STATE_POLL);
}

static __always_inline bool in_iowait(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* What was written to a file has to reach the disk, or be thrown away, before it is cut. */
static __always_inline __u32 open_state(const struct pt_regs *regs, __u32 kind)
{
#ifdef __TARGET_ARCH_x86
	__u64 flags = kind & SYS_OPEN ? regs->si : regs->dx;
#else
	__u64 flags = kind & SYS_OPEN ? regs->regs[1] : regs->regs[2];
#endif

	return flags & TRUNCATES ? STATE_WRITE : STATE_PATH;
}

static __always_inline __u32 syscall_kind(struct thread *t, struct task_struct *task,
					  const struct pt_regs *regs, long nr, __u64 first)
{
	__u32 kind = syscall_state[nr & (SYSCALLS - 1)], state = kind & 0xff;

	t->stop.nr = nr;
	if (kind & SYS_POLL)
		return poll_state(t, task, regs);
	if (kind & SYS_SELECT)
		return first ? STATE_POLL : STATE_SLEEP;
	if (kind & (SYS_OPEN | SYS_OPENAT))
		return open_state(regs, kind);
	if (kind & SYS_FD) {
		t->stop.fd = first;
		return file_state(t, file_of(task, first), state);
	}
	if (state == STATE_FUTEX) {
		t->stop.obj = first;
	} else if (state == STATE_POLL) { /* epoll: what became ready is asked at the wake-up */
		struct file *file = file_of(task, first);

		t->stop.fd = first;
		if (file)
			t->epoll = (__u64)BPF_CORE_READ(file, private_data);
	}
	return state;
}

/* Fills in t->stop's object; returns the state. */
static __always_inline __u32 blocked_on(struct thread *t, struct task_struct *task,
					__u32 task_state)
{
	const struct pt_regs *regs;
	__u64 first;
	long nr;

	if (in_iowait(task))
		t->stop.flags |= STOP_IOWAIT;
	if (task->flags & PF_MEMALLOC)
		return STATE_RECLAIM_WAIT;
	if (task_state & TASK_STOPPED_OR_TRACED)
		return STATE_STOPPED;
	regs = (const struct pt_regs *)bpf_task_pt_regs(task);
#ifdef __TARGET_ARCH_x86
	nr = regs->orig_ax;
	first = regs->di;
	t->stop.obj = regs->ip;
#else
	nr = -1; /* not run there; see doc/design.md */
	first = 0;
	return STATE_SYSCALL;
#endif
	if (nr < 0)
		return STATE_FAULT; /* entered by an exception, and blocks */
	t->stop.obj = 0;
	return syscall_kind(t, task, regs, nr, first);
}

/* ---- once more at the wake-up: what came? ---- */

/* The first ready member of the set is what woke it. */
static __always_inline void look_into_epoll(struct thread *t)
{
	struct eventpoll *set = (struct eventpoll *)t->epoll;
	struct list_head *next = BPF_CORE_READ(set, rdllist.next);
	struct epitem *item = (void *)next - bpf_core_field_offset(struct epitem, rdllink);
	__u64 head = t->epoll + bpf_core_field_offset(struct eventpoll, rdllist);

	if ((__u64)next == head || !next)
		return;
	t->stop.fd = BPF_CORE_READ(item, ffd.fd);
	file_state(t, BPF_CORE_READ(item, ffd.file), STATE_POLL);
}

static __always_inline void look_again(struct thread *t)
{
	struct tcp_sock *sock = (struct tcp_sock *)t->sock;

	if (sock && BPF_CORE_READ(sock, rcv_ooopack) != t->out_of_order)
		t->stop.flags |= STOP_PACKET_LOSS;
	if (t->epoll)
		look_into_epoll(t);
	t->epoll = t->sock = 0;
}

#endif
