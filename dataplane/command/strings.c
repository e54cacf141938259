/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings as a whole: SET and its relatives, GET and its. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/prepare.h"
#include "dataplane/command/table.h"

/* Options of SET and GETEX. */
enum option {
    OPTION_NX = 1 << 0,
    OPTION_XX = 1 << 1,
    OPTION_GET = 1 << 2,
    OPTION_KEEPTTL = 1 << 3,
    OPTION_PERSIST = 1 << 4,
    OPTION_EX = 1 << 5,
    OPTION_PX = 1 << 6,
    OPTION_EXAT = 1 << 7,
    OPTION_PXAT = 1 << 8,
};
#define OPTION_TIMES  (OPTION_EX | OPTION_PX | OPTION_EXAT | OPTION_PXAT)
#define SET_OPTIONS   (OPTION_NX | OPTION_XX | OPTION_GET | OPTION_KEEPTTL | OPTION_TIMES)
#define GETEX_OPTIONS (OPTION_PERSIST | OPTION_TIMES)

static const struct {
    const char *word;
    unsigned flag, excludes;
} option_table[] = {
    {"NX", OPTION_NX, OPTION_XX},
    {"XX", OPTION_XX, OPTION_NX},
    {"GET", OPTION_GET, 0},
    {"KEEPTTL", OPTION_KEEPTTL, OPTION_PERSIST | OPTION_TIMES},
    {"PERSIST", OPTION_PERSIST, OPTION_KEEPTTL | OPTION_TIMES},
    {"EX", OPTION_EX, OPTION_KEEPTTL | OPTION_PERSIST | (OPTION_TIMES & ~OPTION_EX)},
    {"PX", OPTION_PX, OPTION_KEEPTTL | OPTION_PERSIST | (OPTION_TIMES & ~OPTION_PX)},
    {"EXAT", OPTION_EXAT, OPTION_KEEPTTL | OPTION_PERSIST | (OPTION_TIMES & ~OPTION_EXAT)},
    {"PXAT", OPTION_PXAT, OPTION_KEEPTTL | OPTION_PERSIST | (OPTION_TIMES & ~OPTION_PXAT)},
};

/* Flags of the arguments from number `from` on, and the argument with the time, if any. False: syntax error. */
static bool
parse_options(const struct request *request, uint32_t from, unsigned allowed, unsigned *flags,
              const struct slice **time)
{
    *flags = 0;
    *time = NULL;
    for (uint32_t i = from; i < request->argc; i++) {
        unsigned n = 0;
        while (n < sizeof(option_table) / sizeof(option_table[0]) && !arg_is(&request->argv[i], option_table[n].word))
            n++;
        if (n == sizeof(option_table) / sizeof(option_table[0]) || !(option_table[n].flag & allowed) ||
            *flags & option_table[n].excludes)
            return false;
        if (option_table[n].flag & OPTION_TIMES) {
            if (++i == request->argc)
                return false;
            *time = &request->argv[i];
        }
        *flags |= option_table[n].flag;
    }
    return true;
}

/* Why a time is of no use; NULL: *expire_ms is when it will be over. */
static const char *
parse_time(const struct slice *time, unsigned flags, uint64_t now_ms, int64_t *expire_ms)
{
    int64_t value;
    if (!integer_parse(time->data, time->len, &value))
        return "ERR value is not an integer or out of range";
    bool overflow = flags & (OPTION_EX | OPTION_EXAT) && __builtin_mul_overflow(value, 1000, &value);
    if (!overflow && value > 0 && flags & (OPTION_EX | OPTION_PX))
        overflow = __builtin_add_overflow(value, (int64_t)now_ms, &value);
    if (overflow || value <= 0)
        return "ERR invalid expire time in '%s' command";
    *expire_ms = value;
    return NULL;
}

