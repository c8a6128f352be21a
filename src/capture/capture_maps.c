// SPDX-License-Identifier: Apache-2.0
/* Reading what the probes keep: counters, stops, beats, tasks, blame, host events. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/capture_int.h"

/* ---- mapping ---- */

/* As the kernel maps an array: values rounded up to 8 bytes, the whole to a page. */
static size_t mapped_len(const struct bpf_map *map)
{
	size_t value = (bpf_map__value_size(map) + 7ul) & ~7ul;

	return (value * bpf_map__max_entries(map) + 4095) & ~4095ul;
}

static void *map_array(const struct bpf_map *map, bool write)
{
	void *at = mmap(NULL, mapped_len(map), write ? PROT_READ | PROT_WRITE : PROT_READ,
			MAP_SHARED, bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static int fill_queue(const struct bpf_map *queue, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (bpf_map_update_elem(bpf_map__fd(queue), NULL, &i, BPF_ANY))
			return -errno;
	return 0;
}

int capture_map(struct capture *c)
{
	int err;

	c->tallies = map_array(c->probe->maps.tallies, true);
	c->tapes = map_array(c->probe->maps.tapes, true);
	c->beats = map_array(c->probe->maps.beats, false);
	c->history = map_array(c->probe->maps.history, false);
	c->cells = map_array(c->probe->maps.kernel_cells, true);
	c->heads = map_array(c->probe->maps.history_heads, false);
	c->costs = map_array(c->probe->maps.costs, false);
	if (!c->tallies || !c->tapes || !c->beats || !c->history || !c->heads || !c->cells ||
	    !c->costs)
		return fail(-errno, "map the counters: %s", strerror(errno));
	c->history_read = xcalloc((size_t)c->cpus, sizeof(*c->history_read));
	c->history_head = xcalloc((size_t)c->cpus, sizeof(*c->history_head));
	err = fill_queue(c->probe->maps.free_tallies, TALLIES);
	if (!err)
		err = fill_queue(c->probe->maps.free_tapes, TAPES);
	return err ? fail(err, "fill the list of counters: %s", strerror(-err)) : 0;
}

void capture_unmap(struct capture *c)
{
	if (c->tallies)
		munmap(c->tallies, mapped_len(c->probe->maps.tallies));
	if (c->tapes)
		munmap(c->tapes, mapped_len(c->probe->maps.tapes));
	if (c->beats)
		munmap(c->beats, mapped_len(c->probe->maps.beats));
	if (c->cells)
		munmap(c->cells, mapped_len(c->probe->maps.kernel_cells));
	if (c->history)
		munmap(c->history, mapped_len(c->probe->maps.history));
	if (c->heads)
		munmap(c->heads, mapped_len(c->probe->maps.history_heads));
	if (c->costs)
		munmap(c->costs, mapped_len(c->probe->maps.costs));
	free(c->history_read);
	free(c->history_head);
}

/* ---- stops ---- */

/* One CPU's part: what was overwritten before or while we read is counted, not handed out. */
static void read_cpu(struct capture *c, int cpu, stop_fn fn, void *arg)
{
	const struct stop *ring = &c->history[(size_t)cpu * c->history_size];
	uint64_t head = c->history_head[cpu], at = c->history_read[cpu];

	if (head - at > c->history_size) {
		c->history_lost += head - at - c->history_size;
		at = head - c->history_size;
	}
	for (; at < head; at++) {
		struct stop stop = ring[at & (c->history_size - 1)];
		uint64_t now;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		now = __atomic_load_n(&c->heads[cpu].count, __ATOMIC_RELAXED);
		/* The slot of number `at` is written again while the count is at + size. */
		if (!stop.run_ns || now >= at + c->history_size) {
			c->history_lost++;
			continue;
		}
		fn(&stop, arg);
	}
	c->history_read[cpu] = at;
}

void capture_each_stop(struct capture *c, stop_fn fn, void *arg)
{
	for (int cpu = 0; cpu < c->cpus; cpu++)
		c->history_head[cpu] = __atomic_load_n(&c->heads[cpu].count, __ATOMIC_ACQUIRE);
	capture_news(c); /* a stop is kept after its stack was told */
	for (int cpu = 0; cpu < c->cpus; cpu++)
		read_cpu(c, cpu, fn, arg);
}

/* ---- beats ---- */

/* Launches that are put down, see probe/row.bpf.h, belong to the last beat, or come right after it. */
static void add_put_down(const struct launch_row *row, const struct tape *tape, uint64_t slept_ns,
			 struct beat *last)
{
	uint64_t ns = __atomic_load_n(&row->ns, __ATOMIC_RELAXED) + slept_ns;
	uint32_t op = BEAT_OP(last->op);

	if (row->serial == tape->serial && row->n && op < OP_SLOTS &&
	    op_table[op].class == CLASS_LAUNCH)
		last->end_ns = max_u64(last->end_ns, ns);
}

void capture_close_rows(struct capture *c, bool closed)
{
	for (uint32_t i = 0; i < TAPES; i++)
		__atomic_store_n(&c->probe->bss->rows[i].closed, closed, __ATOMIC_SEQ_CST);
}

void capture_stop_counting(struct capture *c)
{
	if (!c->probe || !c->probe->bss)
		return;
	capture_close_rows(c, true);
	c->probe->bss->stopped = true;
}

uint64_t capture_put_down(const struct capture *c)
{
	const struct launch_row *rows = c->probe->bss->rows;
	uint64_t n = 0;

	for (uint32_t i = 0; i < TAPES; i++)
		if (rows[i].serial && rows[i].serial == c->tapes[i].serial)
			n += min_u64(__atomic_load_n(&rows[i].n, __ATOMIC_RELAXED), ROW_MAX);
	return n;
}

static void read_tape(struct capture *c, uint32_t i, beats_fn fn, void *arg)
{
	const struct tape *tape = &c->tapes[i];
	uint64_t head = __atomic_load_n(&tape->head, __ATOMIC_ACQUIRE), at = c->beats_read[i];
	static struct beat copy[BEATS + 1];
	bool broken = false;
	size_t n = 0;

	if (!head)
		return;
	head--; /* the last one may still grow */
	if (head > at + BEATS - 1) {
		c->beats_lost += head - at - (BEATS - 1);
		at = head - (BEATS - 1);
		broken = true;
	}
	for (uint64_t k = at; k < head; k++)
		copy[n++] = c->beats[(size_t)i * BEATS + (k & (BEATS - 1))];
	if (__atomic_load_n(&tape->head, __ATOMIC_ACQUIRE) > at + BEATS) {
		c->beats_lost += n; /* lapped while we read: next time, from here on */
		broken = true;
		n = 0;
	}
	c->beats_read[i] = head;
	copy[n] = c->beats[(size_t)i * BEATS + (head & (BEATS - 1))];
	add_put_down(&c->probe->bss->rows[i], tape, c->probe->bss->slept_ns, &copy[n]);
	fn(tape->serial, copy, n, broken, arg);
}

void capture_each_tape(struct capture *c, beats_fn fn, void *arg)
{
	for (uint32_t i = 0; i < TAPES; i++)
		if (__atomic_load_n(&c->tapes[i].serial, __ATOMIC_ACQUIRE))
			read_tape(c, i, fn, arg);
}

void capture_reuse_tape(struct capture *c, uint32_t index)
{
	c->tapes[index] = (struct tape){ 0 };
	c->beats_read[index] = 0;
	bpf_map_update_elem(bpf_map__fd(c->probe->maps.free_tapes), NULL, &index, BPF_ANY);
}

void capture_forget_tape(struct capture *c, uint32_t serial)
{
	for (uint32_t i = 0; i < TAPES; i++)
		if (c->tapes[i].serial == serial)
			capture_reuse_tape(c, i);
}

/* ---- host events and names ---- */

void capture_each_host_event(struct capture *c, host_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.host_events);
	struct host_key key, last, *prev = NULL;
	struct host_count count;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &count))
			fn(&key, &count, arg);
		last = key;
		prev = &last;
	}
}

