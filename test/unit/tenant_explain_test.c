// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/tenants.c and explain/neighbours.c: who delayed whom, and who only seems to. */
#include <errno.h>

#include "explain/tenants.h"
#include "test/unit/explain_trace.h"

#define A "aaaa9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d3aaaa"
#define B "bbbb9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d3bbbb"
#define UID "0b1c2d3e-1111-2222-3333-444455556666"
#define DISK 7340033u

static int add(const char *cgroup, const char *namespace, const char *pod, const char *name)
{
	char identity[512], label[TENANT_LABEL_CAP];
	struct container_row row = { .cgroup = cgroup, .image = "" };
	struct tenant t;
	int64_t id;

	(void)tenant_parse(cgroup, &t);
	row.identity = tenant_identity(&t, identity, sizeof(identity));
	row.container_id = t.container_id;
	row.runtime = t.runtime;
	row.pod_uid = t.pod_uid;
	row.slurm_job = t.slurm_job;
	row.unit = t.unit;
	row.namespace = namespace;
	row.pod = pod;
	row.name = name;
	row.claimed = t.claimed;
	row.label = tenant_label(&t, label, sizeof(label));
	return store_container(store, 1, &row, &id);
}

static const struct facts nothing;

/* A finding of 1 s of a process in `cgroup`, by one in `by`. */
static struct finding *found(const char *cgroup, const char *by, uint64_t ns)
{
	struct finding *f;

	answer.finding = xrealloc(answer.finding, (size_t)answer.findings + 1, sizeof(*f));
	f = &answer.finding[answer.findings++];
	*f = (struct finding){ .cause = cause_name(CAUSE_cpu_contention),
			       .title = "CPU contention: etl had the CPU that python3 needed",
			       .lost_ns = SEC,
			       .pid = 10,
			       .first_ns = 100 * SEC,
			       .last_ns = 103 * SEC,
			       .culprits = 1 };
	str_copy(f->cgroup, sizeof(f->cgroup), cgroup);
	f->culprit[0] = (struct culprit){ .pid = 20, .comm = "etl", .ns = ns };
	str_copy(f->culprit[0].cgroup, sizeof(f->culprit[0].cgroup), by);
	return f;
}

static const char *tail(const struct finding *f)
{
	const char *at = strstr(f->title, "; ");

	return at ? at + 2 : "";
}

EXPLAIN_TEST(one_tenant_that_delays_another_is_named_with_it)
{
	struct finding *f;

	CHECK(!trace_run(store));
	CHECK(!add("/docker/" A, "", "", "trainer"));
	CHECK(!add("/kubepods/pod" UID "/" B, "ml", "ckpt-0", "saver"));
	CHECK(!tenants_load(store, &nothing, &answer));
	f = found("/docker/" A, "/kubepods/pod" UID "/" B "/docker/" A, 900 * MSEC);
	name_tenants(&answer);
	CHECK_STR(tail(f), "tenant ml/ckpt-0 (saver) delayed tenant trainer");
	CHECK(f->fixes == 1);
	CHECK(strstr(f->fix[0], "keep tenant ml/ckpt-0 (saver) off the CPUs of tenant trainer"));
	return 0;
}

EXPLAIN_TEST(the_host_and_its_units_are_named_as_such)
{
	CHECK(!trace_run(store));
	CHECK(!tenants_load(store, &nothing, &answer));
	(void)found("/docker/" A, "/system.slice/cron.service", SEC);
	(void)found("/docker/" A, "/", SEC);
	(void)found("/slurm/uid_1/job_81/step_0", "/docker/" B, SEC);
	name_tenants(&answer);
	CHECK_STR(tail(&answer.finding[0]), "cron.service of the host delayed tenant aaaa9c0e11d3");
	CHECK_STR(tail(&answer.finding[1]), "the host itself delayed tenant aaaa9c0e11d3");
	CHECK_STR(tail(&answer.finding[2]), "tenant bbbb9c0e11d3 delayed tenant job 81");
	return 0;
}

