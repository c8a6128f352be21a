// SPDX-License-Identifier: Apache-2.0
/* Once a second: records, counts, blame, losses and cost, from the kernel into the store. */
#include "agent/agent_int.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"
#include "decode/decode.h"

#define TICK_NS 1000000000ull
#define CLOCK_TICKS 10 /* seconds between two notes of the clocks */
#define INCIDENT_TICKS 2 /* ... and between two runs of the rules */
#define REFRESH_TICKS 5 /* ... and between two looks at process names */

/* ---- what the kernel side calls us with ---- */

static void on_lib(int pid, const struct lib *lib, void *arg)
{
	struct agent *a = arg;

	a->found = xrealloc(a->found, a->found_count + 1, sizeof(*a->found));
	a->found[a->found_count++] = (struct found){ (uint32_t)pid, *lib };
}

static const struct person *person_of(struct agent *a, uint32_t serial)
{
	const struct person *p = roster_find(a->roster, serial);
	struct task_info info;

	if (!p && !capture_find_task(a->capture, serial, &info))
		p = roster_thread(a->roster, serial, &info);
	return p;
}

static void on_task(uint32_t serial, const struct task_info *info, void *arg)
{
	struct agent *a = arg;

	*(struct task_info *)hash_put(a->tasks, &serial) = *info;
	waits_thread(a->waits, serial, info);
	if (!info->exited_ns)
		return;
	a->exited = xrealloc(a->exited, a->exited_count + 1, sizeof(*a->exited));
	a->exited[a->exited_count++] = (struct exited){ serial, *info };
}

static void on_record(const void *bytes, size_t len, void *arg)
{
	const struct person *p;
	struct agent *a = arg;
	struct record rec;
	int64_t call = 0;

	a->received++;
	if (decode(bytes, len, &rec)) {
		a->undecodable++;
		return;
	}
	p = person_of(a, rec.serial);
	if (!p) {
		a->orphans++;
		return;
	}
	rec.stack = lines_stack(a->lines, rec.stack, rec.site);
	agent_stored(a, lines_store(a->lines, a->store, &rec.stack));
	agent_stored(a, store_call(a->store, p->thread, &rec, &call));
	if (rec.because & (BECAUSE_SLOW | BECAUSE_OPEN) && !rec.depth)
		stalls_add(a->stalls, &rec, p, call);
}

static void on_nccl(const void *bytes, size_t len, void *arg)
{
	const struct person *p;
	struct nccl_record rec;
	struct agent *a = arg;

	if (decode_nccl(bytes, len, &rec)) {
		a->undecodable++;
		return;
	}
	p = person_of(a, rec.serial);
	if (p)
		ranks_record(a->ranks, &rec, p);
	else
		a->orphans++;
}

static void on_tally(uint32_t index, const struct tally *tally, void *arg)
{
	const struct person *p;
	struct thread_time *time;
	struct agent *a = arg;
	struct op_delta d;

	a->tallies++;
	p = person_of(a, tally->serial);
	if (!p || !ledger_take(a->ledger, index, tally, &d))
		return;
	a->last.seen += d.done;
	a->last.submitted += d.sent;
	a->last.filtered += d.summed;
	a->last.dropped += d.dropped;
	a->loss[LOSS_ring_full] += d.dropped;
	time = hash_put(a->thread_time, &d.serial);
	time->process = p->process;
	for (int i = 0; i < STATE_COUNT; i++)
		time->ns += d.state_ns[i];
	agent_stored(a, store_op_second(a->store, p->thread, a->now, &d));
	board_op(a->board, p, &d);
}

static void on_blame(const struct blame_key *key, const struct blame *blame, void *arg)
{
	struct agent *a = arg;
	uint64_t *seen = hash_put(a->blame_seen, key), ns = blame->ns - *seen;
	const struct person *p;
	struct who who = { .pid = key->pid, .cpu = key->cpu, .ns = ns };
	bool process = key->pid && key->pid != PID_IRQ;

	*seen = blame->ns;
	p = roster_find(a->roster, key->serial); /* threads that make no calls have no rows */
	if (!ns || !p)
		return;
	/* The probes know the name of the thread that ran; people know the process. */
	str_copy(who.comm, sizeof(who.comm),
		 process ? waits_process(a->waits, key->pid, blame->comm)
			 : (key->pid ? "interrupts" : ""));
	agent_stored(a, blamed_note(a->blamed, a->store, key->pid, who.comm, a->now));
	agent_stored(a, store_blame_second(a->store, p->thread, a->now, &who));
	board_blame(a->board, p, &who);
}

/* ---- one second ---- */

static void forget_tally(uint32_t index, const struct tally *tally, void *arg)
{
	struct agent *a = arg;

	for (size_t i = 0; i < a->exited_count; i++) {
		if (a->exited[i].serial == tally->serial) {
			ledger_forget(a->ledger, index);
			capture_reuse_tally(a->capture, index);
			return;
		}
	}
}

