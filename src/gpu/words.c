// SPDX-License-Identifier: Apache-2.0
/* Why the clocks of a GPU are not higher, in words. */
#include <stdio.h>

#include "base/util.h"
#include "gpu/gpu.h"

static const struct {
	uint64_t bit;
	const char *text;
} reasons_said[] = {
	{ GPU_REASON_HW_THERMAL, "too hot (hardware slowdown)" },
	{ GPU_REASON_SW_THERMAL, "too hot (software slowdown)" },
	{ GPU_REASON_POWER_BRAKE, "power brake (power supply)" },
	{ GPU_REASON_HW_SLOWDOWN, "hardware slowdown" },
	{ GPU_REASON_POWER_CAP, "power limit" },
	{ GPU_REASON_SYNC_BOOST, "kept equal to other GPUs" },
	{ GPU_REASON_SETTING, "clocks set by somebody" },
	{ GPU_REASON_DISPLAY, "display clocks" },
	{ GPU_REASON_IDLE, "idle" },
};

char *gpu_reason_words(char *dst, size_t cap, uint64_t reasons, uint64_t mask)
{
	size_t at = 0;

	if (cap)
		dst[0] = '\0';
	/* The general bit comes with each of the special ones, which say more. */
	if (reasons & (GPU_REASON_HW_THERMAL | GPU_REASON_POWER_BRAKE))
		reasons &= ~(uint64_t)GPU_REASON_HW_SLOWDOWN;
	for (size_t i = 0; i < ARRAY_LEN(reasons_said) && at < cap; i++)
		if (reasons & mask & reasons_said[i].bit)
			at += (size_t)snprintf(dst + at, cap - at, "%s%s", at ? ", " : "",
					       reasons_said[i].text);
	return dst;
}
