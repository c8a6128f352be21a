// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_host.c and store/read_host.c: events, the host by the second, incidents. */
#include <errno.h>
#include <inttypes.h>

#include "test/unit/store_trace.h"

static int copy_event(const struct host_event_row *row, void *arg)
{
	CHECK_STR(row->event, "retransmit");
	CHECK_STR(row->comm, "0123456789abcdef");
	*(struct host_event_row *)arg = *row;
	return 0;
}

STORE_TEST(store_keeps_a_host_event_exactly)
{
	struct host_key key = { HOST_retransmit, 4821, UINT64_MAX };
	struct host_count count = {
		.first_ns = 30, .last_ns = 40, .count = 50, .ns = 60, .value = 70
	};
	struct host_event_row got = { 0 };

	memcpy(count.comm, "0123456789abcdef", COMM_LEN); /* all of it: no NUL */
	CHECK(!trace_run(store));
	CHECK(!store_host_event(store, &key, &count, "10.0.0.2:9000", "/a"));
	if (store_each_host_event(store, (struct window){ 0, 0 }, copy_event, &got))
		return 1;
	CHECK_U64(got.pid, 4821);
	CHECK_U64(got.first_ns, BOOT_NS + 30);
	CHECK_U64(got.at_ns, BOOT_NS + 40);
	CHECK_U64(got.count, 50);
	CHECK_U64(got.ns, 60);
	CHECK_U64(got.obj, UINT64_MAX);
	CHECK_U64(got.value, 70);
	CHECK_STR(trace_ask(store, "SELECT run, n.text, g.text FROM host_event"
				   " JOIN string n ON n.id=name JOIN string g ON g.id=cgroup"),
		  "1|10.0.0.2:9000|/a");
	return 0;
}

static int list_events(const struct host_event_row *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 40, " %s", row->event);
	return 0;
}

STORE_TEST(store_names_every_host_event_and_refuses_others)
{
	struct host_key key = { 0 };
	struct host_count count = { 0 };
	char got[256] = "";

	CHECK(!trace_run(store));
	for (key.event = 0; key.event < HOST_COUNT; key.event++)
		CHECK(!store_host_event(store, &key, &count, "10.0.0.2:9000", "/a"));
	CHECK(store_host_event(store, &key, &count, "10.0.0.2:9000", "/a") == -EBADMSG);
	key.event = UINT32_MAX;
	CHECK(store_host_event(store, &key, &count, "10.0.0.2:9000", "/a") == -EBADMSG);
	CHECK(!store_each_host_event(store, (struct window){ 0, 0 }, list_events, got));
	CHECK_STR(
		got,
		" exec exit fork oom_kill retransmit reclaim compaction block_io "
		"disk_slow disk_error disk_requeue bounce iommu_fault disk_timeout disk_reset pci_error");
	return 0;
}

/* It is of a window when any part of it is. */
STORE_TEST(store_windows_hold_the_host_events_that_reach_into_them)
{
	static const struct {
		struct window w;
		const char *events;
	} row[] = {
		{ { 0, 0 }, " fork exec oom_kill" },
		{ { BOOT_NS + 15, BOOT_NS + 15 }, " exec" },
		{ { BOOT_NS + 1, BOOT_NS + 10 }, " fork exec" },
		{ { BOOT_NS + 20, BOOT_NS + 29 }, " exec" },
		{ { BOOT_NS + 30, 0 }, " oom_kill" },
		{ { BOOT_NS + 31, 0 }, "" },
	};
	static const struct host_key key[] = { { .event = HOST_exec },
					       { .event = HOST_fork },
					       { .event = HOST_oom_kill } };
	static const struct host_count count[] = { { .first_ns = 10, .last_ns = 20 },
						   { .first_ns = 5, .last_ns = 5 },
						   { .first_ns = 30, .last_ns = 30 } };

	CHECK(!trace_run(store));
	for (size_t i = 0; i < ARRAY_LEN(key); i++)
		CHECK(!store_host_event(store, &key[i], &count[i], "10.0.0.2:9000", "/a"));
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		char got[128] = "";

		CHECK(!store_each_host_event(store, row[i].w, list_events, got));
		CHECK_STR(got, row[i].events);
	}
	return 0;
}

/* ---- the host by the second ---- */

