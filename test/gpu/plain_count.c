// SPDX-License-Identifier: Apache-2.0
/*
 * A plain counting probe, to check the tracer against: one map increment per hit, nothing else,
 * attached to the same functions of one process. Counts until SIGINT, then prints them.
 *
 *   plain_count PID [launches|same|all [empty|session]]
 *
 * launches: only the driver's; same: where the tracer itself looks, none at both layers; the floors of
 * what it costs. empty: a program that does nothing; session: one that does nothing on entry and return,
 * on the driver's functions.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/elf.h"
#include "capture/insn.h"
#include "capture/libs.h"
#include "capture/link.h"
#include "capture/maps.h"

#define FUNC_GET_ATTACH_COOKIE 174
#define FUNC_MAP_LOOKUP 1

static struct links links;
static int pid, prog, sites_total;
static bool launches, same;
static enum attach_mode mode = ATTACH_MULTI;

/* key = cookie; v = lookup(map, &key); if (v) lock *v += 1; return 0 */
static int load(int map)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = FUNC_GET_ATTACH_COOKIE },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = 10, .src_reg = 0, .off = -4 },
		{ .code = BPF_DW, /* | BPF_LD | BPF_IMM, which are 0 */
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = FUNC_MAP_LOOKUP },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = 0,
		  .src_reg = 1,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type =
			    (enum bpf_attach_type)link_attach_type(ATTACH_MULTI, false));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "plain_count", "GPL", code, ARRAY_LEN(code),
			     &opts);
}

static int load_empty(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)link_attach_type(mode, true));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, ARRAY_LEN(code), &opts);
}

/* A session stands for what timing costs: at the driver, where each call comes by once. */
static bool is_wanted(int lib, const struct op *op)
{
	if (launches)
		return lib == LIB_CUDA && op->class == CLASS_LAUNCH;
	if (same && lib == LIB_CUDART)
		return op_timed(op->class) && !strstr(op->symbol, "cudaMemcpyAsync");
	return mode != ATTACH_SESSION || lib == LIB_CUDA;
}

static int on_map(const struct map_line *line, void *arg)
{
	struct attach how = { .mode = mode, .prog_fd = prog };
	struct lib_site found[OP_COUNT];
	struct site sites[OP_COUNT];
	char path[64];
	int id = line->exec ? maps_lib(line->path) : -1, fd, n, k = 0, err;

	(void)arg;
	if (id < 0)
		return 0;
	fd = maps_open(pid, line);
	n = fd < 0 ? 0 : lib_sites(fd, (enum op_lib)id, found);
	for (int i = 0; i < n; i++)
		if (found[i].class != INSN_REFUSED && is_wanted(id, &op_table[found[i].op]))
			sites[k++] = (struct site){ .offset = found[i].offset,
						    .cookie = (uint64_t)found[i].op };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = link_sites(&links, &how, path, sites, (size_t)k);
	if (err)
		fprintf(stderr, "plain_count: %s\n", why(err));
	sites_total += k;
	return 0;
}

static void on_signal(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct links *all[] = { &links };
	int map;

	if (argc < 2 || argc > 4)
		return 2;
	launches = argc > 2 && streq(argv[2], "launches");
	same = argc > 2 && streq(argv[2], "same");
	if (argc > 3 && streq(argv[3], "session"))
		mode = ATTACH_SESSION;
	pid = (int)strtol(argv[1], NULL, 10);
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "counts", 4, 8, OP_COUNT, NULL);
	prog = argc > 3 ? load_empty() : load(map);
	if (map < 0 || prog < 0) {
		fprintf(stderr, "plain_count: %s\n", strerror(errno));
		return 1;
	}
	sigaction(SIGINT, &act, NULL);
	maps_each(pid, on_map, NULL);
	fprintf(stderr, "plain_count: counting at %d sites\n", sites_total);
	pause();
	links_close(all, 1);
	for (uint32_t i = 0; i < OP_COUNT; i++) {
		uint64_t n = 0;

		bpf_map_lookup_elem(map, &i, &n);
		if (n)
			printf("%s %llu\n", op_table[i].symbol, (unsigned long long)n);
	}
	return 0;
}