void capture_forget_host_event(struct capture *c, const struct host_key *key)
{
	bpf_map_delete_elem(bpf_map__fd(c->probe->maps.host_events), key);
}

void capture_each_xid(struct capture *c, xid_event_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.xids);
	struct xid_event event;

	for (int i = 0; i < XID_EVENTS && !bpf_map_lookup_and_delete_elem(fd, NULL, &event); i++) {
		event.bus_id[sizeof(event.bus_id) - 1] = '\0';
		event.text[sizeof(event.text) - 1] = '\0';
		fn(&event, arg);
	}
}

int capture_file_name(struct capture *c, const struct file_key *key, struct file_name *ret)
{
	return bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.files), key, ret) ? -ENOENT : 0;
}

/* ---- communicators ---- */

/* Is it of the program that its process runs now? */
static bool is_current(struct capture *c, const struct nccl_key *key, const struct nccl_comm *comm)
{
	struct nccl_process process;

	return !bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.nccl_processes), &key->pid,
				    &process) &&
	       process.epoch == comm->epoch;
}

void capture_each_comm(struct capture *c, comm_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.nccl_comms);
	struct nccl_key key, stale[64];
	struct nccl_comm comm;
	int stales = 0;

	if (!c->probe->bss->nccl_active)
		return;
	/* A key that is deleted begins the walk anew: they are collected first. */
	for (struct nccl_key last, *prev = NULL; !bpf_map_get_next_key(fd, prev, &key);
	     last = key, prev = &last) {
		if (bpf_map_lookup_elem(fd, &key, &comm))
			continue;
		fn(&key, &comm, arg);
		if (stales < (int)ARRAY_LEN(stale) && !is_current(c, &key, &comm))
			stale[stales++] = key;
	}
	for (int i = 0; i < stales; i++)
		if (!bpf_map_lookup_elem(fd, &stale[i], &comm) && !is_current(c, &stale[i], &comm))
			bpf_map_delete_elem(fd, &stale[i]);
}

