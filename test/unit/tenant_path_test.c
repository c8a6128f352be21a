// SPDX-License-Identifier: Apache-2.0
/* Tests of tenant/path.c: every form that a runtime, a kubelet, Slurm, ECS or systemd makes. */
#include <stdio.h>

#include "base/util.h"
#include "tenant/tenant.h"
#include "test/test.h"

#define ID "4f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a"
#define OTHER "bbbb9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d3bbbb"
#define UID "0b1c2d3e-1111-2222-3333-444455556666"
#define UID_ "0b1c2d3e_1111_2222_3333_444455556666"
#define HASH "0123456789abcdef0123456789abcdef"

struct form {
	const char *path, *id, *runtime, *pod_uid, *pod, *job, *unit;
	bool claimed;
};

static int check_form(const struct form *f)
{
	struct tenant t;

	(void)tenant_parse(f->path, &t);
	CHECK_STR(t.container_id, f->id);
	CHECK_STR(t.runtime, f->runtime);
	CHECK_STR(t.pod_uid, f->pod_uid);
	CHECK_STR(t.pod, f->pod);
	CHECK_STR(t.slurm_job, f->job);
	CHECK_STR(t.unit, f->unit);
	CHECK(t.claimed == f->claimed);
	return 0;
}

#define SCOPE(name) name "-" ID ".scope"
#define KUBE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/"

TEST(paths_of_containers_are_known_in_the_forms_of_both_drivers)
{
	static const struct form form[] = {
		{ "/docker/" ID, ID, "docker", "", "", "", "", false },
		{ "/docker/" ID "/init.scope", ID, "docker", "", "", "", "", false },
		{ "/system.slice/docker-" ID ".scope", ID, "docker", "", "", "", SCOPE("docker"),
		  false },
		{ KUBE "cri-containerd-" ID ".scope", ID, "containerd", UID, "", "",
		  SCOPE("cri-containerd"), false },
		{ KUBE "crio-" ID ".scope/container", ID, "cri-o", UID, "", "", SCOPE("crio"),
		  false },
		{ KUBE "docker-" ID ".scope", ID, "docker", UID, "", "", SCOPE("docker"), false },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", ID,
		  "cri-o", UID, "", "", SCOPE("crio-conmon"), false },
		{ "/kubepods/burstable/pod" UID "/" ID, ID, "", UID, "", "", "", false },
		{ "/kubepods/pod" UID "/crio-" ID, ID, "cri-o", UID, "", "", "", false },
		{ "/kubepods/besteffort/pod" HASH "/" ID, ID, "", HASH, "", "", "", false },
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  ID, "containerd", UID, "", "", SCOPE("cri-containerd"), false },
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
		  ".slice:cri-containerd:" ID,
		  ID, "containerd", UID, "", "", "containerd.service", false },
		{ "/system.slice:docker:" ID, ID, "docker", "", "", "", "", false },
		{ "/machine.slice/libpod-" ID ".scope/container", ID, "podman", "", "", "",
		  SCOPE("libpod"), false },
		{ "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" OTHER ".scope", OTHER,
		  "podman", "", "", "", "libpod-" OTHER ".scope", false },
		{ "/libpod_parent/libpod-" ID, ID, "podman", "", "", "", "", false },
		{ "/default/" ID, ID, "containerd", "", "", "", "", false },
		{ "/system.slice/nerdctl-" ID ".scope", ID, "containerd", "", "", "",
		  SCOPE("nerdctl"), false },
		{ "/ecs/" HASH "/" ID, ID, "ecs", "", HASH, "", "", false },
		{ "/ecs/" HASH "/" HASH "-1234567890", HASH "-1234567890", "ecs", "", HASH, "", "",
		  false },
		{ "/ecstasks.slice/ecstasks-" HASH ".slice/docker-" ID ".scope", ID, "docker", "",
		  HASH, "", SCOPE("docker"), false },
		{ "/lxc/web1/init.scope", "web1", "lxc", "", "", "", "", false },
		{ "/lxc.payload.web2/system.slice", "web2", "lxc", "", "", "", "", false },
		{ "/machine.slice/machine-deb\\x2d12.scope", "deb\\x2d12", "nspawn", "", "", "",
		  "machine-deb\\x2d12.scope", false },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "qemu\\x2d1\\x2dvm", "libvirt",
		  "", "", "", "machine-qemu\\x2d1\\x2dvm.scope", false },
		{ "/machine.slice/systemd-nspawn@web.service/payload", "web", "nspawn", "", "", "",
		  "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(form); i++)
		CHECK(!check_form(&form[i]));
	return 0;
}

