/* SPDX-License-Identifier: Apache-2.0 */
/* Inside agent/: its state, shared by the files that gather and account. */
#ifndef AGENT_AGENT_INT_H
#define AGENT_AGENT_INT_H

#include "agent/agent.h"
#include "agent/blamed.h"
#include "agent/board.h"
#include "agent/gpus.h"
#include "agent/hostside.h"
#include "agent/idling.h"
#include "agent/incidents.h"
#include "agent/kernels.h"
#include "agent/lines.h"
#include "agent/memory.h"
#include "agent/pythons.h"
#include "agent/ranks.h"
#include "agent/rhythm.h"
#include "agent/roster.h"
#include "agent/stalls.h"
#include "agent/storage.h"
#include "agent/tagging.h"
#include "agent/tenants.h"
#include "agent/waits.h"
#include "base/hash.h"
#include "decode/decode.h"

struct exited {
	uint32_t serial;
	struct task_info info;
};

/* A (process, library) pair that waits for its process to be known. */
struct found {
	uint32_t pid;
	struct lib lib;
};

/* What is said of a process's interpreter, until the process is known. */
struct python_note {
	uint32_t pid;
	char note[160];
};

/* Time of one calling thread in the present tick. */
struct thread_time {
	int64_t process;
	uint64_t ns;
};

struct agent {
	struct agent_opts opts;
	struct store *store;
	struct capture *capture;
	struct roster *roster;
	struct tenants *tenants;
	struct ledger *ledger;
	struct hash *tasks; /* serial -> struct task_info, of the present tick */
	struct hash *blame_seen; /* struct blame_key -> ns as last seen */
	struct hash *thread_time; /* serial -> struct thread_time, of the present tick */
	struct hash *process_time; /* process -> the longest of its threads, likewise */
	struct blamed *blamed; /* who has been told of */
	struct board *board; /* what has been going on, for the live table */
	struct lines *lines;
	struct pythons *pythons; /* NULL: nobody wants lines */
	struct waits *waits;
	struct rhythm *rhythm;
	struct idling *idling;
	struct stalls *stalls;
	struct hostside *hostside;
	struct storage *storage; /* NULL: not wanted, or not to be had */
	uint64_t storage_ns; /* what it had cost at the last account */
	struct gpus *gpus;
	struct ranks *ranks;
	struct incidents *incidents;
	struct kernels *kernels;
	struct memory *memory;
	struct tagging *tagging;
	struct exited *exited;
	size_t exited_count;
	struct found *found;
	size_t found_count;
	struct python_note *note;
	size_t note_count;
	struct account_row total, last;
	struct capture_spent spent; /* so far */
	struct cost_row cost, cost_total; /* of the last second; since the start */
	uint64_t cost_ns; /* when that was taken */
	struct shed_total shed[SHED_COUNT];
	uint64_t loss[LOSS_COUNT];
	uint64_t received; /* since the last tick */
	uint64_t unstored_untold; /* seconds whose loss is not in the store yet */
	uint64_t foreign, agent_ns, undecodable, unstored, orphans;
	uint64_t start_ns, tick_at, now;
	uint64_t stopped_ns; /* nothing was counted after this; 0: it goes on */
	uint64_t held; /* seconds that wait for room on the disk */
	uint64_t kept_ns; /* when limits were last looked at */
	uint64_t roll_ns; /* no other file before this */
	int64_t wall_minus_boot; /* when the run began */
	uint64_t file_ns; /* wall time of the file's beginning */
	bool prune_more; /* ... and there was more to remove */
	unsigned ticks;
	int libraries, stepped_sites, tallies;
	char node[65];
	bool store_bad; /* this tick */
	bool ending; /* ... and this tick is the last */
};

/* A row that could not be stored costs its batch, is counted, and does not stop the agent. */
void agent_stored(struct agent *a, int err);

/* keep.c: commit the second that ends now, or let it wait; keep the file within its limits. */
void agent_commit(struct agent *a);
int agent_keep(struct agent *a);

/* agent.c: a new run in the store that is open now. */
int agent_begin_run(struct agent *a);

/* coverage.c: stores what was found out about processes, now that they have rows. */
void agent_note_coverage(struct agent *a);

/* moves.c: who went to another control group since the last look. */
void agent_note_moves(struct agent *a);

/* account.c: what was lost, and what all this cost, in the second that ends now. */
void agent_note_losses(struct agent *a);
void agent_note_account(struct agent *a);

/* budget.c: what it cost by part, and what was not looked at to cost less. */
void agent_note_cost(struct agent *a);
void agent_note_shed(struct agent *a);

#endif
