/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types that we read, with just the fields that we read. CO-RE relocates every
 * access to the running kernel's layout, so order and size here mean nothing. The exception is
 * pt_regs: a uprobe's context is laid out as the architecture's ABI says, so that one is complete.
 */
#ifndef PROBE_KERNEL_H
#define PROBE_KERNEL_H

#define __VMLINUX_H__ /* bpf_tracing.h: use the kernel's names of registers */

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
#else
struct user_pt_regs; /* aarch64: written, not run; see doc/design.md */
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
#endif

/* Context of a perf event: laid out by the ABI, too. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period, addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	unsigned long long clock;
};

struct cfs_rq {
	int throttle_count;
	unsigned long long throttled_clock_self_time;
	struct rq *rq;
};

struct sched_info {
	unsigned long long last_arrival;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct super_block {
	unsigned long s_magic;
	unsigned int s_dev;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
	unsigned int i_nlink;
	unsigned int i_generation;
	unsigned long i_ino;
	struct super_block *i_sb;
	struct hlist_head i_dentry;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct hlist_bl_node d_hash; /* pprev is NULL: no longer to be found */
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct sock_common {
	__u32 skc_daddr; /* network order */
	__u16 skc_dport; /* network order */
	__u16 skc_num;
	unsigned short skc_family;
};

struct kernfs_node {
	__u64 id;
	struct kernfs_node *__parent;
	const char *name;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* as many as the kernel has controllers */
	struct cgroup *dfl_cgrp;
};

struct sock_cgroup_data {
	struct cgroup *cgroup; /* of the unified hierarchy */
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	struct sock_cgroup_data sk_cgrp_data;
};

struct tcp_sock {
	__u32 rcv_ooopack; /* packets that came out of order */
};

struct socket {
	struct sock *sk;
};

struct gendisk;

struct block_device {
	unsigned int bd_dev;
	struct gendisk *bd_disk;
};

struct gendisk {
	struct block_device *part0; /* all of it */
};

struct bvec_iter {
	unsigned long long bi_sector;
	unsigned int bi_size, bi_idx, bi_bvec_done;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len, bv_offset;
};

struct blkcg_gq;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_vcnt;
	struct bvec_iter bi_iter;
	void *bi_end_io;
	void *bi_private;
	struct bio_vec *bi_io_vec;
	struct blkcg_gq *bi_blkg;
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct request {
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	int tag;
	unsigned int __data_len;
	unsigned long long __sector;
	struct bio *bio;
	struct block_device *part;
	unsigned long long start_time_ns, io_start_time_ns;
};

struct page {
	unsigned long compound_head;
};

struct xarray {
	unsigned int xa_flags;
};

struct address_space {
	struct inode *host;
	struct xarray i_pages;
};

struct folio {
	struct address_space *mapping;
	unsigned long index;
};

struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
};

struct iomap_dio {
	struct kiocb *iocb;
	long long size;
};

struct buffer_head {
	void *b_end_io;
};

struct io_wq_work {
	unsigned int flags;
};

struct io_worker {
	struct io_wq_work *cur_work;
};

struct io_uring_task {
	struct task_struct *task;
};

struct io_kiocb {
	struct io_uring_task *tctx;
	struct io_wq_work work;
};

struct io_kiocb___old { /* before 6.12 */
	struct task_struct *task;
};

struct journal_s {
	struct block_device *j_fs_dev;
};

struct transaction_s {
	unsigned int t_tid;
};

struct ext4_inode_info {
	struct inode vfs_inode;
	unsigned int i_sync_tid;
};

struct xfs_inode {
	struct inode i_vnode;
};

enum req_flag_bits {
	__REQ_RAHEAD = 19,
};

enum pageflags {
	PG_locked = 0,
	PG_writeback = 1,
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
	const char *init_name;
};

struct pci_dev {
	struct device dev;
};

struct list_head {
	struct list_head *next;
};

struct epoll_filefd {
	struct file *file;
	int fd;
} __attribute__((packed));

struct eventpoll {
	struct list_head rdllist;
};

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

#ifdef __TARGET_ARCH_x86
struct thread_struct {
	unsigned long fsbase;
};
#else
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};
#endif

struct return_instance {
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_rq;
	int wake_cpu;
	int pid, tgid;
	unsigned in_iowait : 1;
	unsigned long long start_boottime;
	unsigned long long self_exec_id; /* how often it became another program */
	unsigned long long stime;
	unsigned long min_flt, maj_flt;
	unsigned long nvcsw;
	struct task_struct *group_leader, *real_parent;
	struct sched_entity se;
	struct sched_info sched_info;
	struct files_struct *files;
	struct css_set *cgroups;
	void *reclaim_state;
	void *bpf_storage; /* NULL: nobody keeps anything for this task */
	void *worker_private; /* of a thread that works for an io_uring: struct io_worker */
	struct thread_struct thread;
	struct uprobe_task *utask;
	bool throttled; /* 6.18: quota is enforced per task */
	char comm[16];
};

struct bpf_iter_meta {
	void *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

enum cgroup_subsys_id {
	cpuset_cgrp_id = 0,
	cpu_cgrp_id = 1,
	io_cgrp_id = 2,
	memory_cgrp_id = 3,
	devices_cgrp_id = 4,
	freezer_cgrp_id = 5,
	pids_cgrp_id = 6,
};

#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED_OR_TRACED 0x0c
#define TASK_WAKING 0x200
#define PF_EXITING 0x4
#define PF_IO_WORKER 0x10
#define PF_WQ_WORKER 0x20
#define PF_MEMALLOC 0x800
#define PF_KTHREAD 0x200000

#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFSOCK 0140000
#define S_IFCHR 0020000
#define S_IFBLK 0060000
#define S_IFIFO 0010000
#define ANON_INODE_MAGIC 0x09041934
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6

#endif