TEST(paths_of_jobs_pods_and_units_are_known)
{
	static const struct form form[] = {
		{ "/slurm/uid_1000/job_81/step_0/task_0", "", "", "", "", "81", "", false },
		{ "/slurm_node1/uid_1000/job_81/step_batch", "", "", "", "", "81", "", false },
		{ "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "", "", "", "",
		  "4711", "slurmstepd.scope", false },
		{ "/system.slice/node1_slurmstepd.scope/job_5/step_0", "", "", "", "", "5",
		  "node1_slurmstepd.scope", false },
		{ "/kubepods/burstable/pod" UID, "", "", UID, "", "", "", false },
		{ "/system.slice/cron.service", "", "", "", "", "", "cron.service", false },
		{ "/user.slice/user-1000.slice/session-3.scope", "", "", "", "", "",
		  "session-3.scope", false },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", "", "", "",
		  "", "", "user@1000.service", false },
		{ "/somewhere/else", "", "", "", "", "", "", false },
		{ "/", "", "", "", "", "", "", false },
		{ "", "", "", "", "", "", "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(form); i++)
		CHECK(!check_form(&form[i]));
	return 0;
}

/* Whatever a tenant makes below its own root, it stays who it is. */
TEST(paths_of_a_tenants_own_making_do_not_make_it_another)
{
	static const struct form form[] = {
		{ "/docker/" ID "/docker/" OTHER, ID, "docker", "", "", "", "", false },
		{ "/docker/" ID "/kubepods/pod" UID "/" OTHER, ID, "docker", "", "", "", "",
		  false },
		{ KUBE "cri-containerd-" ID ".scope/slurm/uid_0/job_81", ID, "containerd", UID, "",
		  "", SCOPE("cri-containerd"), false },
		{ "/kubepods/pod" UID "/" ID "/pod" HASH "/" OTHER, ID, "", UID, "", "", "",
		  false },
		{ "/slurm/uid_1/job_7/docker/" OTHER, "", "", "", "", "7", "", false },
		/* A user's own units may hold containers of his, but these are his word only. */
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
		  ID, "podman", "", "", "", "user@1000.service", true },
		{ "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" UID "/" ID, ID, "",
		  "", "", "", "user@1000.service", true },
		{ "/user.slice/user-1000.slice/user@1000.service/slurm/uid_0/job_81", "", "", "",
		  "", "", "user@1000.service", false },
		{ "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" UID, "", "", "", "",
		  "", "user@1000.service", false },
		{ "/system.slice/app.service/docker-" ID ".scope", ID, "docker", "", "", "",
		  "app.service", true },
	};
	struct tenant real, claimed;
	char a[512], b[512];

	for (size_t i = 0; i < ARRAY_LEN(form); i++)
		CHECK(!check_form(&form[i]));
	(void)tenant_parse("/docker/" ID, &real);
	(void)tenant_parse("/user.slice/user@7.service/docker-" ID ".scope", &claimed);
	CHECK(strcmp(tenant_identity(&real, a, sizeof(a)),
		     tenant_identity(&claimed, b, sizeof(b))) != 0);
	CHECK_STR(tenant_label(&claimed, a, sizeof(a)), "4f2a9c0e11d3 of user@7.service");
	return 0;
}

TEST(paths_that_only_look_like_containers_are_none)
{
	static const char *const path[] = {
		"/docker/" ID "00",
		"/docker/4f2a9c0e11d3",
		"/docker-" ID ".scopes",
		"/docker-" ID "\x1b.scope",
		"/kubepods/podnonsense",
		"/slurm/job_",
		"/slurm/job_12x",
		"/job_81",
		"/docker/4F2A9C0E11D34F2A9C0E11D34F2A9C0E11D34F2A9C0E11D34F2A9C0E11D34F2A",
		("/pod" UID),
	};
	struct tenant t;

	for (size_t i = 0; i < ARRAY_LEN(path); i++) {
		CHECK(tenant_parse(path[i], &t) <= TENANT_UNIT);
		CHECK(!tenant_foreign(&t));
	}
	return 0;
}

