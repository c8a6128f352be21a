/* SPDX-License-Identifier: Apache-2.0 */
/* The database itself, for those who read or copy whole tables: query/ and merge/. Nobody else. */
#ifndef STORE_RAW_H
#define STORE_RAW_H

#include <sqlite3.h>

#include "store/store.h"

#define STORE_APPLICATION_ID 0x43554c50 /* "CULP" */

/* The tables and the views, as SQL with a comment on each column. */
extern const char store_schema[];
extern const char store_views[];
extern const char store_merged[]; /* what only a merged file has */

/* The id of a text is its content, so that two databases agree on it. */
int64_t store_text_id(const char *text);

/* Of a store that is open; it stays the store's. */
sqlite3 *store_db(struct store *s);

/* The views of this program in place of those of the file, which may be older: for this connection. */
int store_own_views(struct store *s);

#endif
