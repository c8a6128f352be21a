// SPDX-License-Identifier: Apache-2.0
/* Looks things up in /proc and in the probes' table of files, and remembers the answers. */
#include "agent/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/util.h"
#include "capture/host.h"
#include "capture/names.h"

#define REMEMBER_MAX 8192 /* answers; then all are forgotten, which costs only time */
#define PROCESS_NS (2 * 1000000000ull) /* a process may change its name */
#define DEVICE_NS (60 * 1000000000ull) /* an interrupt its device */
#define ANCESTORS_MAX 16

struct thing_key {
	uint64_t obj, obj2;
	uint32_t pid;
	uint16_t state, object; /* object: as far as the chain knows it */
};

struct thing {
	enum object object;
	char name[sizeof(((struct hop *)0)->name)];
};

struct process {
	uint64_t at_ns; /* when its name was read; 0: not yet */
	uint64_t start_ns;
	uint32_t ppid;
	char comm[COMM_LEN];
};

struct device {
	uint64_t at_ns; /* when it was read; 0: not yet */
	char name[sizeof(((struct hop *)0)->device)];
};

struct naming {
	struct capture *capture;
	struct names *names;
	struct hash *things; /* struct thing_key -> struct thing */
	struct hash *processes; /* pid -> struct process */
	struct hash *devices; /* interrupt -> struct device */
};

struct naming *naming_new(struct capture *capture)
{
	struct naming *n = xcalloc(1, sizeof(*n));

	n->capture = capture;
	n->names = names_new();
	n->things = hash_new(sizeof(struct thing_key), sizeof(struct thing));
	n->processes = hash_new(sizeof(uint32_t), sizeof(struct process));
	n->devices = hash_new(sizeof(int), sizeof(struct device));
	return n;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	names_free(n->names);
	hash_free(n->things);
	hash_free(n->processes);
	hash_free(n->devices);
	free(n);
}

static bool drop(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

/* ---- processes ---- */

static struct process *process_of(struct naming *n, uint32_t pid)
{
	if (hash_count(n->processes) > REMEMBER_MAX)
		hash_each(n->processes, drop, NULL);
	return hash_put(n->processes, &pid);
}

void naming_thread(struct naming *n, const struct task_info *info)
{
	struct process *p = process_of(n, info->pid);

	if (p->start_ns != info->start_ns)
		*p = (struct process){ .start_ns = info->start_ns };
	p->ppid = info->ppid;
}

const char *naming_process(struct naming *n, uint32_t pid, const char *fallback)
{
	struct process *p = process_of(n, pid);
	uint64_t now = clock_boot_ns();
	char path[32], comm[COMM_LEN];
	size_t len;

	if (p->comm[0] && now < p->at_ns + PROCESS_NS)
		return p->comm;
	p->at_ns = now;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (pid && !file_read(path, comm, sizeof(comm), &len) && len > 1) {
		comm[min_u64(len, COMM_LEN) - 1] = '\0'; /* the newline, or the end */
		str_copy(p->comm, sizeof(p->comm), comm);
	} else if (!p->comm[0]) {
		str_copy(p->comm, sizeof(p->comm), fallback);
	}
	return p->comm;
}

static uint32_t parent_of(struct naming *n, uint32_t pid)
{
	struct process *p = process_of(n, pid);
	struct proc_info info;

	if (!p->ppid && !proc_read((int)pid, &info)) {
		p->ppid = (uint32_t)info.ppid;
		p->start_ns = info.start_ns;
	}
	return p->ppid;
}

static enum relation relation_of(struct naming *n, const struct hop *hop, uint32_t self)
{
	uint32_t pid = hop->pid;

	if (pid == self)
		return RELATION_self;
	if (!pid)
		return RELATION_kernel;
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		pid = parent_of(n, pid);
		if (pid == self)
			return RELATION_child;
	}
	return RELATION_foreign;
}

/* ---- things ---- */

static void name_file(struct naming *n, const struct hop *hop, struct thing *ret)
{
	struct file_key key = { hop->obj, hop->obj2 };
	struct file_name known;

	ret->object = OBJECT_file;
	if (hop->fd >= 0 &&
	    names_fd((int)hop->pid, hop->fd, hop->obj, ret->name, sizeof(ret->name)))
		return;
	if (capture_file_name(n->capture, &key, &known))
		return;
	known.name[sizeof(known.name) - 1] = known.parent[sizeof(known.parent) - 1] = '\0';
	if (streq(known.parent, "/")) /* of a mount, wherever that is */
		snprintf(ret->name, sizeof(ret->name), ".../%s", known.name);
	else
		snprintf(ret->name, sizeof(ret->name), ".../%s/%s", known.parent, known.name);
}

