// SPDX-License-Identifier: Apache-2.0
#include "tenant/kubelet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "tenant/json.h"

#define ANSWER_MAX (16u << 20)
#define PODS_MAX 4096
#define CONTAINERS_MAX 256 /* of a pod */
#define AGAIN_NS 5000000000ull /* between two questions */
#define PATIENCE_NS 5000000000ull /* for one answer */

/* ---- what it says ---- */

const char *kubelet_body(const char *answer, size_t len, size_t *ret_len)
{
	const char *end;

	if (len < 12 || strncmp(answer, "HTTP/1.", 7) != 0 || strncmp(answer + 8, " 200", 4) != 0)
		return NULL;
	end = memmem(answer, len, "\r\n\r\n", 4);
	if (!end)
		return NULL;
	*ret_len = len - (size_t)(end + 4 - answer);
	return end + 4;
}

/* "containerd://4f2a..." is the one that is looked for. */
static bool is_container(struct json_value status, const struct tenant *t)
{
	char id[128] = "";
	const char *at;

	json_take(status, "containerID", id, sizeof(id));
	at = strstr(id, "://");
	return at && t->container_id[0] && streq(at + 3, t->container_id);
}

static bool find_container(struct json_value pod, struct tenant *t)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
					     "ephemeralContainerStatuses" };
	struct json_value status, list, one;

	if (!json_member(pod, "status", &status))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		bool more = json_member(status, lists[i], &list) && json_first(list, &one);

		for (int n = 0; more && n < CONTAINERS_MAX; n++, more = json_next(&one)) {
			if (!is_container(one, t))
				continue;
			json_take(one, "name", t->name, sizeof(t->name));
			json_take(one, "image", t->image, sizeof(t->image));
			return true;
		}
	}
	return false;
}

/* A pod that was made from a file has another uid in its path than in the list: its containers tell it. */
static bool is_pod(struct json_value pod, struct tenant *t)
{
	struct json_value meta;
	char uid[sizeof(t->pod_uid)] = "";
	bool found;

	if (!json_member(pod, "metadata", &meta))
		return false;
	json_take(meta, "uid", uid, sizeof(uid));
	found = find_container(pod, t) || (t->pod_uid[0] && streq(uid, t->pod_uid));
	if (found) {
		json_take(meta, "namespace", t->namespace, sizeof(t->namespace));
		json_take(meta, "name", t->pod, sizeof(t->pod));
	}
	return found;
}

bool kubelet_find(const char *text, size_t len, struct tenant *t)
{
	struct json_value items, pod;
	bool more;

	if (t->claimed || (!t->container_id[0] && !t->pod_uid[0]))
		return false;
	more = json_member(json_text(text, len), "items", &items) && json_first(items, &pod);
	for (int n = 0; more && n < PODS_MAX; n++, more = json_next(&pod))
		if (is_pod(pod, t))
			return true;
	return false;
}

/* ---- asking ---- */

struct address {
	struct sockaddr_storage to;
	socklen_t len;
};

struct kubelet {
	struct address at;
	char question[192];
	int fd; /* -1: none is under way */
	uint64_t since_ns; /* asked last */
	size_t sent;
	bool wanted, told;
	char *coming, *answer; /* the answer's text, while it comes; the last whole one */
	size_t coming_len, answer_len, cap;
	uint64_t answers;
};

static bool read_address(const char *url, struct address *ret, char *host, size_t cap)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ret->to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ret->to;
	const char *at = url + 7, *colon = strrchr(url, ':');
	char *end = NULL;
	unsigned long port;

	*ret = (struct address){ 0 };
	if (strncmp(url, "http://", 7) != 0 || !colon || colon <= at || (size_t)(colon - at) >= cap)
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (!end || end == colon + 1 || (*end && !streq(end, "/")) || !port || port > 65535)
		return false;
	snprintf(host, cap, "%.*s", (int)(colon - at), at);
	if (inet_pton(AF_INET, streq(host, "localhost") ? "127.0.0.1" : host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		ret->len = sizeof(*v4);
		return true;
	}
	if (host[0] != '[' || host[strlen(host) - 1] != ']')
		return false;
	host[strlen(host) - 1] = '\0';
	if (inet_pton(AF_INET6, host + 1, &v6->sin6_addr) != 1)
		return false;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	ret->len = sizeof(*v6);
	return true;
}