EXPLAIN_TEST(nobody_is_said_to_delay_another_without_reason)
{
	CHECK(!trace_run(store));
	CHECK(!tenants_load(store, &nothing, &answer));
	(void)found("/docker/" A, "/docker/" A "/inner", SEC); /* itself */
	(void)found("/docker/" A, "/docker/" B, 200 * MSEC); /* one of many */
	(void)found("/docker/" A, "", SEC); /* not known */
	(void)found("", "/docker/" B, SEC);
	(void)found("/system.slice/a.service", "/system.slice/b.service", SEC); /* all the host's */
	found("/docker/" A, "/docker/" B, SEC)->cause = cause_name(CAUSE_straggler);
	found("/docker/" A, "/docker/" B, SEC)->culprit[0].pid = PID_IRQ;
	found("/docker/" A, "/docker/" B, SEC)->culprit[0].pid = 10;
	name_tenants(&answer);
	for (int i = 0; i < answer.findings; i++) {
		CHECK_STR(tail(&answer.finding[i]), "");
		CHECK(!answer.finding[i].fixes);
	}
	return 0;
}

/* Its own processes took more, so that it is no story of two tenants. */
EXPLAIN_TEST(a_tenant_that_is_in_its_own_way_most_is_not_another_ones_victim)
{
	struct finding *f;

	CHECK(!trace_run(store));
	CHECK(!tenants_load(store, &nothing, &answer));
	f = found("/docker/" A, "/docker/" A, 550 * MSEC);
	f->culprit[1] = (struct culprit){ .pid = 30, .ns = 400 * MSEC, .cgroup = "/docker/" B };
	f->culprits = 2;
	name_tenants(&answer);
	CHECK_STR(tail(f), "");
	f->culprit[2] = (struct culprit){ .pid = 31, .ns = 300 * MSEC, .cgroup = "/docker/" B };
	f->culprits = 3;
	name_tenants(&answer);
	CHECK_STR(tail(f), "tenant bbbb9c0e11d3 delayed tenant aaaa9c0e11d3");
	return 0;
}

EXPLAIN_TEST(only_one_container_is_left_when_it_is_asked_for)
{
	CHECK(!trace_run(store));
	CHECK(!add("/docker/" A, "", "", "trainer"));
	CHECK(!add("/docker/" B, "", "", "trainer"));
	CHECK(!tenants_load(store, &nothing, &answer));
	(void)found("/docker/" A, "/", SEC);
	(void)found("/docker/" B "/init", "/", SEC);
	CHECK(explain_only_container(&answer, "nobody") == -ENODATA);
	CHECK(strstr(why(-ENODATA),
		     "no container nobody in that time; there are trainer, trainer"));
	CHECK(explain_only_container(&answer, "trainer") == -EINVAL);
	CHECK(strstr(why(-EINVAL), "is not one"));
	CHECK(answer.findings == 2);
	CHECK(!explain_only_container(&answer, "bbbb"));
	CHECK(answer.findings == 1);
	CHECK_STR(answer.finding[0].cgroup, "/docker/" B "/init");
	return 0;
}

/* Who writes another's id below a unit of his own is not found in its place, nor in its way. */
EXPLAIN_TEST(a_container_is_found_whoever_else_claims_its_id)
{
#define CLAIM "/user.slice/user-7.slice/user@7.service/docker-" A ".scope"
	CHECK(!trace_run(store));
	CHECK(!add("/docker/" A, "", "", ""));
	CHECK(!add(CLAIM, "", "", ""));
	CHECK(!tenants_load(store, &nothing, &answer));
	CHECK(answer.tenants.count == 2);
	(void)found("/docker/" A, "/", SEC);
	(void)found(CLAIM, "/", SEC);
	CHECK(!explain_only_container(&answer, A));
	CHECK(answer.findings == 1);
	CHECK_STR(answer.finding[0].cgroup, "/docker/" A);
	return 0;
}

EXPLAIN_TEST(a_container_that_is_told_again_keeps_what_is_known)
{
	CHECK(!trace_run(store));
	CHECK(!add("/docker/" A, "", "", "trainer"));
	CHECK(!add("/docker/" A, "", "", ""));
	CHECK(!add("/docker/" A "/inner", "", "", ""));
	CHECK_STR(trace_ask(store, "SELECT count(*), name, text FROM container"
				   " JOIN string ON string.id = cgroup"),
		  "1|trainer|/docker/" A);
	return 0;
}

/* ---- disks ---- */

static struct disk_use use[8];

static struct facts with_uses(int n)
{
	return (struct facts){ .window = { 90 * SEC, 110 * SEC }, .disk_use = use, .disk_uses = n };
}

static struct finding *slow_file(void)
{
	struct finding *f = found("/docker/" A, "/docker/" A, SEC);

	f->cause = cause_name(CAUSE_disk_write);
	f->culprits = 0;
	f->chain.hops = 1;
	f->chain.hop[0].object = OBJECT_file;
	f->chain.hop[0].obj2 = DISK;
	return f;
}

