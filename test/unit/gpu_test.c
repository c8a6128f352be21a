// SPDX-License-Identifier: Apache-2.0
/* Tests of src/gpu: records of the helper, lines of the kernel's log, words, and the helper itself. */
#include "gpu/gpu.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "capture/kmsg.h"
#include "test/test.h"

/* ---- records ---- */

static struct gpu_record sample(void)
{
	struct gpu_record rec = { .magic = GPU_MAGIC, .kind = GPU_SAMPLE, .gpu = 3 };

	rec.values.known = 1ull << GPU_temp_c | 1ull << GPU_util_pct;
	rec.values.value[GPU_temp_c] = 35;
	rec.values.value[GPU_util_pct] = 21000;
	return rec;
}

TEST(gpu_decode_takes_a_sample_as_it_is)
{
	struct gpu_record rec = sample(), got;

	CHECK(!gpu_decode(&rec, sizeof(rec), &got));
	CHECK_U64(got.gpu, 3);
	CHECK_U64(got.values.value[GPU_temp_c], 35);
	CHECK(GPU_KNOWN(&got.values, GPU_util_pct));
	CHECK(!GPU_KNOWN(&got.values, GPU_power_w));
	return 0;
}

TEST(gpu_decode_knows_nothing_of_values_that_cannot_be)
{
	struct gpu_record rec = sample(), got;

	rec.values.known = ~0ull;
	rec.values.value[GPU_util_pct] = 100001;
	rec.values.value[GPU_temp_c] = UINT64_MAX;
	rec.values.value[GPU_sm_mhz] = 1980;
	CHECK(!gpu_decode(&rec, sizeof(rec), &got));
	CHECK(!GPU_KNOWN(&got.values, GPU_util_pct));
	CHECK_U64(got.values.value[GPU_util_pct], 0);
	CHECK(!GPU_KNOWN(&got.values, GPU_temp_c));
	CHECK(GPU_KNOWN(&got.values, GPU_sm_mhz));
	CHECK_U64(got.values.known >> GPU_VALUE_COUNT, 0);
	return 0;
}

TEST(gpu_decode_refuses_what_is_no_record)
{
	struct gpu_record rec = sample(), got;

	CHECK(gpu_decode(&rec, sizeof(rec) - 1, &got) == -EBADMSG);
	rec.magic++;
	CHECK(gpu_decode(&rec, sizeof(rec), &got) == -EBADMSG);
	rec = sample();
	rec.gpu = GPU_MAX;
	CHECK(gpu_decode(&rec, sizeof(rec), &got) == -EBADMSG);
	rec = sample();
	rec.kind = GPU_KINDS;
	CHECK(gpu_decode(&rec, sizeof(rec), &got) == -EBADMSG);
	rec = sample();
	rec.kind = GPU_PROCESS_LIST;
	rec.list.count = rec.list.total = GPU_PROCESSES + 1;
	CHECK(gpu_decode(&rec, sizeof(rec), &got) == -EBADMSG);
	return 0;
}

TEST(gpu_decode_makes_names_harmless_and_ends_them)
{
	struct gpu_record rec = { .magic = GPU_MAGIC, .kind = GPU_DEVICE }, got;

	memset(&rec.device, 0x1b, sizeof(rec.device));
	memcpy(rec.device.uuid, "GPU-1", 6);
	CHECK(!gpu_decode(&rec, sizeof(rec), &got));
	CHECK_STR(got.device.uuid, "GPU-1");
	CHECK(!memchr(got.device.name, 0x1b, sizeof(got.device.name)));
	CHECK(memchr(got.device.name, 0, sizeof(got.device.name)));
	return 0;
}

/* ---- errors ---- */

static bool parse(const char *record, struct xid *ret)
{
	return xid_parse_kmsg(record, strlen(record), ret);
}

