/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of pods from the kubelet's own list, for hosts whose log files do not tell: only when asked for. Speaks
 * plain HTTP to its read-only port or to a proxy on this host, and never waits.
 */
#ifndef TENANT_KUBELET_H
#define TENANT_KUBELET_H

#include "tenant/tenant.h"

struct kubelet;

/* "http://ADDRESS:PORT". -EINVAL: it is something else, as why() says. */
int kubelet_check(const char *url);
/* NULL: kubelet_check() does not like it. */
struct kubelet *kubelet_new(const char *url);
void kubelet_free(struct kubelet *k);

/* Somebody has no name yet: ask soon. */
void kubelet_want(struct kubelet *k);

/* Goes on with what it can do at once; often enough, say ten times a second. */
void kubelet_poll(struct kubelet *k, uint64_t now_ns);

/* How many answers have come. */
uint64_t kubelet_answers(const struct kubelet *k);

/* Adds what the last answer says of it. False: nothing. */
bool kubelet_enrich(const struct kubelet *k, struct tenant *t);

/* The same of a list of pods as the kubelet sends it. Pure. */
bool kubelet_find(const char *text, size_t len, struct tenant *t);

/* The body of an answer; NULL: it is none that can be used. Pure. */
const char *kubelet_body(const char *answer, size_t len, size_t *ret_len);

#endif