static struct disk_use used(uint64_t at, uint64_t bytes, uint32_t dev, uint32_t pid,
			    const char *comm, const char *cgroup)
{
	struct disk_use ret = { .at_ns = at, .bytes = bytes, .dev = dev, .pid = pid };

	str_copy(ret.comm, sizeof(ret.comm), comm);
	str_copy(ret.cgroup, sizeof(ret.cgroup), cgroup);
	return ret;
}

EXPLAIN_TEST(who_gives_most_to_the_disk_of_a_slow_file_is_beside_it)
{
	struct facts facts = with_uses(4);
	struct finding *f = slow_file();

	use[0] = used(101 * SEC, 1 << 20, DISK, 10, "python3", "/docker/" A);
	use[1] = used(101 * SEC, 6 << 20, DISK, 21, "saver", "/docker/" B);
	use[2] = used(102 * SEC, 5 << 20, DISK, 22, "saver", "/docker/" B "/x");
	use[3] = used(102 * SEC, 99 << 20, DISK + 1, 23, "far", "/docker/" B);
	find_neighbour(&facts, &answer, f);
	CHECK(f->culprits == 1 && f->culprit[0].beside);
	CHECK_U64(f->culprit[0].pid, 21);
	CHECK_NEAR(f->culprit[0].share, 91.7, 0.1);
	CHECK(f->evidence == EVIDENCE_INFERRED);
	name_tenants(&answer);
	CHECK_STR(tail(f), "tenant bbbb9c0e11d3 delayed tenant aaaa9c0e11d3");
	CHECK(strstr(f->fix[0], "hold back tenant bbbb9c0e11d3 for tenant aaaa9c0e11d3"));
	return 0;
}

static int beside(int n)
{
	struct facts facts = with_uses(n);
	struct finding *f = slow_file();

	find_neighbour(&facts, &answer, f);
	return f->culprits;
}

/* On the host itself nobody says what belongs together but the name. */
EXPLAIN_TEST(another_program_of_the_host_is_beside_a_slow_file)
{
	struct facts facts;
	struct finding *f = slow_file();

	str_copy(f->cgroup, sizeof(f->cgroup), "/user.slice/user-7.slice/session-3.scope");
	use[0] = used(101 * SEC, 9 << 20, DISK, 21, "rsync",
		      "/user.slice/user-7.slice/session-3.scope");
	use[1] = used(101 * SEC, 2 << 20, DISK, f->pid, "",
		      "/user.slice/user-7.slice/session-3.scope");
	facts = with_uses(2);
	find_neighbour(&facts, &answer, f);
	CHECK(f->culprits == 1 && f->culprit[0].beside);
	CHECK_STR(f->culprit[0].comm, "rsync");
	f->culprits = 0;
	use[0].kernel = true; /* it may write what the loop has written */
	find_neighbour(&facts, &answer, f);
	CHECK(!f->culprits);
	str_copy(use[0].cgroup, sizeof(use[0].cgroup), "/limited"); /* of disks, perhaps its own */
	find_neighbour(&facts, &answer, f);
	CHECK(!f->culprits);
	memcpy(use[0].cgroup, use[1].cgroup, sizeof(use[0].cgroup));
	use[0].kernel = false;
	str_copy(f->comm, sizeof(f->comm), "rsync"); /* a worker of its own */
	find_neighbour(&facts, &answer, f);
	CHECK(!f->culprits);
	f->comm[0] = '\0';
	use[1].bytes = 99 << 20; /* it is its own doing */
	find_neighbour(&facts, &answer, f);
	CHECK(!f->culprits);
	return 0;
}

EXPLAIN_TEST(nobody_is_beside_a_slow_file_without_reason)
{
	/* little, itself, and what is nobody's */
	use[0] = used(101 * SEC, 1 << 20, DISK, 21, "saver", "/docker/" B);
	CHECK(!beside(1));
	use[0] = used(101 * SEC, 9 << 20, DISK, 11, "own", "/docker/" A "/x");
	CHECK(!beside(1));
	use[0] = used(101 * SEC, 9 << 20, DISK, 21, "saver", "/docker/" B);
	use[1] = used(101 * SEC, 19 << 20, DISK, 5, "kworker", "");
	CHECK(!beside(2));
	/* as much at all other times */
	for (int i = 0; i < 8; i++)
		use[i] = used((92 + 2ull * (unsigned)i) * SEC, 9 << 20, DISK, 21, "saver",
			      "/docker/" B);
	CHECK(!beside(8));
	/* at other times only */
	CHECK(!beside(4));
	return 0;
}
