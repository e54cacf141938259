/* SPDX-License-Identifier: BSD-3-Clause */
/* LCS: the longest common subsequence of two strings, by the usual table of lengths. */
#include <stdlib.h>

#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"

#define TABLE_BYTES_MAX (512ull << 20) /* as Redis, whose limit for this is its default proto-max-bulk-len */

struct lcs {
    const uint8_t *a, *b;
    uint32_t a_len, b_len;
    uint32_t *table; /* cell (i, j): the length for the first i bytes of a and the first j of b */
    bool length, index, with_lengths;
    int64_t min_match;
};

static uint32_t *
cell(const struct lcs *lcs, uint32_t i, uint32_t j)
{
    return &lcs->table[(uint64_t)i * (lcs->b_len + 1) + j];
}

static void
fill(const struct lcs *lcs)
{
    for (uint32_t i = 1; i <= lcs->a_len; i++) {
        for (uint32_t j = 1; j <= lcs->b_len; j++) {
            uint32_t above = *cell(lcs, i - 1, j), left = *cell(lcs, i, j - 1);
            *cell(lcs, i, j) = lcs->a[i - 1] == lcs->b[j - 1] ? *cell(lcs, i - 1, j - 1) + 1
                               : above > left                 ? above
                                                              : left;
        }
    }
}

static bool
parse_lcs(struct request *request, struct lcs *lcs)
{
    struct client *client = request->client;
    for (uint32_t i = 3; i < request->argc; i++) {
        const struct slice *arg = &request->argv[i];
        if (arg_is(arg, "IDX")) {
            lcs->index = true;
        } else if (arg_is(arg, "LEN")) {
            lcs->length = true;
        } else if (arg_is(arg, "WITHMATCHLEN")) {
            lcs->with_lengths = true;
        } else if (arg_is(arg, "MINMATCHLEN") && i + 1 < request->argc) {
            if (!arg_integer(client, &request->argv[++i], &lcs->min_match))
                return false;
        } else {
            done_syntax_error(client);
            return false;
        }
    }
    if (lcs->index && lcs->length)
        reply_error(client, "ERR If you want both the length and indexes, please just use IDX.");
    return !(lcs->index && lcs->length);
}

/* 0, or -EAGAIN, -EBADMSG, -EINVAL (not a string). An absent key is an empty string. */
static int
read_side(struct worker *worker, struct request *request, uint32_t number, const uint8_t **data, uint32_t *len)
{
    struct key key;
    struct entry entry;
    key_init(worker->server->engine, &key, request->argv[number].data, request->argv[number].len);
    int error = key_read(worker, request->client, &key, &entry);
    *data = (const uint8_t *)"";
    *len = 0;
    if (error == -ENOENT)
        return 0;
    if (error)
        return error;
    if (entry.type != RECORD_STRING)
        return -EINVAL;
    *data = entry.value;
    *len = entry.len;
    return 0;
}

/* A run of equal bytes, ending at (a_end, b_end) exclusive. */
static bool
reply_match(struct client *client, const struct lcs *lcs, uint32_t a_end, uint32_t b_end, uint32_t len)
{
    if (len == 0 || (int64_t)len < lcs->min_match)
        return false;
    reply_array(client, lcs->with_lengths ? 3 : 2);
    reply_array(client, 2);
    reply_integer(client, a_end - len);
    reply_integer(client, a_end - 1);
    reply_array(client, 2);
    reply_integer(client, b_end - len);
    reply_integer(client, b_end - 1);
    if (lcs->with_lengths)
        reply_integer(client, len);
    return true;
}

/* The way back through the table: the runs of equal bytes, last one first. */
static void
reply_index(struct client *client, const struct lcs *lcs)
{
    reply_map(client, 2);
    reply_bulk_string(client, "matches");
    size_t mark = reply_deferred_array(client), matches = 0;
    uint32_t i = lcs->a_len, j = lcs->b_len, run = 0;
    while (i > 0 && j > 0) {
        if (lcs->a[i - 1] == lcs->b[j - 1]) {
            run++, i--, j--;
            continue;
        }
        matches += reply_match(client, lcs, i + run, j + run, run);
        run = 0;
        if (*cell(lcs, i - 1, j) > *cell(lcs, i, j - 1))
            i--;
        else
            j--;
    }
    matches += reply_match(client, lcs, i + run, j + run, run);
    reply_set_deferred_array(client, mark, matches);
    reply_bulk_string(client, "len");
    reply_integer(client, *cell(lcs, lcs->a_len, lcs->b_len));
}

static void
reply_sequence(struct client *client, const struct lcs *lcs)
{
    uint32_t len = *cell(lcs, lcs->a_len, lcs->b_len), left = len;
    uint8_t *text = malloc((size_t)len + 1);
    if (!text) {
        reply_error(client, "ERR Insufficient memory, failed allocating transient memory for LCS");
        return;
    }
    for (uint32_t i = lcs->a_len, j = lcs->b_len; i > 0 && j > 0;) {
        if (lcs->a[i - 1] == lcs->b[j - 1]) {
            text[--left] = lcs->a[i - 1];
            i--, j--;
        } else if (*cell(lcs, i - 1, j) > *cell(lcs, i, j - 1)) {
            i--;
        } else {
            j--;
        }
    }
    reply_bulk(client, text, len);
    free(text);
}

enum command_result
command_lcs(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct lcs lcs = {0};
    int error = read_side(worker, request, 1, &lcs.a, &lcs.a_len);
    if (!error)
        error = read_side(worker, request, 2, &lcs.b, &lcs.b_len);
    if (error == -EINVAL)
        reply_error(client, "ERR The specified keys must contain string values");
    else if (error)
        return done_failed(client, error);
    if (error || !parse_lcs(request, &lcs))
        return COMMAND_DONE;
    uint64_t cells = ((uint64_t)lcs.a_len + 1) * ((uint64_t)lcs.b_len + 1);
    if (cells * sizeof(*lcs.table) > TABLE_BYTES_MAX) {
        reply_error(client, "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
        return COMMAND_DONE;
    }
    lcs.table = calloc(cells, sizeof(*lcs.table));
    if (!lcs.table) {
        reply_error(client, "ERR Insufficient memory, failed allocating transient memory for LCS");
        return COMMAND_DONE;
    }
    fill(&lcs);
    if (lcs.index)
        reply_index(client, &lcs);
    else if (lcs.length)
        reply_integer(client, *cell(&lcs, lcs.a_len, lcs.b_len));
    else
        reply_sequence(client, &lcs);
    free(lcs.table);
    return COMMAND_DONE;
}
