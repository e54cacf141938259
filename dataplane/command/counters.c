/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings as numbers: INCR DECR INCRBY DECRBY INCRBYFLOAT. */
#include <math.h>

#include "dataplane/command/keyspace.h"
#include "dataplane/command/prepare.h"
#include "dataplane/command/table.h"

#define NOT_AN_INTEGER "ERR value is not an integer or out of range"
#define NOT_A_FLOAT    "ERR value is not a valid float"

struct count {
    int64_t by, value;
    const char *problem; /* of decide() */
    char text[INTEGER_TEXT_MAX];
};

static enum verdict
decide_count(const struct entry *old, struct edit *edit, void *arg)
{
    struct count *count = arg;
    int64_t value = 0;
    count->problem = NULL;
    if (old && old->type != RECORD_STRING)
        count->problem = WRONG_TYPE;
    else if (old && !integer_parse(old->value, old->len, &value))
        count->problem = NOT_AN_INTEGER;
    else if (__builtin_add_overflow(value, count->by, &count->value))
        count->problem = "ERR increment or decrement would overflow";
    if (count->problem)
        return ENTRY_KEEP;
    edit_value(edit, count->text, integer_format(count->value, count->text));
    return ENTRY_PUT;
}

/* NULL, or the error. */
static const char *
build_count(const struct request *request, struct count *count)
{
    command_fn run = request->command->run;
    bool down = run == command_decr || run == command_decrby;
    count->by = 1;
    if (run == command_incrby || run == command_decrby) {
        if (!integer_parse(request->argv[2].data, request->argv[2].len, &count->by))
            return NOT_AN_INTEGER;
        if (down && count->by == INT64_MIN)
            return "ERR decrement would overflow";
    }
    if (down)
        count->by = -count->by;
    return NULL;
}

void
prepare_count(struct worker *worker, struct request *request)
{
    struct count count;
    if (!build_count(request, &count))
        key_prepare(worker, request, decide_count, &count);
}

static enum command_result
run_count(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct count count;
    const char *problem = build_count(request, &count);
    if (problem) {
        reply_error(client, problem);
        return COMMAND_DONE;
    }
    int error = key_edit(worker, request, decide_count, &count);
    if (error)
        return done_failed(client, error);
    if (count.problem)
        reply_error(client, count.problem);
    else
        reply_integer(client, count.value);
    return COMMAND_DONE;
}

enum command_result
command_incr(struct worker *worker, struct request *request)
{
    return run_count(worker, request);
}

enum command_result
command_decr(struct worker *worker, struct request *request)
{
    return run_count(worker, request);
}

enum command_result
command_incrby(struct worker *worker, struct request *request)
{
    return run_count(worker, request);
}

enum command_result
command_decrby(struct worker *worker, struct request *request)
{
    return run_count(worker, request);
}

struct real_count {
    const struct slice *by;
    const char *problem;
    unsigned len;
    char text[REAL_TEXT_MAX];
};

static enum verdict
decide_real(const struct entry *old, struct edit *edit, void *arg)
{
    struct real_count *count = arg;
    long double value = 0, by;
    count->problem = NULL;
    if (old && old->type != RECORD_STRING)
        count->problem = WRONG_TYPE;
    else if ((old && !real_parse(old->value, old->len, &value)) || !real_parse(count->by->data, count->by->len, &by))
        count->problem = NOT_A_FLOAT;
    else if (isnan(value + by) || isinf(value + by))
        count->problem = "ERR increment would produce NaN or Infinity";
    if (count->problem)
        return ENTRY_KEEP;
    count->len = real_format(value + by, count->text);
    edit_value(edit, count->text, count->len);
    return ENTRY_PUT;
}

enum command_result
command_incrbyfloat(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct real_count count = {.by = &request->argv[2]};
    int error = key_edit(worker, request, decide_real, &count);
    if (error)
        return done_failed(client, error);
    if (count.problem)
        reply_error(client, count.problem);
    else
        reply_bulk(client, count.text, count.len);
    return COMMAND_DONE;
}
