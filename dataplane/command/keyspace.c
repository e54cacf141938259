/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands do to keys, where it is more than a call. */
#include "dataplane/command/keyspace.h"

void
reply_zero(struct client *client)
{
    reply_integer(client, 0);
}

void
reply_empty_bulk(struct client *client)
{
    reply_bulk(client, "", 0);
}

bool
string_read(struct worker *worker, struct request *request, struct entry *entry, void (*miss)(struct client *),
            enum command_result *result)
{
    struct client *client = request->client;
    *result = COMMAND_DONE;
    int error = key_read(worker, client, &request->key, entry);
    if (__builtin_expect(error == 0, 1)) {
        if (entry->type == RECORD_STRING)
            return true;
        reply_error(client, WRONG_TYPE);
    } else if (error == -ENOENT) {
        miss(client);
    } else {
        *result = done_failed(client, error);
    }
    return false;
}

void
keys_prefetch(struct worker *worker, const struct client *client, const struct slice *argv, uint32_t count,
              struct key key[KEY_GROUP])
{
    uint32_t n = count < KEY_GROUP ? count : KEY_GROUP;
    for (uint32_t i = 0; i < n; i++) {
        key_init(worker->server->engine, &key[i], argv[i].data, argv[i].len);
        entry_prefetch_bucket(worker->core, client->db, &key[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        entry_prefetch_record(worker->core, client->db, &key[i]);
}
