// SPDX-License-Identifier: Apache-2.0
/* The engine: streams as clocks that run ahead, knobs, injected errors and exact counters. */
#define _GNU_SOURCE
#include "sim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STREAMS 256 /* streams beyond these share the last place */
#define DOZE_NS 400000l /* between two looks for the other ranks, where waiting blocks */
#define COPY_INSIDE 3 /* cudaMemcpyDeviceToDevice */
#define MEMORY_DEVICE 2 /* CU_MEMORYTYPE_DEVICE */
#define FIRST_HANDLE 0x302000000l /* where a real device's addresses begin */
#define HANDLE_ALIGN 512

enum knob {
	KERNEL_NS,
	LAUNCH_NS,
	QUEUE_DEPTH,
	GRAPH_KERNELS,
	BLOCK,
	COPY_BPS,
	DEVICE_BPS,
	COLL_BPS,
	PAGEABLE,
	ALLOC_NS,
	INIT_NS,
	MEET_NS,
	DRIVER,
	KNOBS,
};

static const struct {
	const char *name;
	const char *preset;
	double scale; /* from the unit in the name to the unit we keep */
} knobs[KNOBS] = {
	[KERNEL_NS] = { "SIM_KERNEL_US", "100", 1e3 },
	[LAUNCH_NS] = { "SIM_LAUNCH_US", "2", 1e3 },
	[QUEUE_DEPTH] = { "SIM_QUEUE", "0", 1 },
	[GRAPH_KERNELS] = { "SIM_GRAPH_KERNELS", "50", 1 },
	[BLOCK] = { "SIM_SYNC", "spin", 1 },
	[COPY_BPS] = { "SIM_COPY_GBPS", "12", 1e9 },
	[DEVICE_BPS] = { "SIM_DEVICE_GBPS", "1000", 1e9 },
	[COLL_BPS] = { "SIM_COLL_GBPS", "40", 1e9 },
	[PAGEABLE] = { "SIM_PAGEABLE", "0", 1 },
	[ALLOC_NS] = { "SIM_ALLOC_US", "10", 1e3 },
	[INIT_NS] = { "SIM_INIT_MS", "20", 1e6 },
	[MEET_NS] = { "SIM_MEET_MS", "10000", 1e6 },
	[DRIVER] = { "SIM_DRIVER", "0", 1 },
};

struct stream {
	_Atomic long key; /* its handle + 1, so that 0 is a free place */
	_Atomic long end_ns; /* when all its queued work will be done, but for other ranks */
	struct sim_room *_Atomic room; /* the last collective on it that may not be over, ... */
	_Atomic long seq;
	_Atomic long since_ns; /* ... and the work behind that */
};

/* Without locks: a forked child can go on, and no wait shows up that nobody asked for. */
struct sim_device {
	_Atomic bool configured;
	_Atomic long end_ns; /* the latest of all streams */
	_Atomic long *_Atomic shared_end_ns; /* of all processes on one device; NULL: it is ours */
	struct stream streams[STREAMS];
	_Atomic long next_handle;
	_Atomic long knob[KNOBS];
	_Atomic long calls[OP_COUNT];
	_Atomic long fail[OP_COUNT]; /* every_nth << 32 | code; 0 = never */
};

const struct op sim_rows[OP_COUNT] = {
#define OP(lib_, sym, class_, size_, stream_, aux_, out_, doc_)                                    \
	[OP_##sym] = { #sym, doc_, LIB_##lib_, CLASS_##class_, { size_, stream_, aux_, out_ } },
#include "wire/ops.def"
};

const struct op_shape sim_shapes[OP_COUNT] = {
#define PRODUCT(sym, unit_, a, b, c) [OP_##sym] = { .unit = unit_, .factor = { a, b, c } },
#define STRUCT(sym, words_, offset_, kind_, source_, target_)                                      \
	[OP_##sym] = { 1, { 0 }, words_, offset_, kind_, source_, target_ },
#include "wire/shapes.def"
};

static struct sim_device own;
static struct sim_device *device = &own;

struct sim_device *sim_device(void)
{
	return device;
}

static long knob(enum knob id)
{
	return atomic_load_explicit(&device->knob[id], memory_order_relaxed);
}

static long now_ns(void);

long sim_now_ns(void)
{
	return now_ns();
}

long sim_meet_ns(void)
{
	return knob(MEET_NS);
}

void sim_doze(void)
{
	const struct timespec ts = { .tv_nsec = DOZE_NS };

	if (knob(BLOCK))
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL); /* looked at again anyway */
}

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000l + ts.tv_nsec;
}

