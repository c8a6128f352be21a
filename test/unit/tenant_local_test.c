// SPDX-License-Identifier: Apache-2.0
/* Tests of tenant/local.c and tenant/json.c: names of containers, and what must not be believed. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "tenant/json.h"
#include "tenant/tenant.h"
#include "test/test.h"

#define ID "4f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a"
#define OTHER "bbbb9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d3bbbb"
#define UID "0b1c2d3e-1111-2222-3333-444455556666"

struct host_dir {
	char path[32];
	int fd;
};

static struct host_dir host_dir(void)
{
	struct host_dir d = { .path = "/tmp/tenant_test.XXXXXX" };

	d.fd = mkdtemp(d.path) ? open(d.path, O_RDONLY | O_DIRECTORY) : -1;
	if (d.fd < 0)
		abort();
	return d;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void host_gone(struct host_dir *d)
{
	close(d->fd);
	nftw(d->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(struct host_dir *d, const char *path, const char *text)
{
	char dir[512];
	int fd;

	str_copy(dir, sizeof(dir), path);
	for (char *s = strchr(dir, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdirat(d->fd, dir, 0700);
		*s = '/';
	}
	fd = openat(d->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

TEST(names_of_a_pod_come_from_the_logs_of_the_kubelet)
{
	struct host_dir d = host_dir();
	struct tenant t;

	put(&d, "var/log/containers/coredns-x_kube-system_coredns-" OTHER ".log", "");
	put(&d, "var/log/containers/train-0_ml_worker-1-" ID ".log", "");
	put(&d, "var/log/pods/kube-system_coredns-x_11112d3e-1111-2222-3333-444455556666/x", "");
	put(&d, "var/log/pods/ml_train-0_" UID "/worker-1/0.log", "");
	(void)tenant_parse("/kubepods/burstable/pod" UID "/" ID, &t);
	CHECK(tenant_enrich(d.fd, &t));
	CHECK_STR(t.pod, "train-0");
	CHECK_STR(t.namespace, "ml");
	CHECK_STR(t.name, "worker-1");
	(void)tenant_parse("/kubepods/burstable/pod" UID, &t); /* the pod itself */
	CHECK(tenant_enrich(d.fd, &t));
	CHECK_STR(t.pod, "train-0");
	CHECK_STR(t.namespace, "ml");
	CHECK_STR(t.name, "");
	host_gone(&d);
	return 0;
}

TEST(names_of_docker_come_from_its_config)
{
	struct host_dir d = host_dir();
	struct tenant t;

	put(&d, "var/lib/docker/containers/" ID "/config.v2.json",
	    "{\"State\":{\"Name\":\"no\",\"x\":[1,{\"Name\":\"no\"}]},\"ID\":\"" ID "\","
	    "\"Config\":{\"Hostname\":\"h\",\"Env\":[\"A=\\\"}\"],\"Image\":\"nvcr.io/pytorch:24.01\","
	    "\"Labels\":{\"io.kubernetes.pod.name\":\"victim\"}},\"Name\":\"/train\\u001b[2J\"}");
	(void)tenant_parse("/docker/" ID, &t);
	CHECK(tenant_enrich(d.fd, &t));
	CHECK_STR(t.name, "train\\x1b[2J");
	CHECK_STR(t.image, "nvcr.io/pytorch:24.01");
	CHECK_STR(t.pod, ""); /* anybody can put labels on an image */
	host_gone(&d);
	return 0;
}

TEST(names_of_containerd_count_only_for_the_pod_of_the_path)
{
#define SPEC(uid)                                                                                     \
	"{\"ociVersion\":\"1.1.0\",\"annotations\":{\"io.kubernetes.cri.container-name\":\"worker\"," \
	"\"io.kubernetes.cri.image-name\":\"docker.io/x/y:1\",\"io.kubernetes.cri.sandbox-name\":"    \
	"\"train-0\",\"io.kubernetes.cri.sandbox-namespace\":\"ml\","                                 \
	"\"io.kubernetes.cri.sandbox-uid\":\"" uid "\"}}"
	static const char path[] =
		"run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json";
	struct host_dir d = host_dir();
	struct tenant t;

	put(&d, path, SPEC(UID));
	(void)tenant_parse("/kubepods/pod" UID "/" ID, &t);
	CHECK(tenant_enrich(d.fd, &t));
	CHECK_STR(t.runtime, "containerd");
	CHECK_STR(t.namespace, "ml");
	CHECK_STR(t.pod, "train-0");
	CHECK_STR(t.name, "worker");
	CHECK_STR(t.image, "docker.io/x/y:1");
	put(&d, path, SPEC("ffff2d3e-1111-2222-3333-444455556666"));
	(void)tenant_parse("/kubepods/pod" UID "/" ID, &t);
	(void)tenant_enrich(d.fd, &t);
	CHECK_STR(t.pod, "");
	CHECK_STR(t.namespace, "");
	host_gone(&d);
	return 0;
}

