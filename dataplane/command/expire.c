/* SPDX-License-Identifier: BSD-3-Clause */
/* Times to live: EXPIRE PEXPIRE EXPIREAT PEXPIREAT TTL PTTL EXPIRETIME PEXPIRETIME PERSIST. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"

enum condition { CONDITION_NX = 1, CONDITION_XX = 2, CONDITION_GT = 4, CONDITION_LT = 8 };

struct expire {
    int64_t when_ms, now_ms;
    unsigned conditions;
    bool done; /* of decide() */
};

/* The whole entry again, with another expiry. */
static enum verdict
put_expiry(const struct entry *old, struct edit *edit, int64_t expire_ms)
{
    edit_value(edit, old->value, old->len);
    edit->type = old->type;
    edit->flags = old->flags;
    edit->expire_ms = expire_ms;
    return ENTRY_PUT;
}

/* No expiry counts as infinitely far away. */
static bool
condition_holds(const struct expire *expire, int64_t current_ms)
{
    if (expire->conditions & CONDITION_NX && current_ms != 0)
        return false;
    if (expire->conditions & CONDITION_XX && current_ms == 0)
        return false;
    if (expire->conditions & CONDITION_GT && (current_ms == 0 || expire->when_ms <= current_ms))
        return false;
    return !(expire->conditions & CONDITION_LT && current_ms != 0 && expire->when_ms >= current_ms);
}

static enum verdict
decide_expire(const struct entry *old, struct edit *edit, void *arg)
{
    struct expire *expire = arg;
    expire->done = old && condition_holds(expire, old->expire_ms);
    if (!expire->done)
        return ENTRY_KEEP;
    if (expire->when_ms <= expire->now_ms)
        return ENTRY_DELETE;
    return put_expiry(old, edit, expire->when_ms);
}

static bool
parse_conditions(struct request *request, unsigned *conditions)
{
    static const char *const word[] = {"NX", "XX", "GT", "LT"};
    struct client *client = request->client;
    *conditions = 0;
    for (uint32_t i = 3; i < request->argc; i++) {
        unsigned n = 0;
        while (n < 4 && !arg_is(&request->argv[i], word[n]))
            n++;
        if (n == 4) {
            reply_errorf(client, "ERR Unsupported option %.*s", arg_text_len(&request->argv[i], TEXT_WHOLE),
                         (const char *)request->argv[i].data);
            return false;
        }
        *conditions |= 1u << n;
    }
    if (*conditions & CONDITION_NX && *conditions != CONDITION_NX) {
        reply_error(client, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (*conditions & CONDITION_GT && *conditions & CONDITION_LT) {
        reply_error(client, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

/* unit_ms: 1 or 1000; base_ms: now, or 0 for absolute times. */
static enum command_result
run_expire(struct worker *worker, struct request *request, int64_t unit_ms, int64_t base_ms)
{
    struct client *client = request->client;
    struct expire expire = {.now_ms = (int64_t)worker->now_ms};
    if (!parse_conditions(request, &expire.conditions) || !arg_integer(client, &request->argv[2], &expire.when_ms))
        return COMMAND_DONE;
    if (__builtin_mul_overflow(expire.when_ms, unit_ms, &expire.when_ms) ||
        __builtin_add_overflow(expire.when_ms, base_ms, &expire.when_ms)) {
        reply_errorf(client, "ERR invalid expire time in '%s' command", request->command->full_name);
        return COMMAND_DONE;
    }
    int error = key_edit(worker, request, decide_expire, &expire);
    if (error)
        return done_failed(client, error);
    reply_integer(client, expire.done);
    return COMMAND_DONE;
}

enum command_result
command_expire(struct worker *worker, struct request *request)
{
    return run_expire(worker, request, 1000, (int64_t)worker->now_ms);
}

enum command_result
command_pexpire(struct worker *worker, struct request *request)
{
    return run_expire(worker, request, 1, (int64_t)worker->now_ms);
}

enum command_result
command_expireat(struct worker *worker, struct request *request)
{
    return run_expire(worker, request, 1000, 0);
}

enum command_result
command_pexpireat(struct worker *worker, struct request *request)
{
    return run_expire(worker, request, 1, 0);
}

static enum verdict
decide_persist(const struct entry *old, struct edit *edit, void *arg)
{
    bool *done = arg;
    *done = old && old->expire_ms != 0;
    return *done ? put_expiry(old, edit, 0) : ENTRY_KEEP;
}

enum command_result
command_persist(struct worker *worker, struct request *request)
{
    bool done;
    int error = key_edit(worker, request, decide_persist, &done);
    if (error)
        return done_failed(request->client, error);
    reply_integer(request->client, done);
    return COMMAND_DONE;
}

/* -2: no such key, -1: no expiry; seconds are rounded to the nearest. */
static enum command_result
reply_ttl(struct worker *worker, struct request *request, bool in_ms, bool absolute)
{
    struct entry entry;
    int error = key_read(worker, request->client, &request->key, &entry);
    if (error != 0 && error != -ENOENT)
        return done_failed(request->client, error);
    int64_t ttl = -1;
    if (error == 0 && entry.expire_ms != 0) {
        ttl = absolute ? entry.expire_ms : entry.expire_ms - (int64_t)worker->now_ms;
        ttl = ttl < 0 ? 0 : ttl;
        ttl = in_ms ? ttl : ttl / 1000 + (ttl % 1000 >= 500);
    }
    reply_integer(request->client, error == -ENOENT ? -2 : ttl);
    return COMMAND_DONE;
}

enum command_result
command_ttl(struct worker *worker, struct request *request)
{
    return reply_ttl(worker, request, false, false);
}

enum command_result
command_pttl(struct worker *worker, struct request *request)
{
    return reply_ttl(worker, request, true, false);
}

enum command_result
command_expiretime(struct worker *worker, struct request *request)
{
    return reply_ttl(worker, request, false, true);
}

enum command_result
command_pexpiretime(struct worker *worker, struct request *request)
{
    return reply_ttl(worker, request, true, true);
}
