// SPDX-License-Identifier: Apache-2.0
/* io report: placeholder until the store has it. */
#include "base/fail.h"
#include "cmd/io.h"
#include <errno.h>
int io_report(const struct io_args *args)
{
	(void)args;
	return fail(-ENOSYS, "not yet");
}
