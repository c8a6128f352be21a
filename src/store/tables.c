// SPDX-License-Identifier: Apache-2.0
/* The tables of schema.sql as data, for those who treat all of them alike. */
#include "store/tables.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

#define OF(column, table)                                                                          \
	{                                                                                          \
		column, table                                                                      \
	}
#define RUN OF("run", "run")
#define PROCESS OF("process", "process")
#define THREAD OF("thread", "thread")
#define GPU OF("gpu", "gpu")
#define CALL OF("call", "call")

/* clang-format off */
const struct table store_tables[] = {
	{ "node",          IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "string",        IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "op",            IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "frame",         IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "stack",         IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "stack_frame",   IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "chain",         IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "hop",           IDS_CONTENT, true,  { { 0 } }, NULL },
	{ "run",           IDS_LOCAL,   true,  { { 0 } }, " start_ns end_ns " },
	{ "process",       IDS_LOCAL,   true,  { RUN }, " start_ns exit_ns " },
	{ "thread",        IDS_LOCAL,   true,  { PROCESS }, " first_ns exit_ns " },
	{ "communicator",  IDS_LOCAL,   true,  { PROCESS }, " made_ns gone_ns " },
	{ "gpu",           IDS_LOCAL,   true,  { RUN }, " first_ns " },
	{ "kernel",        IDS_LOCAL,   true,  { PROCESS }, NULL },
	{ "incident",      IDS_LOCAL,   true,  { RUN }, " first_ns last_ns " },
	{ "call",          IDS_LOCAL,   true,  { THREAD }, " start_ns " },
	{ "call_block",    IDS_LOCAL,   true,  { THREAD }, " first_ns last_ns " },
	{ "checkpoint",    IDS_LOCAL,   true,  { RUN },
	  " began_ns last_ns closed_ns synced_ns renamed_ns name_synced_ns hashed_ns changed_ns " },
	{ "container",     IDS_CONTENT, true,  { { 0 } }, " first_ns last_ns " },
	{ "cgroup_container", IDS_CONTENT, true, { { 0 } }, NULL },
	{ "tag",           IDS_CONTENT, true,  { { 0 } }, " first_ns " },
	{ "clock",         IDS_NONE,    false, { RUN }, " wall_ns " },
	{ "op_second",     IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "nested_second", IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "blame_second",  IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "blamed",        IDS_NONE,    true,  { RUN }, " at_ns " },
	{ "sample_second", IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "call_culprit",  IDS_NONE,    false, { CALL }, NULL },
	{ "call_wait",     IDS_NONE,    false, { CALL }, NULL },
	{ "wait_second",   IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "idle_second",   IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "step",          IDS_NONE,    true,  { THREAD }, " start_ns " },
	{ "step_second",   IDS_NONE,    true,  { THREAD }, " at_ns " },
	{ "communicator_second", IDS_NONE, true, { OF("communicator", "communicator") }, " at_ns " },
	{ "collective",    IDS_NONE,    false, { OF("communicator", "communicator"), THREAD },
	  " start_ns sync_start_ns sync_end_ns " },
	{ "rank_env",      IDS_NONE,    true,  { PROCESS }, NULL },
	{ "host_event",    IDS_NONE,    false, { RUN }, " at_ns first_ns " },
	{ "system_second", IDS_NONE,    true,  { RUN }, " at_ns " },
	{ "core_second",   IDS_NONE,    true,  { RUN }, " at_ns " },
	{ "gpu_second",    IDS_NONE,    true,  { GPU }, " at_ns " },
	{ "gpu_process",   IDS_NONE,    true,  { GPU }, " first_ns last_ns " },
	{ "gpu_error",     IDS_NONE,    false, { RUN }, " at_ns " },
	{ "kernel_second", IDS_NONE,    true,  { OF("kernel", "kernel") }, " at_ns " },
	{ "memory_second", IDS_NONE,    true,  { PROCESS }, " at_ns " },
	{ "loss",          IDS_NONE,    false, { RUN }, " at_ns " },
	{ "account",       IDS_NONE,    false, { RUN }, " at_ns " },
	{ "cost_second",   IDS_NONE,    true,  { RUN }, " at_ns " },
	{ "shed",          IDS_NONE,    true,  { RUN }, " from_ns to_ns " },
	{ "coverage",      IDS_NONE,    false, { PROCESS }, " since_ns " },
	{ "process_container", IDS_NONE, true, { PROCESS }, " from_ns " },
	{ "disk_user_second", IDS_NONE, false, { RUN }, " at_ns " },
	{ "io_second",     IDS_NONE,    false, { RUN }, " at_ns " },
	{ "io_request",    IDS_NONE,    false, { RUN }, " done_ns " },
	{ "tag_target",    IDS_NONE,    false, { RUN }, " at_ns " },
	{ "checkpoint_event", IDS_NONE, false, { OF("checkpoint", "checkpoint") }, " at_ns since_ns " },
	{ "pruned",        IDS_NONE,    true,  { RUN }, " until_ns " },
	{ 0 },
};
/* clang-format on */

const struct table *table_find(const char *name)
{
	for (const struct table *t = store_tables; t->name; t++)
		if (streq(t->name, name))
			return t;
	return NULL;
}

bool table_is_time(const struct table *t, const char *column)
{
	char word[80];

	snprintf(word, sizeof(word), " %s ", column);
	return t->times && strstr(t->times, word);
}

const char *table_ref(const struct table *t, const char *column)
{
	for (int i = 0; i < TABLE_REFS && t->ref[i].column; i++)
		if (streq(t->ref[i].column, column))
			return t->ref[i].table;
	return NULL;
}
