// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "tenant/kubelet.h"
#include "test/test.h"

#define ID "4f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a"
#define UID "8a6ab1f2-0c1d-4f5e-9a77-1c2d3e4f5a6b"
#define LIST                                                                                       \
	"{\"kind\":\"PodList\",\"items\":["                                                        \
	"{\"metadata\":{\"name\":\"dns-1\",\"namespace\":\"kube-system\",\"uid\":\"other\"},"      \
	"\"status\":{\"containerStatuses\":[{\"name\":\"dns\",\"containerID\":\"cri-o://00\"}]}}," \
	"{\"metadata\":{\"name\":\"train-0\",\"namespace\":\"ml\",\"uid\":\"" UID "\"},"           \
	"\"status\":{\"initContainerStatuses\":[{\"name\":\"fetch\"}],"                            \
	"\"containerStatuses\":[{\"name\":\"worker\",\"image\":\"torch:2.11\","                    \
	"\"containerID\":\"containerd://" ID "\"}]}}]}"

TEST(kubelet_names_a_container_by_its_id)
{
	struct tenant t = { .container_id = ID };

	CHECK(kubelet_find(LIST, strlen(LIST), &t));
	CHECK_STR(t.namespace, "ml");
	CHECK_STR(t.pod, "train-0");
	CHECK_STR(t.name, "worker");
	CHECK_STR(t.image, "torch:2.11");
	return 0;
}

TEST(kubelet_names_a_pod_by_its_uid)
{
	struct tenant t = { .container_id = "77", .pod_uid = UID };

	CHECK(kubelet_find(LIST, strlen(LIST), &t));
	CHECK_STR(t.pod, "train-0");
	CHECK_STR(t.name, "");
	return 0;
}

TEST(kubelet_knows_nothing_of_others)
{
	struct tenant other = { .container_id = "77" }, none = { 0 };
	struct tenant claims = { .container_id = ID, .unit = "user@7.service", .claimed = true };

	CHECK(!kubelet_find(LIST, strlen(LIST), &other) && !other.namespace[0]);
	CHECK(!kubelet_find(LIST, strlen(LIST), &none));
	CHECK(!kubelet_find(LIST, strlen(LIST), &claims));
	for (size_t len = 0; len < strlen(LIST); len++) { /* cut off anywhere */
		struct tenant t = { .container_id = ID };

		(void)kubelet_find(LIST, len, &t);
	}
	return 0;
}

TEST(kubelet_urls_are_plain_http_to_an_address)
{
	static const char *const good[] = { "http://127.0.0.1:10255", "http://localhost:8001",
					    "http://[::1]:10255", "http://10.0.0.7:10255/" };
	static const char *const bad[] = { "",
					   "127.0.0.1:10255",
					   "https://127.0.0.1:10250",
					   "http://127.0.0.1",
					   "http://127.0.0.1:",
					   "http://127.0.0.1:0",
					   "http://127.0.0.1:70000",
					   "http://node-7:10255",
					   "http://:10255",
					   "http://[::1:10255",
					   "http://127.0.0.1:10255/pods?x" };

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		CHECK(!kubelet_check(good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(kubelet_check(bad[i]) == -EINVAL);
	CHECK(strstr(why(-EINVAL), "http://127.0.0.1:10255"));
	return 0;
}

/* ---- one that listens ---- */

struct server {
	int fd;
	char url[64];
};

static bool serve(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, sizeof(at)) || listen(s->fd, 4) ||
	    getsockname(s->fd, (struct sockaddr *)&at, &len))
		return false;
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", ntohs(at.sin_port));
	return true;
}

/* Takes the question, says `text`, and hangs up. */
static bool answer(const struct server *s, struct kubelet *k, uint64_t *now, const char *text)
{
	char question[512] = "";
	int fd;

	kubelet_want(k);
	kubelet_poll(k, *now += 6000000000ull);
	kubelet_poll(k, *now);
	fd = accept(s->fd, NULL, NULL);
	if (fd < 0 || read(fd, question, sizeof(question) - 1) <= 0 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return false;
	close(fd);
	for (int i = 0; i < 100; i++) {
		kubelet_poll(k, *now);
		usleep(1000);
	}
	return starts_with(question, "GET /pods HTTP/1.0\r\n");
}

TEST(kubelet_is_asked_without_waiting_for_it)
{
	struct tenant t = { .container_id = ID };
	uint64_t now = clock_boot_ns();
	struct server s = { 0 };
	struct kubelet *k;

	CHECK(serve(&s));
	k = kubelet_new(s.url);
	CHECK(k);
	CHECK(!kubelet_enrich(k, &t));
	CHECK(answer(&s, k, &now, "HTTP/1.0 401 Unauthorized\r\n\r\n" LIST));
	CHECK(kubelet_answers(k) == 0 && !kubelet_enrich(k, &t));
	CHECK(answer(&s, k, &now, "HTTP/1.0 200 OK\r\nContent-Type: x\r\n\r\n" LIST));
	CHECK(kubelet_answers(k) == 1 && kubelet_enrich(k, &t));
	CHECK_STR(t.pod, "train-0");
	CHECK(answer(&s, k, &now, "SSH-2.0-x\r\n"));
	CHECK(kubelet_answers(k) == 1); /* the last good one stays */
	/* It accepts, and says nothing: given up after a while, and asked again. */
	kubelet_want(k);
	for (int i = 0; i < 20; i++)
		kubelet_poll(k, now += 1000000000ull);
	CHECK(kubelet_answers(k) == 1);
	close(s.fd);
	for (int i = 0; i < 20; i++) { /* nobody listens there */
		kubelet_want(k);
		kubelet_poll(k, now += 1000000000ull);
	}
	CHECK(kubelet_answers(k) == 1);
	kubelet_free(k);
	return 0;
}
