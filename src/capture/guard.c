// SPDX-License-Identifier: Apache-2.0
/* Read leases, and the thread that hears when one is to be given back. */
#include "capture/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"

struct guard {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	bool stop;
};

static void *listen_for_writers(void *arg)
{
	struct guard *g = arg;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	while (!sigwait(&set, &sig) && !__atomic_load_n(&g->stop, __ATOMIC_ACQUIRE))
		g->fn(g->arg); /* signals may have become one: it looks at all files */
	return NULL;
}

int guard_new(void (*fn)(void *arg), void *arg, struct guard **ret)
{
	struct guard *g = xcalloc(1, sizeof(*g));
	sigset_t all, io, old;
	int err;

	g->fn = fn;
	g->arg = arg;
	/* For good, in every thread that is still to come: what nobody waits for would end us. */
	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	pthread_sigmask(SIG_BLOCK, &io, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&g->thread, NULL, listen_for_writers, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		free(g);
		return fail(-err, "no thread to watch probed files: %s", strerror(err));
	}
	*ret = g;
	return 0;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	__atomic_store_n(&g->stop, true, __ATOMIC_RELEASE);
	pthread_kill(g->thread, SIGIO);
	pthread_join(g->thread, NULL);
	free(g);
}

int guard_take(int fd)
{
	return fcntl(fd, F_SETLEASE, F_RDLCK) ? -errno : 0;
}

bool guard_broken(int fd)
{
	return fcntl(fd, F_GETLEASE) != F_RDLCK;
}

void guard_release(int fd)
{
	(void)fcntl(fd, F_SETLEASE, F_UNLCK); /* also if there was none */
}
