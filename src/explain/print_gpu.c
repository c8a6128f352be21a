// SPDX-License-Identifier: Apache-2.0
/* The GPUs in an explanation, in text and in JSON. */
#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "gpu/gpu.h"

#define ERRORS_SHOWN 8

/* ---- text ---- */

static void print_pct(const struct gpu_values *v, enum gpu_value id, const char *name, FILE *out)
{
	double pct = (double)v->value[id] / 1000;

	if (GPU_KNOWN(v, id))
		fprintf(out, "%s %.*f %%", name, pct < 10 && id != GPU_util_pct ? 1 : 0, pct);
	else
		fprintf(out, "%s not known", name);
}

/* "345 of 1,980 MHz": now, and what there is. */
static void print_of(const struct gpu_values *v, enum gpu_value now, enum gpu_value most,
		     uint64_t per, const char *unit, FILE *out)
{
	char a[UNITS_CAP], b[UNITS_CAP];

	if (!GPU_KNOWN(v, now))
		return;
	fprintf(out, ", %s", format_count(a, sizeof(a), (v->value[now] + per / 2) / per));
	if (GPU_KNOWN(v, most))
		fprintf(out, " of %s", format_count(b, sizeof(b), v->value[most] / per));
	fprintf(out, " %s", unit);
}

static void print_throttled(const struct gpu_summary *g, FILE *out)
{
	char words[160];

	if (g->throttled_pct < 0)
		fputs(", throttling not known", out);
	else if (g->throttled_pct > 0)
		fprintf(out, ", throttled %.0f %% of the time: %s", g->throttled_pct,
			gpu_reason_words(words, sizeof(words), g->reasons, GPU_REASONS_THROTTLE));
	else
		fputs(", not throttled", out);
}

static void print_gpu(const struct gpu_summary *g, FILE *out)
{
	const struct gpu_values *v = &g->values;
	char used[UNITS_CAP], total[UNITS_CAP], n[UNITS_CAP];

	fprintf(out, "GPU %u %s: ", g->index, g->name[0] ? g->name : "(no name)");
	print_pct(v, GPU_util_pct, "utilisation", out);
	print_pct(v, GPU_sm_active_pct, ", SMs active", out);
	print_pct(v, GPU_tensor_pct, ", tensor cores", out);
	print_pct(v, GPU_dram_pct, ", DRAM", out);
	fputs("\n  ", out);
	if (GPU_KNOWN(v, GPU_mem_used) && GPU_KNOWN(v, GPU_mem_total))
		fprintf(out, "%s of %s used",
			format_bytes(used, sizeof(used), v->value[GPU_mem_used]),
			format_bytes(total, sizeof(total), v->value[GPU_mem_total]));
	else
		fputs("memory not known", out);
	print_of(v, GPU_sm_mhz, GPU_sm_max_mhz, 1, "MHz", out);
	print_of(v, GPU_power_w, GPU_power_limit_w, 1000, "W", out);
	if (GPU_KNOWN(v, GPU_temp_c))
		fprintf(out, ", %llu C", (unsigned long long)v->value[GPU_temp_c]);
	print_throttled(g, out);
	if (g->new_replays)
		fprintf(out, ", %s PCIe replays", format_count(n, sizeof(n), g->new_replays));
	if (g->new_uncorrected)
		fprintf(out, ", %s uncorrectable memory errors",
			format_count(n, sizeof(n), g->new_uncorrected));
	putc('\n', out);
}

static void print_error(const struct gpu_error *e, FILE *out)
{
	char at[UNITS_CAP];

	fprintf(out, "GPU error at %s: Xid %u on %s: %s", format_clock(at, sizeof(at), e->at_ns),
		e->code, e->bus_id, xid_words(e->code)->what);
	if (e->pid)
		fprintf(out, ", pid %u%s%s", e->pid, e->comm[0] ? " " : "", e->comm);
	putc('\n', out);
}

void print_gpus(const struct explanation *e, FILE *out)
{
	for (int i = 0; i < e->gpu_errors && i < ERRORS_SHOWN; i++)
		print_error(&e->gpu_error[i], out);
	if (e->gpu_errors > ERRORS_SHOWN)
		fprintf(out, "  ... and %d more, see --json\n", e->gpu_errors - ERRORS_SHOWN);
	for (int i = 0; i < e->gpus; i++)
		print_gpu(&e->gpu[i], out);
	if (!e->gpus && e->run.gpu[0])
		fputs("GPU: nothing is known of its clocks and its load: NVML was not asked, or did "
		      "not answer\n",
		      out);
	if (e->gpus || e->gpu_errors || e->run.gpu[0])
		putc('\n', out);
}

/* ---- JSON ---- */

static const struct {
	const char *name;
	uint64_t per;
} values[GPU_VALUE_COUNT] = {
#define X(id, per, max) { #id, per },
	GPU_VALUES(X)
#undef X
};

static void json_gpu(struct json *j, const struct gpu_summary *g)
{
	char words[160];

	json_open(j, NULL, '{');
	json_u64(j, "gpu", g->index);
	json_str(j, "uuid", g->uuid);
	json_str(j, "name", g->name);
	json_str(j, "bus_id", g->bus_id);
	json_i64(j, "samples", g->samples);
	json_i64(j, "processes", g->processes);
	for (int i = 0; i < GPU_VALUE_COUNT; i++) {
		if (i == GPU_reasons)
			continue;
		if (!GPU_KNOWN(&g->values, i))
			json_null(j, values[i].name);
		else if (values[i].per == 1)
			json_u64(j, values[i].name, g->values.value[i]);
		else
			json_f64(j, values[i].name,
				 (double)g->values.value[i] / (double)values[i].per);
	}
	if (g->throttled_pct < 0)
		json_null(j, "throttled_pct");
	else
		json_f64(j, "throttled_pct", g->throttled_pct);
	json_u64(j, "reasons", g->reasons);
	json_str(j, "throttled_by",
		 gpu_reason_words(words, sizeof(words), g->reasons, GPU_REASONS_THROTTLE));
	json_u64(j, "new_pcie_replays", g->new_replays);
	json_u64(j, "new_ecc_corrected", g->new_corrected);
	json_u64(j, "new_ecc_uncorrected", g->new_uncorrected);
	json_close(j, '}');
}

void json_gpus(struct json *j, const struct explanation *e)
{
	json_open(j, "gpus", '[');
	for (int i = 0; i < e->gpus; i++)
		json_gpu(j, &e->gpu[i]);
	json_close(j, ']');
	json_open(j, "gpu_errors", '[');
	for (int i = 0; i < e->gpu_errors; i++) {
		const struct gpu_error *error = &e->gpu_error[i];

		json_open(j, NULL, '{');
		json_u64(j, "time_ns", error->at_ns);
		json_u64(j, "xid", error->code);
		json_str(j, "what", xid_words(error->code)->what);
		json_str(j, "bus_id", error->bus_id);
		json_u64(j, "pid", error->pid);
		json_str(j, "comm", error->comm);
		json_str(j, "text", error->text);
		json_close(j, '}');
	}
	json_close(j, ']');
}
