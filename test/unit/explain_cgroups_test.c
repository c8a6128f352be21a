// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/cgroups.c, and of what the contention rule makes of control groups and interrupts. */
#include "explain/explain_int.h"
#include "test/unit/scene.h"

static struct belonging belonging[] = {
	{ 100, AT(0), "/batch" },  { 101, AT(0), "/batch" }, { 102, AT(0), "/batch" },
	{ 103, AT(0), "/system" }, { 200, AT(1), "/old" },   { 200, AT(5), "/new" },
};

/* A second of which 400 ms were lost to these. */
static bool contended(struct second_blame *blame, int n, struct finding *ret)
{
	static struct scene sc;
	struct second *s;

	scene_init(&sc);
	sc.f.belonging = belonging;
	sc.f.belongings = ARRAY_LEN(belonging);
	s = scene_second(&sc, 0);
	loop_in(s, 400 * MS);
	in_gap(s, STATE_PREEMPTED, 400 * MS);
	s->blame = blame;
	s->blames = n;
	return scene_judge(&sc, rule_cpu_contention, ret);
}

TEST(a_cgroup_is_the_last_told_of_a_pid)
{
	struct facts f = { .belonging = belonging, .belongings = ARRAY_LEN(belonging) };

	CHECK_STR(facts_cgroup(&f, 100, AT(3)), "/batch");
	CHECK_STR(facts_cgroup(&f, 200, AT(4)), "/old");
	CHECK_STR(facts_cgroup(&f, 200, AT(5)), "/new");
	CHECK_STR(facts_cgroup(&f, 200, AT(0)), "/old"); /* told of later: better than nothing */
	CHECK_STR(facts_cgroup(&f, 99, AT(3)), "");
	CHECK_STR(facts_cgroup(&f, 150, AT(3)), "");
	CHECK_STR(facts_cgroup(&f, 201, AT(3)), "");
	return 0;
}

TEST(contention_by_many_processes_of_one_cgroup_names_the_cgroup)
{
	struct second_blame blame[] = { { 100, 3, "etl", 130 * MS },
					{ 101, 3, "etl", 130 * MS },
					{ 102, 3, "etl", 112 * MS },
					{ 103, 3, "sshd", 28 * MS } };
	struct finding f;

	CHECK(contended(blame, ARRAY_LEN(blame), &f));
	CHECK_STR(f.title,
		  "CPU contention: 3 processes of cgroup /batch had the CPU that python3 needed");
	CHECK(f.groups == 1); /* one process is no group */
	CHECK_STR(f.group[0].cgroup, "/batch");
	CHECK(f.group[0].processes == 3);
	CHECK_U64(f.group[0].ns, 372 * MS);
	CHECK_NEAR(f.group[0].share, 93, 1e-9);
	CHECK(strstr(f.fix[0], "hold back cgroup /batch as a whole"));
	CHECK(f.culprits == 4);
	return 0;
}

TEST(contention_by_one_process_names_it_and_not_its_cgroup)
{
	struct second_blame blame[] = { { 100, 3, "etl", 300 * MS }, { 101, 3, "etl", 100 * MS } };
	struct finding f;

	CHECK(contended(blame, ARRAY_LEN(blame), &f));
	CHECK_STR(f.title, "CPU contention: etl had the CPU that python3 needed");
	CHECK(f.groups == 1);
	return 0;
}

/* An idle CPU is nobody's fault, one that serves interrupts is. */
TEST(contention_tells_interrupts_from_an_idle_cpu)
{
	struct second_blame blame[] = { { PID_IRQ, 3, "interrupts", 250 * MS },
					{ 0, 3, "", 150 * MS } };
	struct finding f;

	CHECK(contended(blame, ARRAY_LEN(blame), &f));
	CHECK_U64(f.lost_ns, 250 * MS);
	CHECK(f.culprits == 1);
	CHECK(f.culprit[0].pid == PID_IRQ);
	CHECK_U64(f.culprit[0].cpus, 1 << 3);
	CHECK_STR(f.title, "CPU contention: interrupts took the CPU that python3 needed");
	CHECK(strstr(f.fix[0], "see whose interrupts come to CPU 3"));
	CHECK(!f.groups);
	return 0;
}

TEST(contention_by_the_kernel_thread_of_softirqs_is_by_interrupts)
{
	struct second_blame blame[] = { { 33, 3, "ksoftirqd/3", 400 * MS } };
	struct finding f;

	CHECK(contended(blame, ARRAY_LEN(blame), &f));
	CHECK(f.culprit[0].pid == 33);
	CHECK_STR(f.title, "CPU contention: interrupts took the CPU that python3 needed");
	CHECK(strstr(f.fix[0], "/proc/softirqs"));
	return 0;
}

TEST(the_container_of_a_cgroup_is_its_id_as_runtimes_print_it)
{
#define ID "4f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a"
	static const struct {
		const char *cgroup, *container;
	} row[] = {
		{ "/docker/" ID, "4f2a9c0e11d3" },
		{ "/system.slice/docker-" ID ".scope", "4f2a9c0e11d3" },
		{ "/kubepods.slice/kubepods-pod1234.slice/cri-containerd-" ID ".scope",
		  "4f2a9c0e11d3" },
		{ "/kubepods/burstable/pod0b1c/" ID, "4f2a9c0e11d3" },
		{ "/machine.slice/libpod-" ID ".scope/container", "4f2a9c0e11d3" },
		{ "/lxc/web1/init.scope", "web1" },
		{ "/lxc.payload.web2", "web2" },
		{ "/user.slice/user-0.slice/session-1.scope", "" },
		{ "/docker/" ID "00", "" }, /* too long to be an id */
		{ "/", "" },
		{ "", "" },
	};
	char got[64];

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		CHECK_STR(container_of(row[i].cgroup, got, sizeof(got)), row[i].container);
	return 0;
}