static void name_socket(struct naming *n, const struct hop *hop, struct thing *ret)
{
	uint16_t own = (uint16_t)hop->obj2, remote = (uint16_t)(hop->obj2 >> 16);

	if (!hop->obj2) {
		ret->object = OBJECT_unix_socket;
		return;
	}
	(void)names_tcp(hop->obj2, ret->name, sizeof(ret->name));
	ret->object = OBJECT_tcp;
	if (!remote || names_listens(n->names, (int)hop->pid, own))
		ret->object = OBJECT_tcp_server; /* it waits for somebody to ask */
}

static void name_lock(struct naming *n, const struct hop *hop, struct thing *ret)
{
	bool gil =
		hop->object == OBJECT_gil || /* who held it was seen */
		names_is_gil(n->names, (int)hop->pid, process_of(n, hop->pid)->start_ns, hop->obj);

	ret->object = gil ? OBJECT_gil : OBJECT_lock;
	if (gil)
		str_copy(ret->name, sizeof(ret->name), "the GIL");
	else
		snprintf(ret->name, sizeof(ret->name), "0x%llx", (unsigned long long)hop->obj);
}

static void name_thing(struct naming *n, const struct hop *hop, struct thing *ret)
{
	switch (hop->state) {
	case STATE_FUTEX:
		name_lock(n, hop, ret);
		break;
	case STATE_PIPE:
		ret->object = OBJECT_pipe;
		break;
	case STATE_SOCKET:
		name_socket(n, hop, ret);
		break;
	case STATE_POLL:
		ret->object = OBJECT_events;
		if (hop->obj2)
			name_socket(n, hop, ret);
		break;
	case STATE_READ:
	case STATE_WRITE:
	case STATE_FSYNC:
		name_file(n, hop, ret);
		break;
	case STATE_GPU:
	case STATE_DEVICE:
		ret->object = OBJECT_device;
		snprintf(ret->name, sizeof(ret->name), "%llu:%llu",
			 (unsigned long long)hop->obj >> 20,
			 (unsigned long long)hop->obj & 0xfffff);
		break;
	default:
		break;
	}
}

/* Interrupts have small numbers: there cannot be many. */
static void name_device(struct naming *n, struct hop *hop)
{
	uint64_t now = clock_boot_ns();
	struct device *device;

	if (hop->irq < 0 ||
	    (hop->by != WAKER_irq && hop->by != WAKER_block && hop->by != WAKER_net))
		return;
	device = hash_put(n->devices, &hop->irq);
	if (!device->at_ns || now > device->at_ns + DEVICE_NS) {
		device->at_ns = now;
		(void)names_irq(hop->irq, device->name, sizeof(device->name));
	}
	memcpy(hop->device, device->name, sizeof(hop->device));
}

static const struct thing *thing_of(struct naming *n, const struct hop *hop)
{
	struct thing_key key = { .obj = hop->obj,
				 .obj2 = hop->obj2,
				 .pid = hop->pid,
				 .state = (uint16_t)hop->state,
				 .object = (uint16_t)hop->object };
	struct thing *thing = hash_get(n->things, &key);

	if (thing)
		return thing;
	if (hash_count(n->things) > REMEMBER_MAX)
		hash_each(n->things, drop, NULL);
	thing = hash_put(n->things, &key);
	name_thing(n, hop, thing);
	return thing;
}

static bool has_thing(enum state state)
{
	return state == STATE_FUTEX || state == STATE_PIPE || state == STATE_SOCKET ||
	       state == STATE_POLL || state == STATE_READ || state == STATE_WRITE ||
	       state == STATE_FSYNC || state == STATE_GPU || state == STATE_DEVICE;
}

void naming_fill(struct naming *n, struct chain *chain, const struct roster *roster)
{
	for (int i = 0; i < chain->hops; i++) {
		struct hop *hop = &chain->hop[i];

		hop->relation = relation_of(n, hop, chain->hop[0].pid);
		hop->calls = hop->serial && roster_find(roster, hop->serial);
		name_device(n, hop);
		if (has_thing(hop->state)) {
			const struct thing *thing = thing_of(n, hop);

			hop->object = thing->object;
			memcpy(hop->name, thing->name, sizeof(hop->name));
		} else if (STATE_RUNNABLE(hop->state) && hop->cpu_pid == PID_IRQ) {
			str_copy(hop->name, sizeof(hop->name), "interrupts");
		} else if (STATE_RUNNABLE(hop->state) && hop->cpu_pid) {
			str_copy(hop->name, sizeof(hop->name),
				 naming_process(n, hop->cpu_pid, "gone"));
		}
	}
}
