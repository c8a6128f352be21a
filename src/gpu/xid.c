// SPDX-License-Identifier: Apache-2.0
/*
 * Xid errors: their lines in the kernel's log, and what they mean. Only what the kernel itself has
 * logged counts (facility 0): anybody may write the rest. A process can choose its name, which stands
 * behind its pid, so nothing is looked for behind that.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "gpu/gpu.h"

#define PREFIX "NVRM: Xid (PCI:"
#define FACILITY(number) ((number) >> 3)

/* One line of a record, bounded: where it is, where it ends. */
struct cursor {
	const char *at, *end;
};

static bool skip_text(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
		return false;
	c->at += n;
	return true;
}

static bool take_number(struct cursor *c, uint64_t max, uint64_t *ret)
{
	const char *start = c->at;
	uint64_t n = 0;

	while (c->at < c->end && isdigit((unsigned char)*c->at)) {
		n = 10 * n + (uint64_t)(*c->at++ - '0');
		if (n > max)
			return false;
	}
	*ret = n;
	return c->at > start;
}

/* "0000:1b:00", "0000:1b:00.0", also with eight digits in front. The function is left out. */
static bool take_bus_id(struct cursor *c, char *dst, size_t cap)
{
	size_t colons = 0, n = 0;

	for (; c->at < c->end && n + 1 < cap; c->at++) {
		char ch = (char)tolower((unsigned char)*c->at);

		if (ch == ':')
			colons++;
		else if (!isxdigit((unsigned char)ch))
			break;
		dst[n++] = ch;
	}
	dst[n] = '\0';
	if (skip_text(c, "."))
		while (c->at < c->end && isxdigit((unsigned char)*c->at))
			c->at++;
	return colons == 2 && n >= 7;
}

/* Domains have four digits in some places and eight in others. */
static void shorten_bus_id(char *id)
{
	if (strlen(id) > 10 && starts_with(id, "0000"))
		memmove(id, id + 4, strlen(id + 4) + 1);
}

/* "pid=1234, name=...", "pid='1234', ..."; "pid='<unknown>'" has no number. */
static void take_pid(struct cursor c, uint32_t *ret)
{
	uint64_t pid;

	while (c.at < c.end && (*c.at == ' ' || *c.at == ','))
		c.at++;
	if (!skip_text(&c, "pid="))
		return;
	(void)skip_text(&c, "'");
	if (take_number(&c, INT32_MAX, &pid))
		*ret = (uint32_t)pid;
}

static void take_text(struct cursor c, struct xid *ret)
{
	char raw[sizeof(ret->text)] = "";
	size_t n;

	while (c.at < c.end && (*c.at == ' ' || *c.at == ','))
		c.at++;
	n = min_u64((uint64_t)(c.end - c.at), sizeof(raw) - 1);
	memcpy(raw, c.at, n);
	(void)text_safe(ret->text, sizeof(ret->text), raw);
}

bool xid_parse(const char *bus_id, uint32_t code, const char *text, struct xid *ret)
{
	struct cursor bus = { bus_id, bus_id + strlen(bus_id) };
	struct cursor rest = { text, text + strlen(text) };

	*ret = (struct xid){ .code = code };
	if (!take_bus_id(&bus, ret->bus_id, sizeof(ret->bus_id)) || bus.at != bus.end)
		return false;
	shorten_bus_id(ret->bus_id);
	take_pid(rest, &ret->pid);
	take_text(rest, ret);
	return true;
}

bool xid_parse_kmsg(const char *record, size_t len, struct xid *ret)
{
	const char *body = memchr(record, ';', len);
	struct cursor head = { record, body ? body : record }, c;
	const char *newline;
	uint64_t number, code;

	*ret = (struct xid){ 0 };
	if (!body || !take_number(&head, UINT32_MAX, &number) || FACILITY(number) != 0 ||
	    !skip_text(&head, ","))
		return false;
	c = (struct cursor){ body + 1, record + len };
	newline = memchr(c.at, '\n', (size_t)(c.end - c.at));
	c.end = newline ? newline : c.end;
	if (!skip_text(&c, PREFIX) || !take_bus_id(&c, ret->bus_id, sizeof(ret->bus_id)) ||
	    !skip_text(&c, "): ") || !take_number(&c, 9999, &code))
		return false;
	if (c.at < c.end && *c.at != ',' && *c.at != ' ')
		return false;
	shorten_bus_id(ret->bus_id);
	ret->code = (uint32_t)code;
	take_pid(c, &ret->pid);
	take_text(c, ret);
	return true;
}

bool gpu_bus_same(const char *a, const char *b)
{
	struct cursor x = { a, a + strlen(a) }, y = { b, b + strlen(b) };
	char p[16], q[16];

	if (!take_bus_id(&x, p, sizeof(p)) || !take_bus_id(&y, q, sizeof(q)))
		return false;
	shorten_bus_id(p);
	shorten_bus_id(q);
	return streq(p, q);
}

#define SAME_NS 2000000000ull /* two ways of hearing of it */

bool xid_same(const struct xid *a, const struct xid *b)
{
	uint64_t apart = a->at_ns > b->at_ns ? a->at_ns - b->at_ns : b->at_ns - a->at_ns;

	return a->code == b->code && streq(a->bus_id, b->bus_id) && apart <= SAME_NS &&
	       (a->pid == b->pid || !a->pid || !b->pid);
}

