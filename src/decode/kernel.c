// SPDX-License-Identifier: Apache-2.0
/* Names of kernels, from the bytes of the ring. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "decode/decode.h"
#include "wire/kernels.h"

int decode_kernel_name(const void *bytes, size_t len, struct kernel_named *ret)
{
	struct kernel_name head;
	size_t name;

	if (len < sizeof(head))
		return fail(-EBADMSG, "a name of %zu bytes", len);
	memcpy(&head, bytes, sizeof(head));
	if (head.op >= OP_COUNT || head.len > len - sizeof(head) || head.len >= sizeof(ret->name))
		return fail(-EBADMSG, "a name of op %u and %u bytes in %zu", head.op, head.len,
			    len);
	name = strnlen((const char *)bytes + sizeof(head), head.len);
	if (!name || !head.handle)
		return fail(-EBADMSG, "an empty name");
	ret->pid = head.pid;
	ret->op = &op_table[head.op];
	ret->handle = head.handle;
	ret->cut = head.cut;
	memcpy(ret->name, (const char *)bytes + sizeof(head), name);
	ret->name[name] = '\0';
	return 0;
}