static void spin_until(long end_ns)
{
	while (now_ns() < end_ns)
		;
}

static void burn(long ns)
{
	if (ns)
		spin_until(now_ns() + ns);
}

static void wait_until(long end_ns)
{
	struct timespec ts = { .tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000 };

	if (!knob(BLOCK)) {
		spin_until(end_ns);
		return;
	}
	if (now_ns() >= end_ns)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static struct stream *stream_of(long handle)
{
	unsigned long start = (unsigned long)handle * 0x9e3779b97f4a7c15ul >> 56;
	long key = handle + 1;
	struct stream *s = NULL;

	for (unsigned long i = 0; i < STREAMS; i++) {
		long found = 0;

		s = &device->streams[(start + i) % STREAMS];
		if (atomic_compare_exchange_strong(&s->key, &found, key) || found == key)
			break;
	}
	return s;
}

/* Append dur_ns of work to a time line and return when it will be done. */
static long append(_Atomic long *line, long dur_ns)
{
	long before = atomic_load(line);
	long now = now_ns();
	long end;

	do
		end = (before > now ? before : now) + dur_ns;
	while (!atomic_compare_exchange_weak(line, &before, end));
	return end;
}

static void at_least(_Atomic long *line, long end_ns)
{
	long latest = atomic_load(line);

	while (latest < end_ns && !atomic_compare_exchange_weak(line, &latest, end_ns))
		;
}

/* Queue dur_ns of work and return when it will be done: behind its stream, or behind everybody. */
static long enqueue(long handle, long dur_ns)
{
	struct stream *s = stream_of(handle);
	_Atomic long *shared = device->shared_end_ns;
	long end = append(shared ? shared : &s->end_ns, dur_ns);

	if (s->room)
		atomic_fetch_add(&s->since_ns, dur_ns);
	at_least(&s->end_ns, end);
	at_least(&device->end_ns, end);
	return end;
}

/* When all of a stream is done, other ranks included: waits until they have come. */
static long stream_end(struct stream *s)
{
	struct sim_room *room = atomic_exchange(&s->room, NULL);

	if (room) {
		at_least(&s->end_ns, sim_meet_end(room, s->seq) + s->since_ns);
		at_least(&device->end_ns, s->end_ns);
	}
	return s->end_ns;
}

static long device_end(void)
{
	for (int i = 0; i < STREAMS; i++)
		if (device->streams[i].room)
			(void)stream_end(&device->streams[i]);
	return device->end_ns;
}

void sim_queue_meet(long stream, struct sim_room *room, long seq, struct sim_queued *ret)
{
	struct stream *s = stream_of(stream);
	long now = now_ns();

	if (s->room && s->room != room)
		(void)stream_end(s); /* of two communicators on one stream, one after the other */
	ret->own_end_ns = s->end_ns > now ? s->end_ns : now;
	ret->since_ns = s->room ? s->since_ns : 0;
	s->seq = seq;
	s->since_ns = 0;
	s->room = room;
}

/* A bandwidth of 0 takes no time. */
static long transfer_ns(long bytes, enum knob bandwidth)
{
	double bps = (double)knob(bandwidth);

	return bps > 0 ? (long)((double)bytes * 1e9 / bps) : 0;
}

/* The argument that a row numbers, 0 where it has none. */
static long arg(const long *args, int number)
{
	return number ? args[number - 1] : 0;
}

static void launch(long stream, long kernels)
{
	long kernel_ns = knob(KERNEL_NS);
	long depth = knob(QUEUE_DEPTH);
	long end;

	burn(knob(LAUNCH_NS));
	end = enqueue(stream, kernels * kernel_ns);
	if (depth)
		wait_until(end - depth * kernel_ns);
}

static long word_at(const char *at, int offset, size_t size)
{
	long value = 0;

	memcpy(&value, at + offset, size);
	return value;
}

/* How much a call is about, as its row or its shape says. */
static long bytes_of(const struct op *op, const long *args)
{
	const struct op_shape *s = &sim_shapes[op - sim_rows];
	const char *at;
	long bytes = s->unit;

	if (!s->unit)
		return arg(args, op->args.size);
	memcpy(&at, &args[0], sizeof(at));
	for (int i = 0; i < s->words && at; i++)
		bytes *= word_at(at, s->offset + 8 * i, 8);
	for (int i = 0; i < 3; i++)
		if (s->factor[i])
			bytes *= args[s->factor[i] - 1];
	return s->words && !at ? 0 : bytes;
}

/* A cudaMemcpyKind, or 0 where nothing tells. */
static int kind_of(const struct op *op, const long *args)
{
	const struct op_shape *s = &sim_shapes[op - sim_rows];
	const char *at;

	if (!s->words)
		return (int)arg(args, op->args.aux);
	memcpy(&at, &args[0], sizeof(at));
	if (!at || !s->kind)
		return at && s->source && word_at(at, s->source, 4) == MEMORY_DEVICE &&
				       word_at(at, s->target, 4) == MEMORY_DEVICE
			       ? COPY_INSIDE
			       : 0;
	return (int)word_at(at, s->kind, 4);
}

/* Only the runtime passes a kind; the driver has it in the symbol. Fills are on the device. */
static bool inside_device(const struct op *op, const long *args)
{
	return strstr(op->symbol, "Memset") || strstr(op->symbol, "DtoD") ||
	       strstr(op->symbol, "Peer") || kind_of(op, args) == COPY_INSIDE;
}

static void copy(const struct op *op, const long *args)
{
	bool inside = inside_device(op, args);
	long dur = transfer_ns(bytes_of(op, args), inside ? DEVICE_BPS : COPY_BPS);
	bool blocking = !op->args.stream || (knob(PAGEABLE) && !inside);

	burn(knob(LAUNCH_NS));
	(void)enqueue(arg(args, op->args.stream), dur);
	if (blocking)
		wait_until(stream_end(stream_of(arg(args, op->args.stream))));
}

static void collective(const struct op *op, const long *args)
{
	enum op_id id = (enum op_id)(op - sim_rows);
	long dur;

	if (!op->args.size)
		return;
	burn(knob(LAUNCH_NS));
	dur = transfer_ns(sim_nccl_bytes(id, args), COLL_BPS);
	if (!sim_nccl_meets(id, args, dur))
		enqueue(arg(args, op->args.stream), dur);
}

/* Addresses of live allocations must not overlap, or a tracer could not tell them apart. */
static void hand_out(const struct op *op, const long *args)
{
	long size = op->class == CLASS_ALLOC ? bytes_of(op, args) : 0;
	long step = (size / HANDLE_ALIGN + 1) * HANDLE_ALIGN;
	long *out;

	memcpy(&out, &args[op->args.out - 1], sizeof(out));
	if (out)
		*out = atomic_fetch_add(&device->next_handle, step);
}

static void perform(const struct op *op, const long *args, bool first)
{
	long stream = arg(args, op->args.stream);

	switch (op->class) {
	case CLASS_LAUNCH:
		launch(stream, 1);
		break;
	case CLASS_GRAPH:
		if (op->args.out)
			burn(knob(ALLOC_NS));
		else if (strstr(op->symbol, "GraphLaunch"))
			launch(stream, knob(GRAPH_KERNELS));
		break;
	case CLASS_SYNC:
		wait_until(op->args.stream ? stream_end(stream_of(stream)) : device_end());
		break;
	case CLASS_COPY:
	case CLASS_FILL:
		copy(op, args);
		break;
	case CLASS_ALLOC:
		burn(knob(ALLOC_NS));
		break;
	case CLASS_FREE:
		if (!op->args.stream) /* as the real ones do, to the surprise of many */
			wait_until(device_end());
		break;
	case CLASS_COLL:
	case CLASS_P2P:
		collective(op, args);
		break;
	case CLASS_MODULE:
	case CLASS_INIT:
		if (first)
			burn(knob(INIT_NS));
		break;
	case CLASS_EVENT:
	case CLASS_HANDLE:
	case CLASS_GAP:
	case CLASS_COUNT:
		break;
	}
	if (op->args.out)
		hand_out(op, args);
}

int sim_call(enum op_id id, const long args[SIM_ARGS])
{
	const struct op *op = &sim_rows[id];
	long nth = atomic_fetch_add(&device->calls[id], 1) + 1;
	long fail = atomic_load(&device->fail[id]);
	int ret;

	if (fail && nth % (fail >> 32) == 0)
		return (int)(fail & INT_MAX);
	if (op->lib == LIB_CUDART && knob(DRIVER) && sim_driver_call(id, args, &ret))
		return ret;
	perform(op, args, nth == 1);
	return op->lib == LIB_NCCL ? sim_nccl(id, args) : 0;
}

int sim_find(const char *name, unsigned long len)
{
	for (int id = 0; id < OP_COUNT; id++) {
		const char *symbol = sim_rows[id].symbol;

		if (strlen(symbol) == len && memcmp(symbol, name, len) == 0)
			return id;
	}
	return -1;
}

long sim_counter(const char *symbol)
{
	int id = sim_find(symbol, strlen(symbol));

	return id < 0 ? -1 : atomic_load(&device->calls[id]);
}

/* symbol:every_nth:code,... Replaces the whole list, or nothing if any part of it is wrong. */
static int set_fail(const char *text)
{
	long fail[OP_COUNT] = { 0 };

	while (*text) {
		size_t len = strcspn(text, ":,");
		int id = sim_find(text, len);
		long every, code;
		char *end;

		if (id < 0 || text[len] != ':')
			return -EINVAL;
		every = strtol(text + len + 1, &end, 10);
		if (every < 1 || every > INT_MAX || *end != ':')
			return -EINVAL;
		code = strtol(end + 1, &end, 10);
		if (code < 1 || code > INT_MAX || (*end && *end != ','))
			return -EINVAL;
		fail[id] = every << 32 | code;
		text = *end ? end + 1 : end;
	}
	for (int id = 0; id < OP_COUNT; id++)
		atomic_store(&device->fail[id], fail[id]);
	return 0;
}

static int set_knob(enum knob id, const char *value)
{
	double number;
	char *end;

	if (id == BLOCK && strcmp(value, "block") == 0)
		value = "1";
	else if (id == BLOCK)
		value = strcmp(value, "spin") == 0 ? "0" : "";

	number = strtod(value, &end) * knobs[id].scale;
	if (end == value || *end || !(number >= 0 && number < 1e18))
		return -EINVAL;
	atomic_store(&device->knob[id], (long)number);
	return 0;
}

/* Work queues behind that of all processes that name the same file; none: the device is ours. */
static int set_share(const char *path)
{
	void *line = MAP_FAILED;
	int fd;

	if (!*path) {
		atomic_store(&device->shared_end_ns, NULL);
		return 0;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -EINVAL;
	if (ftruncate(fd, sizeof(long)) == 0)
		line = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (line == MAP_FAILED)
		return -EINVAL;
	atomic_store(&device->shared_end_ns, line);
	return 0;
}

/* Not sim_set(): inside a library that name may lead to the one of another library. */
static int set(const char *name, const char *value)
{
	if (strcmp(name, "SIM_FAIL") == 0)
		return set_fail(value);
	if (strcmp(name, "SIM_SHARE") == 0)
		return set_share(value);
	for (int id = 0; id < KNOBS; id++)
		if (strcmp(name, knobs[id].name) == 0)
			return set_knob(id, value);
	return -EINVAL;
}

int sim_set(const char *name, const char *value)
{
	return set(name, value);
}

/* A test that runs with other knobs than it asked for proves nothing, so a bad one is the end. */
static void set_from_env(const char *name, const char *preset)
{
	const char *value = getenv(name);

	if (!value || !*value)
		value = preset;
	if (set(name, value)) {
		(void)fprintf(stderr, "sim: cannot use %s=%s\n", name, value);
		_exit(2);
	}
}

/* The counters are of one process, and a child inherits no work. */
static void after_fork(void)
{
	device->end_ns = 0;
	memset(device->streams, 0, sizeof(device->streams));
	memset(device->calls, 0, sizeof(device->calls));
}

static void configure(void)
{
	atomic_store(&device->next_handle, FIRST_HANDLE);
	for (int id = 0; id < KNOBS; id++)
		set_from_env(knobs[id].name, knobs[id].preset);
	set_from_env("SIM_FAIL", "");
	set_from_env("SIM_SHARE", "");
	atomic_store(&device->configured, true);
}

/*
 * Each library works alone, yet a process that has several must see one device: take over the state
 * of one that is already at work. RTLD_NOLOAD maps nothing and finds those loaded with RTLD_LOCAL.
 * The loader runs constructors one at a time, so the first one configures and the others find it.
 */
__attribute__((constructor)) static void load(void)
{
	static const char *const sonames[] = { "libcudart.so.13", "libcuda.so.1", "libnccl.so.2" };

	for (size_t i = 0; i < sizeof(sonames) / sizeof(*sonames); i++) {
		void *lib = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
		void *found = lib ? dlsym(lib, "sim_device") : NULL;
		struct sim_device *(*theirs)(void);

		if (!found)
			continue;
		memcpy(&theirs, &found, sizeof(theirs));
		if (theirs()->configured)
			device = theirs();
	}
	if (!device->configured)
		configure();
	(void)pthread_atfork(NULL, NULL, after_fork); /* fails only without memory */
}
