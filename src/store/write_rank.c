// SPDX-License-Identifier: Apache-2.0
/* Rows in: communicators of NCCL, their operations, and who is which rank. */
#include "store/store_int.h"

/* A hash has all of its bits; 0 is not known. */
static void row_hash(struct row *r, uint64_t hash)
{
	if (hash)
		row_bits(r, hash);
	else
		row_null(r);
}

int store_communicator(struct store *s, const struct communicator_row *row, int64_t *ret)
{
	struct row r = row_begin(s, STMT_COMMUNICATOR);
	int err;

	row_i64(&r, row->process);
	row_bits(&r, row->handle);
	row_hash(&r, row->hash);
	row_hash(&r, row->parent);
	row_told(&r, row->rank);
	row_told(&r, row->nranks);
	row_op(&r, row->made_by);
	if (row->made_by)
		row_time(&r, row->made_boot_ns);
	else
		row_null(&r);
	err = row_end(&r, "insert communicator");
	if (!err)
		*ret = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_communicator_rank(struct store *s, int64_t communicator, int64_t rank, int64_t nranks)
{
	struct row r = row_begin(s, STMT_COMMUNICATOR_RANK);

	row_i64(&r, communicator);
	row_told(&r, rank);
	row_told(&r, nranks);
	return row_end(&r, "number communicator");
}

int store_communicator_gone(struct store *s, int64_t communicator, uint64_t boot_ns)
{
	struct row r = row_begin(s, STMT_COMMUNICATOR_GONE);

	row_i64(&r, communicator);
	row_time(&r, boot_ns);
	return row_end(&r, "end communicator");
}

int store_communicator_second(struct store *s, int64_t communicator, uint64_t at_boot_ns,
			      const struct communicator_counts *row)
{
	struct row r = row_begin(s, STMT_COMMUNICATOR_SECOND);

	row_i64(&r, communicator);
	row_time(&r, at_boot_ns);
	row_u64(&r, row->collectives);
	row_u64(&r, row->p2p);
	row_u64(&r, row->bytes);
	row_u64(&r, row->told);
	return row_end(&r, "insert communicator_second");
}

static void row_join(struct row *r, const struct collective *c)
{
	row_text(r, join_names[c->join]);
	row_op(r, c->sync);
	if (c->join == JOIN_none) {
		row_null(r);
		row_null(r);
		row_null(r);
	} else {
		row_time(r, c->sync_start_ns);
		row_time(r, c->sync_end_ns);
		row_u64(r, c->sync_end_ns - c->sync_start_ns);
	}
	row_i64(r, c->last);
}

int store_collective(struct store *s, int64_t communicator, const struct collective *c)
{
	struct row r = row_begin(s, STMT_COLLECTIVE);

	row_i64(&r, communicator);
	row_i64(&r, c->thread);
	row_op(&r, c->call.op);
	row_u64(&r, c->call.seq);
	row_text(&r, c->call.type);
	row_text(&r, c->call.redop);
	if (nccl_args[c->call.op - op_table].root)
		row_i64(&r, c->call.root);
	else
		row_null(&r);
	row_u64(&r, c->call.count);
	if (c->call.bytes_known)
		row_u64(&r, c->call.bytes);
	else
		row_null(&r);
	row_bits(&r, c->call.stream);
	row_time(&r, c->call.start_ns);
	row_u64(&r, c->call.end_ns - c->call.start_ns);
	row_i64(&r, c->call.ret);
	row_i64(&r, c->call.grouped);
	row_join(&r, c);
	return row_end(&r, "insert collective");
}

int store_rank_env(struct store *s, int64_t process, int64_t rank, int64_t local_rank,
		   int64_t world, const char *source)
{
	struct row r = row_begin(s, STMT_RANK_ENV);

	row_i64(&r, process);
	row_told(&r, rank);
	row_told(&r, local_rank);
	row_told(&r, world);
	row_text(&r, source);
	return row_end(&r, "insert rank_env");
}
