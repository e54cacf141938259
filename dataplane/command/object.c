/* SPDX-License-Identifier: BSD-3-Clause */
/* OBJECT, and the names of types and encodings. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"
#include "dataplane/command/types.h"

#define EMBSTR_MAX  44 /* Redis keeps longer ones apart from their object: "raw" */
#define INTEGER_MAX 20

const char *
type_name(uint8_t type)
{
    return type == RECORD_STRING ? "string" : "none";
}

const char *
encoding_name(const struct entry *entry)
{
    int64_t value;
    if (entry->flags & RECORD_RAW)
        return "raw";
    if (entry->len <= INTEGER_MAX && integer_parse(entry->value, entry->len, &value))
        return "int";
    return entry->len <= EMBSTR_MAX ? "embstr" : "raw";
}

static bool
object_read(struct worker *worker, struct request *request, struct entry *entry, enum command_result *result)
{
    *result = COMMAND_DONE;
    int error = entry_read(worker->core, request->client->db, &request->key, entry);
    if (error == -ENOENT)
        reply_null(request->client);
    else if (error)
        *result = done_failed(request->client, error);
    return error == 0;
}

enum command_result
command_object_encoding(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (object_read(worker, request, &entry, &result))
        reply_bulk_string(request->client, encoding_name(&entry));
    return result;
}

enum command_result
command_object_refcount(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (object_read(worker, request, &entry, &result))
        reply_integer(request->client, 1);
    return result;
}

/* No access times are kept. */
enum command_result
command_object_idletime(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (object_read(worker, request, &entry, &result))
        reply_integer(request->client, 0);
    return result;
}

enum command_result
command_object_freq(struct worker *worker, struct request *request)
{
    struct entry entry;
    enum command_result result;
    if (object_read(worker, request, &entry, &result))
        reply_error(request->client,
                    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
                    "switching between policies at runtime LRU and LFU data will take some time to adjust.");
    return result;
}

enum command_result
command_object_help(struct worker *worker, struct request *request)
{
    static const char *const lines[] = {
        "ENCODING <key>",
        "    Return the kind of internal representation used in order to store the value",
        "    associated with a <key>.",
        "FREQ <key>",
        "    Return the access frequency index of the <key>. The returned integer is",
        "    proportional to the logarithm of the recent access frequency of the key.",
        "IDLETIME <key>",
        "    Return the idle time of the <key>, that is the approximated number of",
        "    seconds elapsed since the last access to the key.",
        "REFCOUNT <key>",
        "    Return the number of references of the value associated with the specified",
        "    <key>.",
        NULL,
    };
    (void)worker;
    reply_help(request->client, "OBJECT", lines);
    return COMMAND_DONE;
}