TEST(xid_is_read_from_the_kernels_log)
{
	struct xid x;

	CHECK(parse("3,1234,99887766,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=1234, name=python3, "
		    "Ch 00000008, intr 00000000. MMU Fault\n SUBSYSTEM=pci\n",
		    &x));
	CHECK_U64(x.code, 31);
	CHECK_U64(x.pid, 1234);
	CHECK_STR(x.bus_id, "0000:1b:00");
	CHECK_STR(x.text, "pid=1234, name=python3, Ch 00000008, intr 00000000. MMU Fault");
	CHECK(parse("4,1,2,-;NVRM: Xid (PCI:0000:5E:00): 79, pid='<unknown>', name=<unknown>, GPU "
		    "has fallen off the bus.\n",
		    &x));
	CHECK_U64(x.code, 79);
	CHECK_U64(x.pid, 0);
	CHECK_STR(x.bus_id, "0000:5e:00");
	CHECK(parse("4,1,2,-;NVRM: Xid (PCI:0000:01:00): 43, pid='77', name=x, Ch 1\n", &x));
	CHECK_U64(x.pid, 77);
	CHECK(parse("4,1,2,-;NVRM: Xid (PCI:0000:01:00): 62\n", &x));
	CHECK_STR(x.text, "");
	return 0;
}

TEST(xid_of_anybody_but_the_kernel_is_forged)
{
	struct xid x;

	/* Facility 1: written to /dev/kmsg by a process, which cannot have 0. */
	CHECK(!parse("11,1,2,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1\n", &x));
	/* A process that has chosen its name, in a line of the kernel. */
	CHECK(!parse("6,1,2,-;NVRM: Xid (PCI:[77]: segfault at 0 ip 0 sp 0 error 4\n", &x));
	CHECK(!parse("6,1,2,-;foo: NVRM: Xid (PCI:0000:1b:00): 79, x\n", &x));
	CHECK(!parse("6,1,2,-;x\n NVRM: Xid (PCI:0000:1b:00): 79, x\n", &x));
	/* A name behind the pid cannot say another. */
	CHECK(parse("3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=5, name=pid=6, Ch 1\n", &x));
	CHECK_U64(x.pid, 5);
	return 0;
}

TEST(xid_refuses_lines_that_are_cut_or_crooked)
{
	static const char line[] = "3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=12";
	struct xid x;

	for (size_t n = 0; n < sizeof(line) - 12; n++)
		CHECK(!xid_parse_kmsg(line, n, &x));
	CHECK(!parse("3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 99999, x\n", &x));
	CHECK(!parse("3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 31x\n", &x));
	CHECK(!parse("3,1,2,-;NVRM: Xid (PCI:zz): 31, x\n", &x));
	CHECK(!parse("3;NVRM: Xid (PCI:0000:1b:00): 31, x\n", &x));
	CHECK(!parse("", &x));
	CHECK(!parse(";", &x));
	return 0;
}

TEST(xid_text_cannot_drive_a_terminal)
{
	struct xid x;

	CHECK(parse("3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 13, name=\x1b[31mred\n", &x));
	CHECK_STR(x.text, "name=\\x1b[31mred");
	return 0;
}

TEST(xid_of_the_tracepoint_is_the_same_as_that_of_the_log)
{
	struct xid log, event;

	CHECK(parse("3,1,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=12, name=x, Ch 8\n", &log));
	CHECK(xid_parse("0000:1b:00.0", 31, "pid=12, name=x, Ch 8", &event));
	CHECK_STR(event.text, log.text);
	CHECK(xid_same(&log, &event));
	event.at_ns = 3000000000ull; /* another one, later */
	CHECK(!xid_same(&log, &event));
	CHECK(xid_parse("0000:1b:00.0", 13, "", &event));
	CHECK(!xid_same(&log, &event));
	CHECK(!xid_parse("junk", 13, "", &event));
	return 0;
}

TEST(xid_that_both_sources_tell_is_told_once)
{
	static struct xid_memory m;
	struct xid a = { .at_ns = 10000000000ull, .code = 31, .pid = 12, .bus_id = "0000:1b:00" };
	struct xid b = a;

	memset(&m, 0, sizeof(m));
	b.at_ns += 90000000; /* the log is read a little later */
	CHECK(xid_is_new(&m, &a, XID_TRACEPOINT));
	CHECK(xid_is_new(&m, &a, XID_TRACEPOINT)); /* twice by one source: it happened twice */
	CHECK(!xid_is_new(&m, &b, XID_LOG));
	CHECK(!xid_is_new(&m, &b, XID_LOG));
	CHECK(xid_is_new(&m, &b, XID_LOG)); /* a third one */
	CHECK(!xid_is_new(&m, &a, XID_TRACEPOINT));
	b.code = 13;
	CHECK(xid_is_new(&m, &b, XID_LOG));
	for (int i = 0; i < 2 * XID_KEPT; i++) { /* more than it keeps */
		a.at_ns += 10000000000ull;
		CHECK(xid_is_new(&m, &a, XID_LOG));
		CHECK(!xid_is_new(&m, &a, XID_TRACEPOINT));
	}
	return 0;
}