static int copy_system(const struct system_info *row, void *arg)
{
	((struct system_info *)arg)[row->at_ns == BOOT_NS + 20] = *row;
	return 0;
}

static int same_system(const struct system_row *got, const struct system_row *want)
{
	CHECK_NEAR(got->busy_pct, want->busy_pct, 0);
	CHECK_NEAR(got->iowait_pct, want->iowait_pct, 0);
	CHECK_NEAR(got->steal_pct, want->steal_pct, 0);
	CHECK_NEAR(got->load1, want->load1, 0);
	CHECK(got->running == want->running);
	CHECK(got->blocked == want->blocked);
	CHECK(got->mem_total_kb == want->mem_total_kb);
	CHECK(got->mem_available_kb == want->mem_available_kb);
	CHECK(got->swap_used_kb == want->swap_used_kb);
	CHECK(got->swap_in_pages == want->swap_in_pages);
	CHECK(got->swap_out_pages == want->swap_out_pages);
	CHECK(got->major_faults == want->major_faults);
	CHECK(got->psi_cpu_us == want->psi_cpu_us);
	CHECK(got->psi_memory_us == want->psi_memory_us);
	CHECK(got->psi_io_us == want->psi_io_us);
	return 0;
}

STORE_TEST(store_keeps_the_host_by_the_second_exactly)
{
	struct system_row row = { 12.5, 0.1, 99.9, 3.25, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, INT64_MAX };
	struct system_row zero = { 0 };
	struct system_info got[2] = { 0 };

	CHECK(!trace_run(store));
	CHECK(!store_system_second(store, 10, &row));
	CHECK(!store_system_second(store, 20, &zero)); /* nothing is not unknown */
	CHECK(!store_each_system(store, (struct window){ 0, 0 }, copy_system, got));
	CHECK_U64(got[0].at_ns, BOOT_NS + 10);
	if (same_system(&got[0].row, &row) || same_system(&got[1].row, &zero))
		return 1;
	CHECK_STR(trace_ask(store, "SELECT * FROM system_second WHERE running=1"),
		  "1|1700000000000000010|12.5|0.1|99.9|1|2|3.25|3|4|5|6|7|8|9|10|"
		  "9223372036854775807");
	return 0;
}

STORE_TEST(store_keeps_what_the_host_does_not_tell_as_unknown)
{
	struct system_row none = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	struct system_row odd = { NAN, INFINITY, -INFINITY, -2, INT64_MIN, -7, -1, -1,
				  -1,  -1,       -1,        -1, -1,        -1, -1 };
	struct system_info got[2] = { 0 };

	CHECK(!trace_run(store));
	CHECK(!store_system_second(store, 10, &none));
	CHECK(!store_system_second(store, 20, &odd));
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM system_second WHERE coalesce(busy_pct,"
				   " iowait_pct, steal_pct, running, blocked, load1, mem_total_kb,"
				   " mem_available_kb, swap_used_kb, swap_in_pages,"
				   " swap_out_pages, major_faults, psi_cpu_us, psi_memory_us,"
				   " psi_io_us) IS NULL"),
		  "2");
	CHECK(!store_each_system(store, (struct window){ 0, 0 }, copy_system, got));
	return same_system(&got[0].row, &none) || same_system(&got[1].row, &none);
}

STORE_TEST(store_keeps_cores_by_the_second_exactly)
{
	CHECK(!trace_run(store));
	CHECK(!store_core_second(store, 10, 0, 99.5, 3200));
	CHECK(!store_core_second(store, 10, 1, 0, -1));
	CHECK(!store_core_second(store, 10, 2, -1, 3200)); /* nothing is known of it */
	CHECK(!store_core_second(store, 10, 3, NAN, 3200));
	CHECK_STR(trace_ask(store, "SELECT * FROM core_second ORDER BY cpu"),
		  "1|1700000000000000010|0|99.5|3200;1|1700000000000000010|1|0.0|-");
	return 0;
}

/* ---- incidents ---- */

static struct incident_row incident(void)
{
	return (struct incident_row){ .cause = "cpu_contention",
				      .comm = "python3",
				      .culprit = "stress-ng",
				      .title = "stress-ng takes the CPU",
				      .severity = "high",
				      .pid = 4821,
				      .culprit_pid = 4242,
				      .first_ns = 100,
				      .last_ns = 200,
				      .lost_ns = 50 };
}