TEST(paths_with_control_characters_are_harmless)
{
	struct tenant t;
	char label[TENANT_LABEL_CAP];

	(void)tenant_parse("/lxc/\x1b[2Jevil\n", &t);
	CHECK_STR(t.container_id, "\\x1b[2Jevil\\x0a");
	(void)tenant_parse("/a\x07/b\xff", &t);
	CHECK_STR(tenant_label(&t, label, sizeof(label)), "/a\\x07/b\\xff");
	return 0;
}

TEST(a_tenant_is_meant_by_its_id_its_name_its_pod_or_its_job)
{
	struct tenant t;
	char label[TENANT_LABEL_CAP];

	(void)tenant_parse("/kubepods/pod" UID "/" ID, &t);
	snprintf(t.namespace, sizeof(t.namespace), "%s", "ml");
	snprintf(t.pod, sizeof(t.pod), "%s", "train-0");
	snprintf(t.name, sizeof(t.name), "%s", "worker");
	CHECK_STR(tenant_label(&t, label, sizeof(label)), "ml/train-0 (worker)");
	CHECK(tenant_matches(&t, "4f2a9c"));
	CHECK(tenant_matches(&t, ID));
	CHECK(tenant_matches(&t, "worker"));
	CHECK(tenant_matches(&t, "train-0"));
	CHECK(tenant_matches(&t, "ml/train-0"));
	CHECK(tenant_matches(&t, UID));
	CHECK(!tenant_matches(&t, ""));
	CHECK(!tenant_matches(&t, "train"));
	CHECK(!tenant_matches(&t, "ml/train-1"));
	CHECK(!tenant_matches(&t, "a9c0e11d3"));
	(void)tenant_parse("/slurm/uid_1/job_81", &t);
	CHECK(tenant_matches(&t, "81"));
	CHECK_STR(tenant_label(&t, label, sizeof(label)), "job 81");
	return 0;
}

/* ---- lines of /proc/PID/cgroup ---- */

static const char *chosen(const char *lines)
{
	static char path[TENANT_PATH_CAP];
	char text[2048];

	snprintf(text, sizeof(text), "%s", lines);
	tenant_choose(text, path, sizeof(path));
	return path;
}

TEST(of_several_hierarchies_the_one_that_says_most_counts)
{
	/* version 2 alone */
	CHECK_STR(chosen("0::/system.slice/docker-" ID ".scope\n"),
		  "/system.slice/docker-" ID ".scope");
	/* version 1 and the hybrid form: the memory controller's */
	CHECK_STR(chosen("11:pids:/docker/" ID "\n4:memory:/docker/" ID "/x\n0::/\n"),
		  "/docker/" ID "/x");
	CHECK_STR(chosen("4:memory:/\n2:cpu,cpuacct:/docker/" ID "\n0::/\n"), "/docker/" ID);
	CHECK_STR(
		chosen("4:memory:/a\n1:name=systemd:/system.slice/b.service\n0::/system.slice/c.service\n"),
		"/system.slice/b.service");
	CHECK_STR(chosen("4:memory:/\n0::/docker/" ID "\n"), "/docker/" ID);
	CHECK_STR(chosen("4:memory:/a/b\n0::/\n"), "/a/b");
	CHECK_STR(chosen("4:memory:/\n0::/\n"), "/");
	CHECK_STR(chosen("0::/docker/" ID " (deleted)\n"), "/docker/" ID);
	CHECK_STR(chosen(""), "");
	CHECK_STR(chosen("nonsense\n::\n5:\n"), "");
	return 0;
}

TEST(the_hierarchies_of_a_host_are_told_by_its_lines)
{
	struct hierarchies h;

	tenant_hierarchies("0::/\n", &h);
	CHECK(h.unified && !h.v1);
	CHECK_STR(h.controller, "");
	tenant_hierarchies("9:name=systemd:/\n4:memory:/a\n1:cpu:/\n0::/\n", &h);
	CHECK(h.unified && h.v1);
	CHECK_STR(h.controller, "memory");
	tenant_hierarchies("3:cpu,cpuacct:/\n", &h);
	CHECK(!h.unified && h.v1);
	CHECK_STR(h.controller, "cpu");
	return 0;
}
