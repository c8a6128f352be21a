/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the GPUs say of themselves: NVML by way of a helper program (helper/nvml.c), and errors from
 * the kernel. Nothing here waits, and nothing that goes wrong there is more than a sample lost.
 */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/gpu.h"

/* ---- decode.c: bytes of the pipe ---- */

/* -EBADMSG: no record of ours. Strings are terminated and safe to print; see GPU_VALUES. */
int gpu_decode(const void *bytes, size_t len, struct gpu_record *ret);

/* ---- helper.c: its life ---- */

#define GPU_INTERVAL_MS 1000

struct gpu_helper_opts {
	const char *library; /* "" or NULL: wherever the loader and the usual places have it */
	uint32_t interval_ms; /* 0: GPU_INTERVAL_MS */
};

struct gpu_helper;

/* Begins at the first gpu_helper_poll(). */
struct gpu_helper *gpu_helper_new(const struct gpu_helper_opts *opts);

/* Ends the program, too. NULL is fine. */
void gpu_helper_free(struct gpu_helper *h);

/*
 * Hand every record that is there to fn, borrowed for the call. Starts the program, ends it when it
 * says nothing for too long or nonsense, and starts it again after a while.
 */
typedef void (*gpu_fn)(const struct gpu_record *rec, void *arg);
void gpu_helper_poll(struct gpu_helper *h, uint64_t now_ns, gpu_fn fn, void *arg);

struct gpu_helper_status {
	bool known; /* it has said whether there is a library, or cannot be started */
	bool ready; /* there is one */
	char text[320]; /* "driver 580.159.04, 1 GPU"; or why there is none */
	uint64_t starts, crashes, hangs, garbage; /* so far */
	uint64_t cpu_ns; /* that it has used, of all its lives */
	int pid; /* 0: it does not run */
};
void gpu_helper_status(const struct gpu_helper *h, struct gpu_helper_status *ret);

/* The file descriptor to wait for; -1: none. */
int gpu_helper_fd(const struct gpu_helper *h);

/* ---- xid.c: errors that the driver reports through the kernel ---- */

struct xid {
	uint64_t at_ns; /* boot time; not set by the parsers */
	uint32_t code, pid; /* pid 0: not told */
	char bus_id[16]; /* "0000:1b:00" */
	char text[192]; /* what the driver says after the code; safe to print */
};

/* A record of the kernel's log, as /dev/kmsg gives it. False: something else, or not the kernel's. */
bool xid_parse_kmsg(const char *record, size_t len, struct xid *ret);

/* The same from its parts, as the tracepoint has them: "0000:1b:00.0", "pid=12, name=...". */
bool xid_parse(const char *bus_id, uint32_t code, const char *text, struct xid *ret);

/* Are these the same error of the same device? */
bool xid_same(const struct xid *a, const struct xid *b);

/* There are two ways to hear of an error: what one has told, the other does not tell again. */
enum xid_source { XID_LOG, XID_TRACEPOINT };

#define XID_KEPT 32

struct xid_memory {
	struct {
		struct xid xid; /* code 0: none */
		enum xid_source from;
		bool both; /* the other has told of it, too */
	} heard[XID_KEPT];
	unsigned next;
};

/* False: the other source has told of it. Of one source, two equal ones are two. */
bool xid_is_new(struct xid_memory *m, const struct xid *xid, enum xid_source from);

/* "0000:1b:00", "00000000:1B:00.0": is it one device? */
bool gpu_bus_same(const char *a, const char *b);

/* Whose fault it usually is. */
enum xid_kind {
	XID_PROGRAM, /* the program's own */
	XID_HARDWARE,
	XID_DRIVER, /* driver, firmware, or hardware */
	XID_AFTER, /* follows another error, or the end of a program */
	XID_NOTE, /* recorded, nothing to be done now */
};

struct xid_words {
	uint32_t code;
	enum xid_kind kind;
	const char *what, *advice;
};

/* Never NULL: of a code that is not in the table it says so. */
const struct xid_words *xid_words(uint32_t code);

/* ---- words.c ---- */

/* Reasons to be slower that are no idleness and nobody's wish. */
#define GPU_REASONS_HARD                                                                           \
	(GPU_REASON_HW_SLOWDOWN | GPU_REASON_SW_THERMAL | GPU_REASON_HW_THERMAL |                  \
	 GPU_REASON_POWER_BRAKE)
#define GPU_REASONS_THROTTLE (GPU_REASONS_HARD | GPU_REASON_POWER_CAP)

/* "heat (software), power cap", of those in `reasons & mask`; "": none. Returns dst. */
char *gpu_reason_words(char *dst, size_t cap, uint64_t reasons, uint64_t mask);

#endif