static void
reply_time_error(struct request *request, const char *error)
{
    if (strchr(error, '%'))
        reply_errorf(request->client, "ERR invalid expire time in '%s' command", request->command->full_name);
    else
        reply_error(request->client, error);
}

/* ---- SET SETNX SETEX PSETEX GETSET ---- */

struct set {
    const struct slice *value;
    unsigned flags;
    int64_t expire_ms, now_ms;
    struct entry old; /* what decide() saw */
    bool found, written;
};

static enum verdict
decide_set(const struct entry *old, struct edit *edit, void *arg)
{
    struct set *set = arg;
    set->found = old != NULL;
    if (old)
        set->old = *old;
    set->written = false;
    if ((set->flags & OPTION_NX && old) || (set->flags & OPTION_XX && !old) ||
        (set->flags & OPTION_GET && old && old->type != RECORD_STRING))
        return ENTRY_KEEP;
    set->written = true;
    if (!(set->flags & OPTION_KEEPTTL))
        edit->expire_ms = set->expire_ms;
    if (set->expire_ms != 0 && set->expire_ms < set->now_ms)
        return old ? ENTRY_DELETE : ENTRY_KEEP;
    edit_value(edit, set->value->data, set->value->len);
    edit->blind = !(set->flags & (OPTION_NX | OPTION_XX | OPTION_GET | OPTION_KEEPTTL));
    return ENTRY_PUT;
}

/* From the request to what decide_set needs. NULL, or the error. */
static const char *
build_set(struct worker *worker, const struct request *request, struct set *set)
{
    const struct slice *time = NULL;
    command_fn run = request->command->run;
    memset(set, 0, sizeof(*set));
    set->now_ms = (int64_t)worker->now_ms;
    set->value = &request->argv[2];
    if (run == command_set) {
        if (!parse_options(request, 3, SET_OPTIONS, &set->flags, &time))
            return "ERR syntax error";
    } else if (run == command_setnx) {
        set->flags = OPTION_NX;
    } else if (run == command_getset) {
        set->flags = OPTION_GET;
    } else {
        set->flags = run == command_setex ? OPTION_EX : OPTION_PX;
        time = &request->argv[2];
        set->value = &request->argv[3];
    }
    return time ? parse_time(time, set->flags, worker->now_ms, &set->expire_ms) : NULL;
}

void
prepare_set(struct worker *worker, struct request *request)
{
    struct set set;
    if (!build_set(worker, request, &set))
        key_prepare(worker, request, decide_set, &set);
}

static enum command_result
run_set(struct worker *worker, struct request *request, struct set *set, bool *failed)
{
    *failed = true;
    const char *problem = build_set(worker, request, set);
    if (problem) {
        reply_time_error(request, problem);
        return COMMAND_DONE;
    }
    int error = key_edit(worker, request, decide_set, set);
    if (error)
        return done_failed(request->client, error);
    *failed = false;
    if (!(set->flags & OPTION_GET))
        return COMMAND_DONE;
    if (!set->found)
        reply_null(request->client);
    else if (set->old.type != RECORD_STRING)
        reply_error(request->client, WRONG_TYPE);
    else
        reply_bulk(request->client, set->old.value, set->old.len);
    return COMMAND_DONE;
}

enum command_result
command_set(struct worker *worker, struct request *request)
{
    struct set set;
    bool failed;
    enum command_result result = run_set(worker, request, &set, &failed);
    if (failed || set.flags & OPTION_GET)
        return result;
    if (set.written)
        reply_ok(request->client);
    else
        reply_null(request->client);
    return result;
}

enum command_result
command_setex(struct worker *worker, struct request *request)
{
    struct set set;
    bool failed;
    enum command_result result = run_set(worker, request, &set, &failed);
    if (!failed)
        reply_ok(request->client);
    return result;
}

enum command_result
command_psetex(struct worker *worker, struct request *request)
{
    return command_setex(worker, request);
}

