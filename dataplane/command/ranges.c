/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of strings: APPEND STRLEN SETRANGE GETRANGE SUBSTR. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/prepare.h"
#include "dataplane/command/table.h"

enum outcome { OUTCOME_LENGTH, OUTCOME_WRONG_TYPE, OUTCOME_TOO_LONG };

/* A change at an offset; APPEND's offset is the end. */
struct splice {
    const struct slice *value;
    int64_t offset, max_len;
    enum outcome outcome; /* of decide() */
    uint64_t len;
};

static enum verdict
keep(struct splice *splice, enum outcome outcome)
{
    splice->outcome = outcome;
    return ENTRY_KEEP;
}

static enum verdict
decide_append(const struct entry *old, struct edit *edit, void *arg)
{
    struct splice *append = arg;
    if (old && old->type != RECORD_STRING)
        return keep(append, OUTCOME_WRONG_TYPE);
    append->outcome = OUTCOME_LENGTH;
    append->len = append->value->len;
    if (!old) {
        edit_value(edit, append->value->data, append->value->len);
        return ENTRY_PUT;
    }
    append->len += old->len;
    if (append->len > (uint64_t)append->max_len)
        return keep(append, OUTCOME_TOO_LONG);
    edit_value(edit, old->value, old->len);
    edit->part[1] = *append->value;
    edit->parts = 2;
    edit->flags = RECORD_RAW;
    return ENTRY_PUT;
}

static enum verdict
decide_setrange(const struct entry *old, struct edit *edit, void *arg)
{
    struct splice *splice = arg;
    uint64_t old_len = old ? old->len : 0, offset = (uint64_t)splice->offset;
    if (old && old->type != RECORD_STRING)
        return keep(splice, OUTCOME_WRONG_TYPE);
    splice->len = old_len;
    if (splice->value->len == 0)
        return keep(splice, OUTCOME_LENGTH);
    if (offset + splice->value->len > (uint64_t)splice->max_len)
        return keep(splice, OUTCOME_TOO_LONG);
    splice->outcome = OUTCOME_LENGTH;
    uint64_t kept = offset < old_len ? offset : old_len, end = offset + splice->value->len;
    edit_value(edit, old ? old->value : "", kept);
    if (offset > old_len)
        edit->part[edit->parts++] = (struct slice){NULL, offset - old_len};
    edit->part[edit->parts++] = *splice->value;
    if (end < old_len)
        edit->part[edit->parts++] = (struct slice){(const uint8_t *)old->value + end, old_len - end};
    edit->flags = RECORD_RAW;
    splice->len = end > old_len ? end : old_len;
    return ENTRY_PUT;
}

static enum command_result
run_splice(struct worker *worker, struct request *request, decide_fn decide, struct splice *splice)
{
    struct client *client = request->client;
    int error = key_edit(worker, request, decide, splice);
    if (error)
        return done_failed(client, error);
    if (splice->outcome == OUTCOME_WRONG_TYPE)
        reply_error(client, WRONG_TYPE);
    else if (splice->outcome == OUTCOME_TOO_LONG)
        reply_engine_error(client, -E2BIG);
    else
        reply_integer(client, (int64_t)splice->len);
    return COMMAND_DONE;
}

void
prepare_append(struct worker *worker, struct request *request)
{
    struct splice append = {.value = &request->argv[2], .max_len = worker->server->settings.proto_max_bulk_len};
    key_prepare(worker, request, decide_append, &append);
}

enum command_result
command_append(struct worker *worker, struct request *request)
{
    struct splice append = {.value = &request->argv[2], .max_len = worker->server->settings.proto_max_bulk_len};
    return run_splice(worker, request, decide_append, &append);
}

enum command_result
command_setrange(struct worker *worker, struct request *request)
{
    struct splice splice = {.value = &request->argv[3], .max_len = worker->server->settings.proto_max_bulk_len};
    if (!arg_integer(request->client, &request->argv[2], &splice.offset))
        return COMMAND_DONE;
    if (splice.offset < 0) {
        reply_error(request->client, "ERR offset is out of range");
        return COMMAND_DONE;
    }
    return run_splice(worker, request, decide_setrange, &splice);
}

enum command_result
command_strlen(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (string_read(worker, request, &entry, reply_zero, &result))
        reply_integer(request->client, entry.len);
    return result;
}

/* GETRANGE and SUBSTR: both ends inclusive, negative ones counted from the end. */
enum command_result
command_getrange(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    int64_t start, end;
    struct entry entry;
    enum command_result result;
    if (!arg_integer(client, &request->argv[2], &start) || !arg_integer(client, &request->argv[3], &end))
        return COMMAND_DONE;
    if (!string_read(worker, request, &entry, reply_empty_bulk, &result))
        return result;
    int64_t len = entry.len;
    bool crossed = start < 0 && end < 0 && start > end;
    start = start < -len ? 0 : start < 0 ? len + start : start;
    end = end < -len ? 0 : end < 0 ? len + end : end;
    if (end >= len)
        end = len - 1;
    if (crossed || start > end || len == 0)
        reply_empty_bulk(client);
    else
        reply_bulk(client, (const uint8_t *)entry.value + start, (size_t)(end - start + 1));
    return COMMAND_DONE;
}
