// SPDX-License-Identifier: Apache-2.0
/* nvcc's stubs: which kernel is it that a handle stands for? See native_stubs(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "native/native_int.h"

#define CODE_MAX 192 /* bytes before the call: its arguments are loaded there */
#define LOADS_TRIED 16

size_t stub_loads(const uint8_t *code, size_t len, uint64_t end, uint64_t *ret, size_t cap)
{
	size_t n = 0;

	for (size_t left = 7; left <= len && n < cap; left++) {
		const uint8_t *at = code + len - left;
		int32_t distance;

		/* mov DISTANCE(%rip), %r64 */
		if ((at[0] != 0x48 && at[0] != 0x4c) || at[1] != 0x8b || (at[2] & 0xc7) != 0x05)
			continue;
		memcpy(&distance, at + 3, sizeof(distance));
		ret[n++] = end - left + 7 + (uint64_t)(int64_t)distance;
	}
	return n;
}

/*
 * nvcc has symbols of its own for lambdas, which no demangler knows: then the name alone, without what
 * it is a template of. False: it does not begin as a symbol does.
 */
static bool short_name(const char *symbol, char *dst, size_t cap)
{
	const char *s = symbol + 2;
	size_t used = 0;

	if (!starts_with(symbol, "_Z"))
		return false;
	s += *s == 'N'; /* nested */
	for (;;) {
		unsigned long len;
		char *end;

		s += *s == 'L'; /* static */
		if (*s < '1' || *s > '9')
			break;
		len = strtoul(s, &end, 10);
		if (len > strlen(end))
			return false;
		used += (size_t)snprintf(dst + used, cap - used, "%s%.*s", used ? "::" : "",
					 (int)len, end);
		if (used >= cap)
			return false;
		s = end + len;
	}
	if (used && *s == 'I')
		snprintf(dst + used, cap - used, "<...>");
	return used;
}

bool stub_kernel(const char *symbol, char *dst, size_t cap)
{
	static const char before[] = "_ZZ", behind[] = "E8__handle", mark[] = "__device_stub_";
	size_t len = strlen(symbol), tail = sizeof(behind) - 1;
	char inner[SYMBOL_CAP], plain[SYMBOL_CAP];

	if (!starts_with(symbol, before) || len < sizeof(before) - 1 + tail ||
	    len >= sizeof(inner) || !streq(symbol + len - tail, behind))
		return false;
	snprintf(inner, sizeof(inner), "_%.*s", (int)(len - 2 - tail), symbol + 2);
	names_demangle(inner, plain, sizeof(plain));
	if (!starts_with(plain, mark)) {
		str_copy(dst, cap, plain);
		return plain[0] && !streq(plain, inner);
	}
	/* Its own name has the kernel's symbol in it. */
	memmove(plain, plain + sizeof(mark) - 1, strlen(plain + sizeof(mark) - 1) + 1);
	plain[strcspn(plain, "(")] = '\0';
	names_demangle(plain, dst, cap);
	return !streq(dst, plain) || short_name(plain, dst, cap);
}

bool stub_variable(uint32_t pid, const struct native_stub *stub, uint64_t *ret)
{
	uint64_t load[LOADS_TRIED], value;
	uint8_t code[CODE_MAX];
	size_t n;

	if (stub->site < sizeof(code) ||
	    !file_read_memory(pid, stub->site - sizeof(code), code, sizeof(code)))
		return false;
	n = stub_loads(code, sizeof(code), stub->site, load, LOADS_TRIED);
	for (size_t i = 0; i < n; i++) {
		*ret = load[i];
		if (file_read_memory(pid, load[i], &value, sizeof(value)) && value == stub->handle)
			return true;
	}
	return false;
}