TEST(names_of_podman_come_from_its_storage)
{
	struct host_dir d = host_dir();
	struct tenant t;

	put(&d, "var/lib/containers/storage/overlay-containers/containers.json",
	    "[ {\"id\":\"" OTHER "\",\"names\":[\"no\"]},\n {\"id\":\"" ID
	    "\",\"names\":[\"train\",\"b\"],"
	    "\"metadata\":\"{\\\"image-name\\\":\\\"quay.io/x:2\\\"}\"} ]");
	(void)tenant_parse("/machine.slice/libpod-" ID ".scope", &t);
	CHECK(tenant_enrich(d.fd, &t));
	CHECK_STR(t.name, "train");
	CHECK_STR(t.image, "quay.io/x:2");
	host_gone(&d);
	return 0;
}

TEST(names_are_not_given_to_what_only_claims_an_id)
{
	struct host_dir d = host_dir();
	struct tenant t;

	put(&d, "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/victim\"}");
	(void)tenant_parse("/user.slice/user-1.slice/user@1.service/docker-" ID ".scope", &t);
	CHECK(!tenant_enrich(d.fd, &t));
	CHECK_STR(t.name, "");
	host_gone(&d);
	return 0;
}

TEST(names_are_empty_where_no_file_has_them_or_a_file_is_nonsense)
{
	static const char *const bad[] = { "",   "{",     "[]",   "{\"Name\":}",   "{\"Name\":7}",
					   "\"", "{\"Na", "null", "{\"Name\":\"/x" };
	struct host_dir d = host_dir();
	struct tenant t;

	(void)tenant_parse("/docker/" ID, &t);
	CHECK(!tenant_enrich(d.fd, &t));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put(&d, "var/lib/docker/containers/" ID "/config.v2.json", bad[i]);
		(void)tenant_parse("/docker/" ID, &t);
		(void)tenant_enrich(d.fd, &t);
		CHECK_STR(t.name, "");
	}
	CHECK(!symlinkat("/etc/passwd", d.fd, "var/lib/docker/containers/" ID "/link"));
	host_gone(&d);
	return 0;
}

static const char *string_at(const char *text, const char *key)
{
	static char got[64];
	struct json_value v;

	if (!json_member(json_text(text, strlen(text)), key, &v) ||
	    !json_string(v, got, sizeof(got)))
		return "(none)";
	return got;
}

TEST(json_members_are_found_past_everything_else)
{
	static const char text[] =
		" { \"a\\\"b\" : \"x\" , \"n\":-1.5e3,\"l\":[[{}],\"]\",null,true],"
		"\"o\":{\"k\":\"inner\"}, \"k\" :\"\\u00e4\\n\\/\\ud800\" } ";

	CHECK_STR(string_at(text, "k"), "\xc3\xa4\\x0a/?");
	CHECK_STR(string_at(text, "n"), "(none)");
	CHECK_STR(string_at(text, "x"), "(none)");
	CHECK_STR(string_at("{\"k\":\"1\",\"k\":\"2\"}", "k"), "1");
	CHECK_STR(string_at("{\"k\":\"\\x\"}", "k"), "(none)");
	CHECK_STR(string_at("{\"a\":{{\"k\":\"1\"}", "k"), "(none)");
	return 0;
}

TEST(json_that_is_too_deep_is_given_up)
{
	char text[512] = "{\"a\":";
	size_t at = strlen(text);

	memset(text + at, '[', 200);
	memset(text + at + 200, ']', 200);
	strncat(text, ",\"k\":\"v\"}", sizeof(text) - strlen(text) - 1);
	CHECK_STR(string_at(text, "k"), "(none)");
	return 0;
}
