// SPDX-License-Identifier: Apache-2.0
/* Any text as a line of the socket table. */
#include "capture/names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(1, len + 1), name[32];
	uint64_t obj2 = 0;
	uint16_t port;
	int state;

	memcpy(text, data, len);
	state = names_tcp_line(text, &port);
	if (state < -1 || state > 255)
		abort();
	free(text);
	memcpy(&obj2, data, len < sizeof(obj2) ? len : sizeof(obj2));
	if (!strchr(names_tcp(obj2, name, sizeof(name)), ':'))
		abort();
	return 0;
}