enum command_result
command_setnx(struct worker *worker, struct request *request)
{
    struct set set;
    bool failed;
    enum command_result result = run_set(worker, request, &set, &failed);
    if (!failed)
        reply_integer(request->client, set.written);
    return result;
}

enum command_result
command_getset(struct worker *worker, struct request *request)
{
    struct set set;
    bool failed;
    return run_set(worker, request, &set, &failed);
}

/* ---- GET MGET ---- */

enum command_result
command_get(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (string_read(worker, request, &entry, reply_null, &result))
        reply_bulk(request->client, entry.value, entry.len);
    return result;
}

enum command_result
command_mget(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct key key[KEY_GROUP];
    reply_array(client, request->argc - 1);
    for (uint32_t i = 1; i < request->argc; i++) {
        unsigned n = (i - 1) % KEY_GROUP;
        if (n == 0)
            keys_prefetch(worker, client, &request->argv[i], request->argc - i, key);
        struct entry entry;
        int error = key_read(worker, client, &key[n], &entry);
        if (error == 0 && entry.type == RECORD_STRING) {
            reply_bulk(client, entry.value, entry.len);
        } else if (error == 0 || error == -ENOENT) {
            reply_null(client);
        } else {
            bytes_truncate(&client->stream->out, client->reply_start);
            return done_failed(client, error);
        }
    }
    return COMMAND_DONE;
}

/* ---- GETDEL GETEX ---- */

struct get_and {
    unsigned flags;
    const char *problem; /* with the time */
    int64_t expire_ms, now_ms;
    struct entry old;
    bool found;
};

static bool
saw_string(struct get_and *get, const struct entry *old)
{
    get->found = old != NULL;
    if (old)
        get->old = *old;
    return old && old->type == RECORD_STRING;
}

static enum verdict
decide_getdel(const struct entry *old, struct edit *edit, void *arg)
{
    (void)edit;
    return saw_string(arg, old) ? ENTRY_DELETE : ENTRY_KEEP;
}

static enum verdict
decide_getex(const struct entry *old, struct edit *edit, void *arg)
{
    struct get_and *get = arg;
    if (!saw_string(get, old) || get->problem)
        return ENTRY_KEEP;
    if (get->flags & (OPTION_EXAT | OPTION_PXAT) && get->expire_ms <= get->now_ms)
        return ENTRY_DELETE;
    bool change = get->flags & OPTION_TIMES || (get->flags & OPTION_PERSIST && old->expire_ms != 0);
    if (!change)
        return ENTRY_KEEP;
    edit_value(edit, old->value, old->len);
    edit->flags = old->flags;
    edit->expire_ms = get->expire_ms;
    return ENTRY_PUT;
}

static enum command_result
run_get_and(struct worker *worker, struct request *request, decide_fn decide, struct get_and *get)
{
    struct client *client = request->client;
    int error = key_edit(worker, request, decide, get);
    if (error)
        return done_failed(client, error);
    worker->stats->counter[get->found ? COUNTER_keyspace_hits : COUNTER_keyspace_misses]++;
    if (!get->found)
        reply_null(client);
    else if (get->old.type != RECORD_STRING)
        reply_error(client, WRONG_TYPE);
    else if (get->problem)
        reply_time_error(request, get->problem);
    else
        reply_bulk(client, get->old.value, get->old.len);
    return COMMAND_DONE;
}

enum command_result
command_getdel(struct worker *worker, struct request *request)
{
    struct get_and get = {0};
    return run_get_and(worker, request, decide_getdel, &get);
}

enum command_result
command_getex(struct worker *worker, struct request *request)
{
    struct get_and get = {.now_ms = (int64_t)worker->now_ms};
    const struct slice *time;
    if (!parse_options(request, 2, GETEX_OPTIONS, &get.flags, &time))
        return done_syntax_error(request->client);
    if (time)
        get.problem = parse_time(time, get.flags, worker->now_ms, &get.expire_ms);
    return run_get_and(worker, request, decide_getex, &get);
}