static bool has_exited(uint32_t serial, void *arg)
{
	const struct agent *a = arg;

	for (size_t i = 0; i < a->exited_count; i++)
		if (a->exited[i].serial == serial)
			return true;
	return false;
}

static bool forget_blame(const void *key, void *value, void *arg)
{
	const struct blame_key *k = key;
	struct agent *a = arg;

	(void)value;
	for (size_t i = 0; i < a->exited_count; i++) {
		if (a->exited[i].serial == k->serial) {
			capture_forget_blame(a->capture, k);
			return true;
		}
	}
	return false;
}

/* Threads that were gone before the counts were read: what was read is final. */
static void bury(struct agent *a)
{
	if (capture_behind(a->capture))
		a->exited_count = 0; /* their records are still in the ring: next time */
	if (!a->exited_count)
		return;
	capture_each_tally(a->capture, forget_tally, a);
	agent_stored(a, kernels_store(a->kernels, a->store, a->now, true));
	kernels_bury(a->kernels, a->capture, has_exited, a);
	hash_each(a->blame_seen, forget_blame, a);
	for (size_t i = 0; i < a->exited_count; i++) {
		roster_exit(a->roster, a->exited[i].serial, &a->exited[i].info);
		if (a->exited[i].info.leader) {
			lines_gone(a->lines, a->exited[i].info.pid);
			kernels_gone(a->kernels, a->exited[i].info.pid);
			memory_gone(a->memory, a->capture, a->exited[i].info.pid);
			capture_forget_comms(a->capture, a->exited[i].info.pid,
					     a->exited[i].info.exited_ns);
		}
		waits_exit(a->waits, a->exited[i].serial);
		rhythm_exit(a->rhythm, a->exited[i].serial);
		capture_forget_tape(a->capture, a->exited[i].serial);
		capture_forget_task(a->capture, a->exited[i].serial);
	}
	a->exited_count = 0;
}

