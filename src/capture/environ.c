// SPDX-License-Identifier: Apache-2.0
/* The allow-list of environment variables: launchers' names for ranks, by preference. */
#include "capture/environ.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define READ_MAX (256u << 10) /* of an environment; what is behind that is not looked at */
#define RANK_MAX 99999999ll

/* The first that is there counts. Each launcher tells all of its own. */
static const struct {
	const char *rank, *local_rank, *world;
} launchers[] = {
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE" }, /* torchrun, DeepSpeed, and those that imitate it */
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE" }, /* MVAPICH */
	{ "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE" }, /* MPICH, Intel MPI and their kin */
	{ "PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_SIZE" }, /* Cray */
	{ "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE" }, /* jsrun */
	{ "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE" },
	/* Slurm's own before PMIx, which knows no world */
	{ "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS" },
	{ "PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE" },
};

/* The number that a variable is set to; -1: it is not set, or to something else. */
static int64_t number_of(const char *bytes, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (size_t at = 0; at < len;) {
		const char *var = bytes + at;
		size_t left = len - at, size = strnlen(var, left), digits = 0;
		int64_t value = 0;

		at += size + 1;
		if (size <= n || memcmp(var, name, n) != 0 || var[n] != '=')
			continue;
		for (size_t i = n + 1; i < size; i++, digits++) {
			if (var[i] < '0' || var[i] > '9' || value > RANK_MAX)
				return -1;
			value = value * 10 + (var[i] - '0');
		}
		return digits && value <= RANK_MAX ? value : -1;
	}
	return -1;
}

/* Under another name, too: where a launcher has had several for the same. */
static int64_t number_by(const char *bytes, size_t len, const char *name)
{
	static const struct {
		const char *name, *other;
	} also[] = { { "MPI_LOCALRANKID", "PMI_LOCAL_RANK" }, { "SLURM_NTASKS", "SLURM_NPROCS" } };
	int64_t value = number_of(bytes, len, name);

	for (size_t i = 0; value < 0 && i < ARRAY_LEN(also); i++)
		if (streq(name, also[i].name))
			value = number_of(bytes, len, also[i].other);
	return value;
}

void rank_env_parse(const char *bytes, size_t len, struct rank_env *ret)
{
	*ret = (struct rank_env){ -1, -1, -1, "" };
	for (size_t i = 0; i < ARRAY_LEN(launchers) && ret->rank < 0; i++) {
		ret->rank = number_of(bytes, len, launchers[i].rank);
		if (ret->rank < 0)
			continue;
		ret->from = launchers[i].rank;
		ret->local_rank = number_by(bytes, len, launchers[i].local_rank);
		ret->world = number_by(bytes, len, launchers[i].world);
		if (ret->world >= 0 && ret->rank >= ret->world)
			ret->world = -1; /* of something else */
	}
}

void rank_env_read(int pid, struct rank_env *ret)
{
	char path[40], *bytes;
	size_t len = 0;
	ssize_t got;
	int fd;

	*ret = (struct rank_env){ -1, -1, -1, "" };
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	bytes = xcalloc(1, READ_MAX);
	while (len < READ_MAX && (got = read(fd, bytes + len, READ_MAX - len)) > 0)
		len += (size_t)got;
	close(fd);
	rank_env_parse(bytes, len, ret);
	explicit_bzero(bytes, len); /* it may hold secrets */
	free(bytes);
}