bool xid_is_new(struct xid_memory *m, const struct xid *xid, enum xid_source from)
{
	unsigned at;

	for (int i = 0; i < XID_KEPT; i++) {
		if (!m->heard[i].xid.code || m->heard[i].from == from || m->heard[i].both ||
		    !xid_same(&m->heard[i].xid, xid))
			continue;
		m->heard[i].both = true;
		return false;
	}
	at = m->next++ % XID_KEPT;
	m->heard[at].xid = *xid;
	m->heard[at].from = from;
	m->heard[at].both = false;
	return true;
}

/* By code. */
static const struct xid_words table[] = {
	{ 8, XID_DRIVER, "the GPU stopped processing",
	  "look for a kernel that never ends; if there is none, update the driver" },
	{ 13, XID_PROGRAM, "a kernel raised an exception (bad address, illegal instruction)",
	  "run the program under compute-sanitizer; with CUDA_LAUNCH_BLOCKING=1 the failing call is "
	  "named" },
	{ 31, XID_PROGRAM, "a kernel touched memory that is not mapped",
	  "run the program under compute-sanitizer: an index out of bounds, or memory used after it "
	  "was freed" },
	{ 32, XID_DRIVER, "the GPU got a command that it does not understand",
	  "check the PCIe link (lspci -vv) and update the driver" },
	{ 38, XID_DRIVER, "the driver's firmware failed", "update the driver" },
	{ 43, XID_PROGRAM, "a program's work was stopped after an error of its own",
	  "look at the error before it, and at the program: compute-sanitizer" },
	{ 45, XID_AFTER, "the work of a program that ended or failed was taken off the GPU",
	  "look for the error before it; alone it is a program that was killed" },
	{ 48, XID_HARDWARE, "memory of the GPU lost two bits (uncorrectable ECC error)",
	  "drain the node and reset the GPU (nvidia-smi --gpu-reset); if it comes back, replace the "
	  "GPU" },
	{ 56, XID_HARDWARE, "the display engine failed", "update the driver; check the hardware" },
	{ 61, XID_DRIVER, "a micro controller of the GPU failed (breakpoint)",
	  "reset the GPU; update driver and firmware" },
	{ 62, XID_DRIVER, "a micro controller of the GPU failed (halt)",
	  "reset the GPU; if it comes back, check power and heat, replace the GPU" },
	{ 63, XID_NOTE, "a row of the GPU's memory was noted for replacement",
	  "reset the GPU when it is free, so that the row is replaced: nvidia-smi -q -d ROW_REMAPPER" },
	{ 64, XID_HARDWARE, "a row of the GPU's memory could not be noted for replacement",
	  "drain the node and reset the GPU; if it comes back, replace the GPU" },
	{ 68, XID_DRIVER, "the video decoder failed", "update the driver; check what is decoded" },
	{ 69, XID_PROGRAM, "the GPU refused a method of a program (graphics engine)",
	  "run the program under compute-sanitizer; update the driver" },
	{ 74, XID_HARDWARE, "an NVLink failed",
	  "look at nvidia-smi nvlink -e and the fabric manager's log; reset the GPUs of that link, "
	  "check bridge or switch" },
	{ 79, XID_HARDWARE, "the GPU has fallen off the bus: nothing can reach it any more",
	  "restart the host; check power, heat, riser and PCIe slot; if it comes back, replace the "
	  "GPU" },
	{ 92, XID_NOTE, "many corrected ECC errors",
	  "watch nvidia-smi -q -d ECC; plan a replacement" },
	{ 94, XID_HARDWARE, "an uncorrectable memory error, contained to the program that was hit",
	  "start that program again; reset the GPU when it is free" },
	{ 95, XID_HARDWARE, "an uncorrectable memory error that was not contained",
	  "drain the node and reset the GPU; everything that ran on it is suspect" },
	{ 109, XID_DRIVER, "a context could not be switched in time",
	  "look for a kernel that never ends; update the driver" },
	{ 119, XID_DRIVER, "the GPU's system processor did not answer the driver (GSP timeout)",
	  "reset the GPU, update the driver; NVreg_EnableGpuFirmware=0 avoids it where supported" },
	{ 120, XID_DRIVER, "the GPU's system processor failed (GSP error)",
	  "reset the GPU, update the driver" },
	{ 121, XID_HARDWARE, "the link between chips (C2C) reported errors",
	  "watch it; if it comes back, have the hardware checked" },
	{ 140, XID_HARDWARE, "uncorrected ECC errors that the driver could not handle",
	  "reset the GPU; if it comes back, replace the GPU" },
	{ 143, XID_DRIVER, "the GPU could not be initialised",
	  "restart the host, update the driver" },
	{ 154, XID_AFTER, "the driver says what the GPU needs to work again",
	  "do what its text says: reset the GPU, or restart the host" },
};

const struct xid_words *xid_words(uint32_t code)
{
	static const struct xid_words other = {
		0, XID_DRIVER, "an error that is not in our table",
		"look it up in NVIDIA's list of Xid errors, and at the kernel's log around it"
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].code == code)
			return &table[i];
	return &other;
}
