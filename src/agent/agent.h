/* SPDX-License-Identifier: Apache-2.0 */
/* The live agent: capture, decode, store, once a second; what `trace` and `demo` run. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/incidents.h"
#include "agent/stalls.h"
#include "capture/capture.h"
#include "gpu/gpu.h"
#include "store/store.h"

struct agent;

struct agent_opts {
	struct capture_opts capture;
	stall_fn on_stall; /* each stall, at most a second after it ended; may be NULL */
	incident_fn on_incident; /* each new cause; may be NULL */
	void *arg;
	const char *db; /* NULL: keep it in memory */
	const char *node; /* NULL: the host's name */
	bool no_gpu_samples; /* NVML is not asked */
	const char *nvml; /* its library; NULL: where it usually is */
	const char *kubelet; /* its URL, for names of pods; NULL: it is not asked */
	bool no_io; /* disk requests are not followed to their files */
	struct retention keep;
	uint64_t roll_bytes; /* a new file when it is that large; 0: never */
	bool roll_daily;
};

/* Called by the kernel side: why the lines of a process cannot be read; "": they can. */
void agent_note_python(struct agent *a, uint32_t pid, const char *note);

int agent_open(const struct agent_opts *opts, struct agent **ret);

/* Work for about timeout_ms. Returns 1 when a second has passed and the numbers are new. */
int agent_step(struct agent *a, int timeout_ms);

/* Detach, take the last counts, commit. After this only the reading functions work. */
int agent_stop(struct agent *a);
void agent_close(struct agent *a);

/* One op of one process since the start. */
struct op_live {
	int64_t process;
	const struct op *op;
	uint32_t pid;
	char comm[COMM_LEN];
	uint64_t calls, done, errors, bytes, total_ns, max_ns;
	uint64_t state_ns[STATE_COUNT];
	uint32_t hist[HIST_BUCKETS];
};

/* Busiest first. Borrowed until the next agent_step(). */
const struct op_live *agent_ops(struct agent *a, size_t *ret_count);

/* Who took the CPU from a traced process, largest first. */
struct blame_live {
	uint32_t victim_pid, pid;
	char victim[COMM_LEN], comm[COMM_LEN];
	uint64_t ns;
};
const struct blame_live *agent_blames(struct agent *a, size_t *ret_count);

/* What people call the container of a process, "" where it is in none. Borrowed until the next call. */
const char *agent_tenant(struct agent *a, uint32_t pid);

/* What was not looked at since the start. */
struct shed_total {
	uint64_t ns; /* also of the present one, */
	uint64_t calls; /* ... estimated */
	uint64_t past_ns, past_calls; /* of those that are over */
	bool now; /* at the moment, too */
};

struct agent_status {
	enum attach_mode mode;
	struct capture_cost cost;
	struct account_row total; /* since the start */
	struct account_row last; /* the last second */
	struct cost_row cost_last, cost_total; /* what probe_ns is made of */
	struct shed_total shed[SHED_COUNT];
	double budget; /* share; 0: no limit */
	uint64_t loss[LOSS_COUNT];
	uint64_t elapsed_ns;
	uint64_t undecodable; /* records that made no sense */
	uint64_t unstored_batches; /* seconds that the database refused */
	uint64_t held; /* seconds that wait in memory for room on the disk */
	uint64_t pruned; /* rows removed to stay within limits */
	int processes, libraries, stepped_sites;
	int threads, tallies; /* followed and in use now, of TASKS and TALLIES */
	struct gpu_helper_status nvml; /* all zeros: not asked */
	uint64_t stops; /* of the recent past, held to explain waits */
	const char *node, *db;
};
void agent_status(struct agent *a, struct agent_status *ret);

struct store *agent_store(struct agent *a);

#endif