#define INCIDENT_SQL                                                                               \
	"SELECT i.id, run, cause, pid, v.text, culprit_pid, c.text, t.text, severity, first_ns,"   \
	" last_ns, lost_ns FROM incident i JOIN string v ON v.id=comm"                             \
	" JOIN string c ON c.id=culprit JOIN string t ON t.id=title ORDER BY i.id"

STORE_TEST(store_keeps_an_incident_exactly)
{
	struct incident_row row = incident(), other = incident();

	CHECK(!trace_run(store));
	CHECK(!store_incident(store, &row));
	CHECK(row.id == 1);
	other.culprit_pid = 0;
	other.culprit = "";
	CHECK(!store_incident(store, &other));
	CHECK(other.id == 2);
	CHECK_STR(trace_ask(store, INCIDENT_SQL),
		  "1|1|cpu_contention|4821|python3|4242|stress-ng|stress-ng takes the CPU|high|"
		  "100|200|50;"
		  "2|1|cpu_contention|4821|python3|0||stress-ng takes the CPU|high|100|200|50");
	return 0;
}

STORE_TEST(store_incidents_only_grow)
{
	struct incident_row row = incident();

	CHECK(!trace_run(store));
	CHECK(!store_incident(store, &row));
	row.first_ns = 150;
	row.last_ns = 160;
	row.lost_ns = 10;
	CHECK(!store_incident(store, &row));
	CHECK_STR(trace_ask(store, "SELECT id, first_ns, last_ns, lost_ns FROM incident"),
		  "1|100|200|50");
	row.first_ns = 90;
	row.last_ns = 210;
	row.lost_ns = 60;
	row.severity = "low";
	row.title = "another";
	row.culprit = "bitcoind";
	row.culprit_pid = 77;
	row.cause = row.comm = "it stays what it was";
	row.pid = 1;
	CHECK(!store_incident(store, &row));
	CHECK(row.id == 1);
	CHECK_STR(trace_ask(store, INCIDENT_SQL),
		  "1|1|cpu_contention|4821|python3|77|bitcoind|another|low|90|210|60");
	return 0;
}

STORE_TEST(store_incident_that_is_gone_is_an_error)
{
	struct incident_row row = incident();

	CHECK(!trace_run(store));
	CHECK(!store_incident(store, &row));
	store_rollback(store);
	CHECK(store_incident(store, &row) == -ENOENT);
	CHECK(strstr(why(-ENOENT), "no incident 1"));
	row.id = 0;
	CHECK(!store_incident(store, &row));
	CHECK(row.id == 1);
	return 0;
}

static int list_incidents(const struct incident_row *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	CHECK_STR(row->cause, "cpu_contention");
	CHECK_STR(row->comm, "python3");
	CHECK_STR(row->culprit, "stress-ng");
	CHECK_STR(row->title, "stress-ng takes the CPU");
	CHECK_STR(row->severity, "high");
	CHECK(row->pid == 4821 && row->culprit_pid == 4242 && row->lost_ns == 50);
	snprintf(at, 60, " %" PRId64 ":%" PRIu64 "-%" PRIu64, row->id, row->first_ns, row->last_ns);
	return 0;
}

STORE_TEST(store_windows_hold_the_incidents_that_were_seen_in_them_oldest_first)
{
	static const struct {
		struct window w;
		const char *rows;
	} row[] = {
		{ { 0, 0 }, " 2:10-150 1:100-200 3:300-400" },
		{ { 150, 150 }, " 2:10-150 1:100-200" },
		{ { 201, 299 }, "" },
		{ { 200, 300 }, " 1:100-200 3:300-400" },
	};
	struct incident_row a = incident(), b = incident(), c = incident();

	CHECK(!trace_run(store));
	b.first_ns = 10;
	b.last_ns = 150;
	c.first_ns = 300;
	c.last_ns = 400;
	CHECK(!store_incident(store, &a) && !store_incident(store, &b) &&
	      !store_incident(store, &c));
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		char got[256] = "";

		if (store_each_incident(store, row[i].w, list_incidents, got))
			return 1;
		CHECK_STR(got, row[i].rows);
	}
	return 0;
}
