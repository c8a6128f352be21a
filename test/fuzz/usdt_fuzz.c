// SPDX-License-Identifier: Apache-2.0
/* Any file: the places of a probe lie inside it. */
#include "capture/usdt.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(int cond)
{
	if (!cond)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct usdt_site sites[8];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), n;

	need(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	n = usdt_find(fd, "p", "n", sites, 8);
	need(n <= 8);
	for (int i = 0; i < n; i++) {
		need(sites[i].offset < len && sites[i].semaphore < len);
		for (int k = 0; k < i; k++)
			need(sites[k].offset != sites[i].offset);
	}
	close(fd);
	return 0;
}
