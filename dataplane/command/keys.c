/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys, whatever they hold: DEL UNLINK EXISTS TOUCH TYPE RANDOMKEY DBSIZE FLUSHDB FLUSHALL. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"
#include "dataplane/command/types.h"

#define RANDOM_TRIES 100

static enum verdict
decide_delete(const struct entry *old, struct edit *edit, void *arg)
{
    bool *found = arg;
    (void)edit;
    *found = old != NULL;
    return old ? ENTRY_DELETE : ENTRY_KEEP;
}

/* DEL and UNLINK. Atomic a key: one that is put off goes on where it stopped. */
enum command_result
command_del(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct key key[KEY_GROUP];
    bool begin = true;
    for (uint32_t i = 1 + client->progress; i < request->argc; i++) {
        unsigned n = (i - 1) % KEY_GROUP;
        if (n == 0 || begin)
            keys_prefetch(worker, client, &request->argv[i - n], request->argc - (i - n), key);
        begin = false;
        bool found;
        int error = entry_edit(worker->core, client->db, &key[n], decide_delete, &found, NULL);
        if (error)
            return done_failed(client, error);
        client->tally += found;
        client->progress++;
    }
    reply_integer(client, client->tally);
    return COMMAND_DONE;
}

/* EXISTS and TOUCH: keys named twice count twice. */
enum command_result
command_exists(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct key key[KEY_GROUP];
    int64_t present = 0;
    for (uint32_t i = 1; i < request->argc; i++) {
        unsigned n = (i - 1) % KEY_GROUP;
        if (n == 0)
            keys_prefetch(worker, client, &request->argv[i], request->argc - i, key);
        struct entry entry;
        int error = key_read(worker, client, &key[n], &entry);
        if (error != 0 && error != -ENOENT)
            return done_failed(client, error);
        present += error == 0;
    }
    reply_integer(client, present);
    return COMMAND_DONE;
}

enum command_result
command_type(struct worker *worker, struct request *request)
{
    struct entry entry;
    int error = key_read(worker, request->client, &request->key, &entry);
    if (error != 0 && error != -ENOENT)
        return done_failed(request->client, error);
    reply_status(request->client, error ? "none" : type_name(entry.type));
    return COMMAND_DONE;
}

/* xorshift64* */
static uint64_t
next_random(struct worker *worker)
{
    uint64_t x = worker->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    worker->random = x;
    return x * 0x2545f4914f6cdd1dULL;
}

enum command_result
command_randomkey(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    for (unsigned try = 0; try < RANDOM_TRIES; try++) {
        struct slice name;
        struct key key;
        struct entry entry;
        int error = entry_random(worker->core, client->db, next_random(worker), &name);
        if (error == -ENOENT)
            break;
        if (error == 0) {
            /* It may be expired. */
            key_init(worker->server->engine, &key, name.data, name.len);
            error = entry_read(worker->core, client->db, &key, &entry);
        }
        if (error == 0) {
            reply_bulk(client, name.data, name.len);
            return COMMAND_DONE;
        }
        if (error != -ENOENT)
            return done_failed(client, error);
    }
    reply_null(client);
    return COMMAND_DONE;
}

enum command_result
command_dbsize(struct worker *worker, struct request *request)
{
    uint64_t with_expiry;
    reply_integer(request->client, (int64_t)engine_keys(worker->server->engine, request->client->db, &with_expiry));
    return COMMAND_DONE;
}

/* SYNC and ASYNC are the same here: one word is swapped, space comes back in the background. */
static enum command_result
flush(struct worker *worker, struct request *request, uint32_t mask)
{
    struct client *client = request->client;
    if (request->argc > 2 ||
        (request->argc == 2 && !arg_is(&request->argv[1], "SYNC") && !arg_is(&request->argv[1], "ASYNC")))
        return done_syntax_error(client);
    int error = databases_flush(worker->core, mask);
    if (error)
        return done_failed(client, error);
    reply_ok(client);
    return COMMAND_DONE;
}

enum command_result
command_flushdb(struct worker *worker, struct request *request)
{
    return flush(worker, request, 1u << request->client->db);
}

enum command_result
command_flushall(struct worker *worker, struct request *request)
{
    return flush(worker, request, (1u << DATABASES) - 1);
}
