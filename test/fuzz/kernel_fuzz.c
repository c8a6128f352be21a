// SPDX-License-Identifier: Apache-2.0
/* Records of the ring of kernel names: refused, or a name that is there and ends. */
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "native/native.h"
#include "wire/kernels.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct kernel_named named;
	char plain[600];
	size_t len;

	if (decode_kernel_name(data, size, &named))
		return 0;
	len = strnlen(named.name, sizeof(named.name));
	if (!len || len == sizeof(named.name) || len > size - sizeof(struct kernel_name) ||
	    !named.handle || named.op < &op_table[0] || named.op >= &op_table[OP_COUNT])
		abort();
	native_demangle(named.name, plain, sizeof(plain));
	if (strnlen(plain, sizeof(plain)) == sizeof(plain))
		abort();
	return 0;
}
