// SPDX-License-Identifier: Apache-2.0
/* Tests of capture/environ.c: ranks by launchers' variables, and by nothing else. */
#include "capture/environ.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"

#define PARSE(text, ret) rank_env_parse(text, sizeof(text) - 1, ret)

TEST(environ_reads_the_variables_of_each_launcher)
{
	struct rank_env e;

	PARSE("HOME=/x\0RANK=3\0LOCAL_RANK=1\0WORLD_SIZE=8\0SLURM_PROCID=9\0", &e);
	CHECK(e.rank == 3 && e.local_rank == 1 && e.world == 8);
	CHECK_STR(e.from, "RANK");
	PARSE("SLURM_NTASKS=16\0SLURM_PROCID=9", &e); /* the last one without its NUL */
	CHECK(e.rank == 9 && e.local_rank == -1 && e.world == 16);
	CHECK_STR(e.from, "SLURM_PROCID");
	PARSE("OMPI_COMM_WORLD_SIZE=4\0OMPI_COMM_WORLD_RANK=0\0OMPI_COMM_WORLD_LOCAL_RANK=0\0", &e);
	CHECK(e.rank == 0 && e.local_rank == 0 && e.world == 4);
	PARSE("PMI_RANK=2\0PMI_SIZE=3\0", &e);
	CHECK(e.rank == 2 && e.world == 3);
	PARSE("PMI_RANK=2\0PMI_SIZE=3\0PMI_LOCAL_RANK=1\0", &e);
	CHECK(e.rank == 2 && e.world == 3 && e.local_rank == 1);
	PARSE("HOROVOD_SIZE=6\0HOROVOD_RANK=5\0HOROVOD_LOCAL_RANK=1\0", &e);
	CHECK(e.rank == 5 && e.world == 6 && e.local_rank == 1);
	PARSE("MV2_COMM_WORLD_SIZE=6\0MV2_COMM_WORLD_RANK=5\0MV2_COMM_WORLD_LOCAL_RANK=1\0", &e);
	CHECK(e.rank == 5 && e.world == 6 && e.local_rank == 1);
	PARSE("FLUX_TASK_RANK=1\0FLUX_TASK_LOCAL_ID=0\0FLUX_JOB_SIZE=2\0", &e);
	CHECK(e.rank == 1 && e.world == 2 && e.local_rank == 0);
	PARSE("SLURM_PROCID=1\0SLURM_LOCALID=0\0SLURM_NPROCS=2\0PMIX_RANK=7\0", &e);
	CHECK(e.rank == 1 && e.world == 2 && e.local_rank == 0);
	PARSE("PMIX_RANK=2\0", &e);
	CHECK(e.rank == 2 && e.world == -1);
	return 0;
}

TEST(environ_takes_only_numbers_that_make_sense)
{
	static const char *const bad[] = { "RANK=",
					   "RANK=-1",
					   "RANK=3x",
					   "RANK= 3",
					   "RANK",
					   "XRANK=3",
					   "RANKS=3",
					   "rank=3",
					   "",
					   "=3",
					   "RANK=99999999999999999999999" };
	struct rank_env e;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		rank_env_parse(bad[i], strlen(bad[i]), &e);
		if (e.rank != -1 || e.world != -1 || e.from[0])
			return test_fail(__FILE__, __LINE__, "\"%s\" is rank %lld", bad[i],
					 (long long)e.rank);
	}
	PARSE("RANK=5\0WORLD_SIZE=4\0", &e); /* that is not the size of its world */
	CHECK(e.rank == 5 && e.world == -1);
	return 0;
}

TEST(environ_of_a_process_that_is_not_there_is_empty)
{
	struct rank_env e;

	rank_env_read(0x7fffffff, &e);
	CHECK(e.rank == -1 && e.world == -1 && e.local_rank == -1);
	return 0;
}
