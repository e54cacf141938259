/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands do to keys: the engine's calls with the request's database, hint and statistics. */
#ifndef DATAPLANE_COMMAND_KEYSPACE_H
#define DATAPLANE_COMMAND_KEYSPACE_H

#include <errno.h>

#include "dataplane/command/args.h"

#define WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* 0, -ENOENT (a miss), or another error; counts hits and misses. */
static inline int
key_read(struct worker *worker, const struct client *client, const struct key *key, struct entry *entry)
{
    int error = entry_read(worker->core, client->db, key, entry);
    if (error == 0)
        worker->stats->counter[COUNTER_keyspace_hits]++;
    else if (error == -ENOENT)
        worker->stats->counter[COUNTER_keyspace_misses]++;
    return error;
}

/* Change the request's first key, with what prepare left. */
static inline int
key_edit(struct worker *worker, struct request *request, decide_fn decide, void *arg)
{
    return entry_edit(worker->core, request->client->db, &request->key, decide, arg, &request->hint);
}

static inline void
key_prepare(struct worker *worker, struct request *request, decide_fn decide, void *arg)
{
    entry_prepare(worker->core, request->client->db, &request->key, decide, arg, &request->hint);
}

static inline void
edit_value(struct edit *edit, const void *data, size_t len)
{
    edit->part[0] = (struct slice){data, len};
    edit->parts = 1;
    edit->type = RECORD_STRING;
    edit->flags = 0;
}

/* The entry of the request's key, which must be a string. Otherwise false, with *result: the reply has been made (miss
 * replies to an absent key), or the command is put off. */
bool string_read(struct worker *worker, struct request *request, struct entry *entry, void (*miss)(struct client *),
                 enum command_result *result);
void reply_zero(struct client *client);
void reply_empty_bulk(struct client *client);

/* Keys of a command with many: hash the next ones and fetch their lines together. */
#define KEY_GROUP 16u
void keys_prefetch(struct worker *worker, const struct client *client, const struct slice *argv, uint32_t count,
                   struct key key[KEY_GROUP]);

#endif