int kubelet_check(const char *url)
{
	struct address at;
	char host[64];

	if (read_address(url, &at, host, sizeof(host)))
		return 0;
	return fail(-EINVAL,
		    "--kubelet: '%s' is not http://ADDRESS:PORT: give the read-only port "
		    "(http://127.0.0.1:10255), or a proxy on this host; TLS is not spoken",
		    url);
}

struct kubelet *kubelet_new(const char *url)
{
	struct kubelet *k = xcalloc(1, sizeof(*k));
	char host[64];

	k->fd = -1;
	if (!read_address(url, &k->at, host, sizeof(host))) {
		free(k);
		return NULL;
	}
	/* Version 1.0: the answer comes in one piece, and ends with the connection. */
	snprintf(k->question, sizeof(k->question),
		 "GET /pods HTTP/1.0\r\nHost: %s\r\nAccept: application/json\r\n\r\n", url + 7);
	return k;
}

void kubelet_free(struct kubelet *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	free(k->coming);
	free(k->answer);
	free(k);
}

void kubelet_want(struct kubelet *k)
{
	k->wanted = true;
}

static void hang_up(struct kubelet *k)
{
	close(k->fd);
	k->fd = -1;
	free(k->coming);
	k->coming = NULL;
	k->coming_len = k->cap = 0;
}

/* Said once: a host without a kubelet stays one. */
static void give_up(struct kubelet *k, const char *what)
{
	hang_up(k);
	if (!k->told)
		log_warn("no names of pods from the kubelet: %s", what);
	k->told = true;
}

static void call(struct kubelet *k, uint64_t now)
{
	k->wanted = false;
	k->since_ns = now;
	k->sent = 0;
	k->fd = socket(k->at.to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (k->fd >= 0 && connect(k->fd, (struct sockaddr *)&k->at.to, k->at.len) &&
	    errno != EINPROGRESS)
		give_up(k, strerror(errno));
}

static void say(struct kubelet *k)
{
	size_t left = strlen(k->question) - k->sent;
	ssize_t n = send(k->fd, k->question + k->sent, left, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		k->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		give_up(k, strerror(errno));
}

static void keep_answer(struct kubelet *k)
{
	size_t len;

	if (!kubelet_body(k->coming, k->coming_len, &len)) {
		give_up(k, "its answer is no list of pods");
		return;
	}
	free(k->answer);
	k->answer = k->coming;
	k->answer_len = k->coming_len;
	k->coming = NULL;
	k->answers++;
	hang_up(k);
}

/* A piece of it. False: there is no more at the moment. */
static bool hear(struct kubelet *k)
{
	ssize_t n;

	if (k->cap - k->coming_len < 65536) {
		if (k->cap >= ANSWER_MAX) {
			give_up(k, "its answer is too long");
			return false;
		}
		k->cap = k->cap ? 2 * k->cap : 131072;
		k->coming = xrealloc(k->coming, k->cap, 1);
	}
	n = recv(k->fd, k->coming + k->coming_len, k->cap - k->coming_len, MSG_DONTWAIT);
	if (n > 0) {
		k->coming_len += (size_t)n;
		return true;
	}
	if (!n)
		keep_answer(k);
	else if (errno != EAGAIN && errno != EINTR)
		give_up(k, strerror(errno));
	return false;
}

void kubelet_poll(struct kubelet *k, uint64_t now_ns)
{
	if (k->fd < 0) {
		if (k->wanted && (!k->since_ns || now_ns - k->since_ns >= AGAIN_NS))
			call(k, now_ns);
		return;
	}
	if (now_ns - k->since_ns > PATIENCE_NS) {
		give_up(k, "it does not answer");
		return;
	}
	if (k->sent < strlen(k->question))
		say(k);
	if (k->fd < 0 || k->sent < strlen(k->question))
		return;
	for (int i = 0; i < 64 && hear(k); i++)
		;
}

uint64_t kubelet_answers(const struct kubelet *k)
{
	return k->answers;
}

bool kubelet_enrich(const struct kubelet *k, struct tenant *t)
{
	size_t len = 0;
	const char *body = k->answer ? kubelet_body(k->answer, k->answer_len, &len) : NULL;

	return body && kubelet_find(body, len, t);
}