static bool forget_task(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

/* Read the history and judge what it completes: between the ticks too, so that verdicts are fresh. */
static void look_back(struct agent *a)
{
	uint64_t now = clock_boot_ns();

	waits_read(a->waits, a->roster);
	agent_stored(a, rhythm_read(a->rhythm, a->capture, a->roster, a->idling, a->store));
	agent_stored(a, stalls_judge(a->stalls, a->waits, a->store));
	agent_stored(a, gpus_read(a->gpus, a->capture, a->store, now));
	storage_read(a->storage);
	tenants_poll(a->tenants, now);
	idling_judge(a->idling, a->waits, a->ending ? a->stopped_ns : now, a->ending);
}

static void tick(struct agent *a)
{
	a->now = clock_boot_ns();
	hash_each(a->tasks, forget_task, NULL);
	capture_each_task(a->capture, on_task, a); /* first: who has exited has stopped counting */
	capture_poll(a->capture, 0, on_record, a);
	a->last = (struct account_row){ .received = a->received };
	a->received = 0;
	a->tallies = 0;
	capture_each_tally(a->capture, on_tally, a);
	capture_each_blame(a->capture, on_blame, a);
	look_back(a);
	kernels_read(a->kernels, a->capture, a->roster, a->now);
	agent_stored(a, kernels_store(a->kernels, a->store, a->now, a->ending));
	agent_stored(a, memory_store(a->memory, a->capture, a->roster, a->store, a->now));
	agent_stored(a, tagging_store(a->tagging, a->store, a->now));
	agent_stored(a, waits_store(a->waits, a->roster, a->blamed, a->store, a->now));
	agent_stored(a, rhythm_store(a->rhythm, a->roster, a->store, a->now));
	agent_stored(a, idling_store(a->idling, a->roster, a->lines, a->store, a->now));
	agent_stored(a, hostside_store(a->hostside, a->capture, a->store, a->now));
	agent_stored(a, storage_store(a->storage, a->store, a->now));
	agent_stored(a, ranks_store(a->ranks, a->capture, a->now, a->ending));
	agent_note_coverage(a);
	agent_note_moves(a);
	bury(a);
	if (a->ticks % REFRESH_TICKS == 0)
		roster_refresh(a->roster);
	agent_note_losses(a);
	agent_note_account(a);
	if (a->ticks++ % CLOCK_TICKS == 0)
		agent_stored(a, store_clock(a->store, a->now, clock_wall_ns()));
	if (a->ticks % INCIDENT_TICKS == 0) {
		agent_stored(a, incidents_update(a->incidents, a->store, clock_wall_ns()));
		malloc_trim(0); /* what the rules needed in a busy minute is not kept for ever */
	}
	agent_commit(a);
	board_shrink(a->board);
	lines_tick(a->lines);
	a->tick_at = a->now + TICK_NS;
}

/* ---- stacks ---- */

static bool has_python(void *capture, int pid)
{
	return capture_has_python(capture, pid);
}

static int put_python(void *capture, int pid, const struct py_layout *layout)
{
	return capture_put_python(capture, pid, layout);
}

static void on_process(struct capture *capture, int pid, void *arg)
{
	struct agent *a = arg;

	if (a->pythons)
		pythons_see(a->pythons, &(struct python_map){ has_python, put_python, capture },
			    pid);
	capture_watch_python(capture, pid);
}

static void on_python(int pid, const char *why_not, void *arg)
{
	if (!why_not[0])
		return;
	log_warn("no Python lines of process %d: %s", pid, why_not);
	agent_note_python(arg, (uint32_t)pid, why_not);
}

static void on_news(const void *bytes, size_t len, void *arg)
{
	struct agent *a = arg;

	lines_news(bytes, len, a->lines);
}

static void fetch_news(struct lines *lines, void *arg)
{
	struct agent *a = arg;

	(void)lines;
	capture_news(a->capture);
}

/* ---- life ---- */

int agent_begin_run(struct agent *a)
{
	const struct capture_cost *cost = capture_cost(a->capture);
	struct host host;
	struct run_row run;

	host_read(&host);
	run = (struct run_row){
		.node = a->node,
		.start_ns = clock_wall_ns(),
		.wall_minus_boot_ns = clock_wall_minus_boot(),
		.boot_id = host.boot_id,
		.version = VERSION,
		.kernel = host.kernel,
		.gpu = host.gpu_name,
		.attach_mode = attach_mode_name(capture_mode(a->capture)),
		.cpus = host.cpus,
		.slow_ns = a->opts.capture.slow_ns ? a->opts.capture.slow_ns : CAPTURE_SLOW_NS,
		.record_all = a->opts.capture.record_all,
		.count_cost_ns = cost->count_ns,
		.timed_cost_ns = cost->timed_ns,
	};
	a->wall_minus_boot = run.wall_minus_boot_ns;
	return store_run(a->store, &run);
}

int agent_open(const struct agent_opts *opts, struct agent **ret)
{
	struct agent *a = xcalloc(1, sizeof(*a));
	int err;

	a->opts = *opts;
	a->opts.capture.on_lib = on_lib;
	a->opts.capture.on_process = on_process;
	a->opts.capture.on_news = on_news;
	a->opts.capture.on_nccl = on_nccl;
	a->opts.capture.arg = a;
	if (opts->node)
		str_copy(a->node, sizeof(a->node), opts->node);
	else if (gethostname(a->node, sizeof(a->node) - 1))
		str_copy(a->node, sizeof(a->node), "localhost");
	a->tasks = hash_new(sizeof(uint32_t), sizeof(struct task_info));
	a->blame_seen = hash_new(sizeof(struct blame_key), sizeof(uint64_t));
	a->thread_time = hash_new(sizeof(uint32_t), sizeof(struct thread_time));
	a->process_time = hash_new(sizeof(int64_t), sizeof(uint64_t));
	a->board = board_new();
	a->ledger = ledger_new();
	a->lines = lines_new(!opts->capture.no_stack);
	if (!opts->capture.no_stack)
		a->pythons = pythons_new(on_python, a);
	err = store_open(opts->db ? opts->db : ":memory:", STORE_WRITE, &a->store);
	if (!err) { /* loading takes a second of a CPU: before anything of the workload is looked at */
		a->tagging = tagging_new(a->store, opts->db);
		a->storage = storage_new(!opts->no_io, opts->capture.budget, a->tagging);
		err = capture_open(&a->opts.capture, &a->capture);
	}
	if (!err)
		err = agent_begin_run(a);
	if (err) {
		agent_close(a);
		return err;
	}
	lines_source(a->lines, fetch_news, a);
	a->tenants = tenants_new(a->capture, a->store, opts->kubelet);
	a->blamed = blamed_new(a->tenants);
	a->roster = roster_new(a->store, a->tenants);
	a->waits = waits_new(a->capture, a->lines);
	a->rhythm = rhythm_new();
	a->idling = idling_new();
	a->stalls = stalls_new(a->lines, opts->on_stall, opts->arg);
	a->hostside = hostside_new(a->tenants);
	a->gpus = gpus_new(!opts->no_gpu_samples, opts->nvml);
	a->ranks = ranks_new(a->store);
	a->kernels = kernels_new(a->lines);
	a->memory = memory_new();
	a->incidents = incidents_new(opts->on_incident, opts->arg);
	a->start_ns = a->now = clock_boot_ns();
	a->agent_ns = clock_cpu_ns();
	capture_started(a->capture);
	a->cost_ns = a->start_ns;
	a->tick_at = a->start_ns + TICK_NS;
	*ret = a;
	return 0;
}

/* What is held of stacks is bounded: the probes tell anew those that are still met. */
static void turn_lines(struct agent *a)
{
	if (!lines_filling(a->lines))
		return;
	capture_forget_stacks(a->capture);
	capture_news(a->capture);
	lines_turn(a->lines);
}

int agent_step(struct agent *a, int timeout_ms)
{
	uint64_t now = clock_boot_ns();
	int err;

	if (a->tick_at > now)
		timeout_ms = (int)min_u64((uint64_t)timeout_ms, (a->tick_at - now) / 1000000 + 1);
	else
		timeout_ms = 0;
	if (a->pythons)
		pythons_look(a->pythons, &(struct python_map){ has_python, put_python, a->capture },
			     clock_boot_ns());
	err = capture_poll(a->capture, timeout_ms, on_record, a);
	if (err < 0)
		return err;
	look_back(a);
	turn_lines(a);
	err = agent_keep(a);
	if (err || clock_boot_ns() < a->tick_at)
		return err;
	tick(a);
	return 1;
}

static void count_sites(struct agent *a)
{
	const struct libs *libs = capture_libs(a->capture);

	a->libraries = a->stepped_sites = 0;
	for (int i = 0; libs && i < libs_count(libs); i++) {
		a->libraries++;
		a->stepped_sites += libs_at(libs, i)->stepped;
	}
}

int agent_stop(struct agent *a)
{
	int err;

	count_sites(a);
	a->stopped_ns = clock_boot_ns();
	/* First: the kernel takes longest for it, beside what follows. */
	capture_detach(a->capture);
	storage_detach(a->storage);
	tagging_stop(a->tagging);
	tick(a); /* most of the work, while the kernel takes its time */
	store_tidy(a->store);
	capture_settle(a->capture, a->stopped_ns);
	capture_poll(a->capture, 0, on_record, a);
	while (capture_behind(a->capture)) /* nobody fills the ring any more */
		capture_poll(a->capture, 0, on_record, a);
	a->ending = true;
	tick(a);
	err = store_run_end(a->store, clock_boot_ns());
	return err ? err : store_commit(a->store);
}

void agent_close(struct agent *a)
{
	if (!a)
		return;
	waits_free(a->waits);
	rhythm_free(a->rhythm);
	idling_free(a->idling);
	stalls_free(a->stalls);
	hostside_free(a->hostside);
	storage_free(a->storage);
	gpus_free(a->gpus);
	ranks_free(a->ranks);
	kernels_free(a->kernels);
	memory_free(a->memory);
	tagging_free(a->tagging);
	incidents_free(a->incidents);
	lines_free(a->lines);
	pythons_free(a->pythons);
	capture_close(a->capture);
	roster_free(a->roster);
	ledger_free(a->ledger);
	hash_free(a->tasks);
	hash_free(a->blame_seen);
	hash_free(a->thread_time);
	hash_free(a->process_time);
	blamed_free(a->blamed);
	tenants_free(a->tenants);
	board_free(a->board);
	store_close(a->store);
	free(a->exited);
	free(a->found);
	free(a->note);
	free(a);
}

/* ---- looking ---- */

struct store *agent_store(struct agent *a)
{
	return a->store;
}

const struct op_live *agent_ops(struct agent *a, size_t *ret_count)
{
	return board_ops(a->board, ret_count);
}

const struct blame_live *agent_blames(struct agent *a, size_t *ret_count)
{
	return board_blames(a->board, ret_count);
}

void agent_status(struct agent *a, struct agent_status *ret)
{
	struct store_size size;

	if (capture_libs(a->capture))
		count_sites(a);
	*ret = (struct agent_status){
		.mode = capture_mode(a->capture),
		.cost = *capture_cost(a->capture),
		.total = a->total,
		.last = a->last,
		.cost_last = a->cost,
		.cost_total = a->cost_total,
		.budget = a->opts.capture.budget,
		.elapsed_ns = a->now - a->start_ns,
		.undecodable = a->undecodable + a->orphans,
		.unstored_batches = a->unstored,
		.held = a->held,
		.processes = roster_processes(a->roster),
		.threads = (int)hash_count(a->tasks),
		.tallies = a->tallies,
		.stops = waits_held(a->waits),
		.libraries = a->libraries,
		.stepped_sites = a->stepped_sites,
		.node = a->node,
		.db = a->opts.db,
	};
	if (!store_size(a->store, &size))
		ret->pruned = size.removed;
	gpus_status(a->gpus, &ret->nvml);
	memcpy(ret->loss, a->loss, sizeof(ret->loss));
	memcpy(ret->shed, a->shed, sizeof(ret->shed));
}