TEST(gpu_bus_ids_are_compared_whatever_their_form)
{
	CHECK(gpu_bus_same("00000000:1B:00.0", "0000:1b:00"));
	CHECK(!gpu_bus_same("00000000:1B:00.0", "0000:1c:00"));
	CHECK(!gpu_bus_same("00000001:1B:00.0", "0000:1b:00"));
	CHECK(!gpu_bus_same("", ""));
	return 0;
}

TEST(xid_words_has_a_word_for_everything)
{
	static const uint32_t common[] = { 13, 31, 32, 43, 45, 48, 61, 62,  63, 64,
					   68, 69, 74, 79, 92, 94, 95, 119, 120 };

	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		CHECK_U64(xid_words(common[i])->code, common[i]);
	CHECK(strstr(xid_words(4711)->what, "not in our table"));
	return 0;
}

TEST(gpu_reason_words_says_what_the_special_bits_say)
{
	char text[160];

	CHECK_STR(gpu_reason_words(text, sizeof(text), 0, ~0ull), "");
	CHECK_STR(gpu_reason_words(text, sizeof(text), GPU_REASON_IDLE, GPU_REASONS_THROTTLE), "");
	CHECK_STR(gpu_reason_words(text, sizeof(text),
				   GPU_REASON_HW_THERMAL | GPU_REASON_HW_SLOWDOWN, ~0ull),
		  "too hot (hardware slowdown)");
	CHECK_STR(gpu_reason_words(text, 8, ~0ull, ~0ull), "too hot");
	return 0;
}

/* ---- the log ---- */

struct heard {
	int n, records;
	struct xid last;
};

static void on_record(const char *record, size_t len, void *arg)
{
	struct heard *h = arg;

	h->n += xid_parse_kmsg(record, len, &h->last);
	h->records++;
}

TEST(kmsg_hands_over_errors_and_nothing_else)
{
	static const char *const records[] = {
		"6,1,1,-;eth0: link up\n",
		"3,2,2,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=12, name=x, Ch 8\n",
		"11,3,3,-;NVRM: Xid (PCI:0000:1b:00): 79, forged\n",
		"3,4,4,c;NVRM: Xid (PCI:0000:1b:00): 45, pid=12, name=x, Ch 9\n SUBSYSTEM=pci\n",
	};
	struct heard h = { 0 };
	struct kmsg *k;
	int pair[2];

	/* As /dev/kmsg: a record is read as a whole. */
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
	k = kmsg_from(pair[0]);
	for (size_t i = 0; i < ARRAY_LEN(records); i++)
		(void)!write(pair[1], records[i], strlen(records[i]));
	CHECK(kmsg_poll(k, on_record, &h));
	CHECK(kmsg_poll(k, on_record, &h)); /* nothing new */
	kmsg_close(k);
	close(pair[1]);
	CHECK(h.n == 2 && h.records == 4);
	CHECK_U64(h.last.code, 45);
	return 0;
}

/* ---- the helper ---- */

static void ignore(const struct gpu_record *rec, void *arg)
{
	(void)rec;
	(void)arg;
}

/* Here is no such library: that is an answer, and the program is gone. */
TEST(gpu_helper_without_a_library_says_so_and_ends)
{
	struct gpu_helper_opts opts = { .library = "/nonexistent/libnvidia-ml.so.1" };
	struct gpu_helper *h = gpu_helper_new(&opts);
	struct gpu_helper_status s = { 0 };
	int known, ready, pid, told;

	for (int i = 0; i < 100 && !s.known; i++) {
		struct pollfd wait = { gpu_helper_fd(h), POLLIN, 0 };

		gpu_helper_poll(h, clock_boot_ns(), ignore, NULL);
		gpu_helper_status(h, &s);
		if (!s.known)
			(void)poll(&wait, 1, 100);
	}
	known = s.known;
	ready = s.ready;
	pid = s.pid;
	told = strstr(s.text, "cannot be loaded") != NULL;
	gpu_helper_free(h);
	CHECK(known);
	CHECK(!ready);
	CHECK(told);
	CHECK(pid == 0);
	CHECK_U64(s.crashes + s.hangs + s.garbage, 0);
	return 0;
}
