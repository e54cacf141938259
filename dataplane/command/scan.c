/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking the keys: SCAN and KEYS. */
#include <ctype.h>
#include <stdlib.h>

#include "dataplane/command/glob.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"
#include "dataplane/command/types.h"

#define KEYS_STEP 1024 /* buckets a call */

struct filter {
    const struct slice *pattern; /* NULL: all */
    const struct slice *type;    /* NULL: all */
};

static bool
passes(const struct filter *filter, const struct slice *key, const struct entry *entry)
{
    if (filter->type && !arg_is(filter->type, type_name(entry->type)))
        return false;
    return !filter->pattern || glob_match(filter->pattern->data, filter->pattern->len, key->data, key->len, false);
}

static bool
matches_all(const struct slice *pattern)
{
    return pattern->len == 1 && *(const char *)pattern->data == '*';
}

/* Keys met by SCAN: the cursor goes before them in the reply and is known only after. They point into the pool. */
struct found {
    struct filter filter;
    struct slice *key;
    size_t count, capacity;
    bool failed;
};

static void
visit_scan(const struct slice *key, const struct entry *entry, void *arg)
{
    struct found *found = arg;
    if (found->failed || !passes(&found->filter, key, entry))
        return;
    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? found->capacity * 2 : 64;
        struct slice *grown = realloc(found->key, capacity * sizeof(*grown));
        if (!grown) {
            found->failed = true;
            return;
        }
        found->key = grown;
        found->capacity = capacity;
    }
    found->key[found->count++] = *key;
}

static bool
parse_scan(struct request *request, struct filter *filter, int64_t *count)
{
    struct client *client = request->client;
    for (uint32_t i = 2; i < request->argc; i += 2) {
        const struct slice *word = &request->argv[i], *value = word + 1;
        bool has_value = i + 1 < request->argc;
        if (has_value && arg_is(word, "COUNT")) {
            if (!arg_integer(client, value, count))
                return false;
            if (*count >= 1)
                continue;
        } else if (has_value && arg_is(word, "MATCH")) {
            filter->pattern = matches_all(value) ? NULL : value;
            continue;
        } else if (has_value && arg_is(word, "TYPE")) {
            filter->type = value;
            continue;
        }
        done_syntax_error(client);
        return false;
    }
    return true;
}

/* An unsigned number as strtoul takes it, without leading blanks. */
static bool
parse_cursor(struct client *client, const struct slice *arg, uint64_t *cursor)
{
    char text[32], *end = text;
    bool fits = arg->len < sizeof(text);
    if (fits) {
        memcpy(text, arg->data, arg->len);
        text[arg->len] = '\0';
        errno = 0;
        *cursor = strtoul(text, &end, 10);
    }
    if (fits && errno == 0 && !isspace((unsigned char)text[0]) && *end == '\0')
        return true;
    reply_error(client, "ERR invalid cursor");
    return false;
}

enum command_result
command_scan(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct found found = {0};
    int64_t count = 10;
    uint64_t cursor;
    if (!parse_cursor(client, &request->argv[1], &cursor) || !parse_scan(request, &found.filter, &count))
        return COMMAND_DONE;
    unsigned step = count > UINT32_MAX ? UINT32_MAX : (unsigned)count;
    cursor = entry_scan(worker->core, client->db, cursor, step, visit_scan, &found);
    if (found.failed) {
        reply_error(client, "ERR out of memory");
    } else {
        reply_array(client, 2);
        reply_bulk_integer(client, (int64_t)cursor);
        reply_array(client, found.count);
        for (size_t i = 0; i < found.count; i++)
            reply_bulk(client, found.key[i].data, found.key[i].len);
    }
    free(found.key);
    return COMMAND_DONE;
}

struct listing {
    struct filter filter;
    struct client *client;
    size_t count;
};

static void
visit_keys(const struct slice *key, const struct entry *entry, void *arg)
{
    struct listing *listing = arg;
    if (listing->client->stream->abort || !passes(&listing->filter, key, entry))
        return;
    reply_bulk(listing->client, key->data, key->len);
    listing->count++;
}

enum command_result
command_keys(struct worker *worker, struct request *request)
{
    struct listing listing = {.client = request->client};
    if (!matches_all(&request->argv[1]))
        listing.filter.pattern = &request->argv[1];
    size_t mark = reply_deferred_array(request->client);
    uint64_t cursor = 0;
    do
        cursor = entry_scan(worker->core, request->client->db, cursor, KEYS_STEP, visit_keys, &listing);
    while (cursor != 0);
    reply_set_deferred_array(request->client, mark, listing.count);
    return COMMAND_DONE;
}