void capture_forget_comms(struct capture *c, uint32_t pid, uint64_t exited_ns)
{
	int fd = bpf_map__fd(c->probe->maps.nccl_processes);
	struct nccl_process process;

	if (!bpf_map_lookup_elem(fd, &pid, &process) && process.epoch <= exited_ns)
		bpf_map_delete_elem(fd, &pid);
}

/* ---- counters ---- */

void capture_each_tally(struct capture *c, tally_fn fn, void *arg)
{
	uint32_t high = (uint32_t)min_u64(c->probe->bss->tallies_high, TALLIES);

	for (uint32_t i = 0; i < high; i++) {
		const struct tally *t = &c->tallies[i];

		if (__atomic_load_n(&t->serial, __ATOMIC_ACQUIRE))
			fn(i, t, arg);
	}
}

void capture_reuse_tally(struct capture *c, uint32_t index)
{
	memset(&c->tallies[index], 0, sizeof(struct tally));
	bpf_map_update_elem(bpf_map__fd(c->probe->maps.free_tallies), NULL, &index, BPF_ANY);
}

void capture_each_task(struct capture *c, task_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.tasks);
	uint32_t serial, *prev = NULL, last;
	struct task_info info;

	while (!bpf_map_get_next_key(fd, prev, &serial)) {
		if (!bpf_map_lookup_elem(fd, &serial, &info))
			fn(serial, &info, arg);
		last = serial;
		prev = &last;
	}
}

int capture_find_task(struct capture *c, uint32_t serial, struct task_info *ret)
{
	return bpf_map_lookup_elem(bpf_map__fd(c->probe->maps.tasks), &serial, ret) ? -ESRCH : 0;
}

void capture_forget_task(struct capture *c, uint32_t serial)
{
	bpf_map_delete_elem(bpf_map__fd(c->probe->maps.tasks), &serial);
}

void capture_each_blame(struct capture *c, blame_fn fn, void *arg)
{
	int fd = bpf_map__fd(c->probe->maps.blames);
	struct blame_key key, last, *prev = NULL;
	struct blame blame;

	while (!bpf_map_get_next_key(fd, prev, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &blame))
			fn(&key, &blame, arg);
		last = key;
		prev = &last;
	}
}

void capture_forget_blame(struct capture *c, const struct blame_key *key)
{
	bpf_map_delete_elem(bpf_map__fd(c->probe->maps.blames), key);
}

void capture_stats(const struct capture *c, struct stats *ret)
{
	*ret = c->probe->bss->stats;
	ret->loss[LOSS_history] += c->history_lost;
	ret->loss[LOSS_beats] = c->beats_lost;
}
