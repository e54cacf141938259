/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command is: a row in one table (commands.def), and one function.
 *
 * From the table come dispatch, arity checks, COMMAND and its subcommands, and docs/commands.md. A function reads its
 * arguments from the request, works on the engine and writes its reply. One file a family.
 */
#ifndef DATAPLANE_COMMAND_COMMAND_H
#define DATAPLANE_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane/resp/client.h"
#include "dataplane/resp/reply.h"
#include "dataplane/stats/layout.h"
#include "pmem/engine.h"

struct server; /* what is shared by all cores: settings, start time, run id, engine; server.h */
struct worker; /* one core's side; server.h */
struct command;
struct request;

/* One command as decoded: arguments are slices of the received bytes, valid to the end of the batch. */
struct request {
    struct client *client;
    const struct command *command; /* NULL: unknown */
    uint32_t argc;
    uint32_t consumed; /* bytes of stream->in that it took up */
    const struct slice *argv;
    struct key key;             /* of the first key, if the command has one (command->first_key > 0 and present) */
    struct hint hint;           /* between prepare and execute */
    const char *protocol_error; /* not a command but the end of the connection, with this error ("" = without a word) */
    bool runnable;              /* known, right number of arguments, allowed: prepare may be called */
    bool done;                  /* executed: its input is consumed in finish */
};

enum command_result {
    COMMAND_DONE,  /* the reply is in stream->out */
    COMMAND_DEFER, /* the engine said -EAGAIN: run it again in the next batch (any partial reply is dropped) */
    COMMAND_PARK,  /* run it again at client->resume_at_us (WAIT, DEBUG SLEEP); UINT64_MAX = never */
};

typedef enum command_result (*command_fn)(struct worker *worker, struct request *request);
/* Optional: build likely records (entry_prepare). Must have no effect. */
typedef void (*prepare_fn)(struct worker *worker, struct request *request);

/* Flags are Redis's. */
enum command_flag {
    CMD_WRITE = 1 << 0,
    CMD_READONLY = 1 << 1,
    CMD_DENYOOM = 1 << 2,
    CMD_ADMIN = 1 << 3,
    CMD_PUBSUB = 1 << 4,
    CMD_NOSCRIPT = 1 << 5,
    CMD_BLOCKING = 1 << 6,
    CMD_LOADING = 1 << 7,
    CMD_STALE = 1 << 8,
    CMD_FAST = 1 << 9,
    CMD_NO_AUTH = 1 << 10,
    CMD_MOVABLEKEYS = 1 << 11,
    CMD_NO_MULTI = 1 << 12,
    CMD_SKIP_SLOWLOG = 1 << 13,
    CMD_ALLOW_BUSY = 1 << 14,
    CMD_SKIP_MONITOR = 1 << 15,
    CMD_MAY_REPLICATE = 1 << 16,
    CMD_NO_ASYNC_LOADING = 1 << 17,
    /* Ours: changes what later commands of the connection mean (database, protocol, rights), so they are decoded
     * only after it has run. */
    CMD_SESSION = 1 << 30,
};

/* A row of commands.def. What is text is for COMMAND INFO, COMMAND DOCS and docs/commands.md. */
struct command {
    const char *name;      /* lower case; a subcommand's own name, without its container's */
    const char *full_name; /* "config|get" for a subcommand */
    const char *container; /* a subcommand's container, else NULL */
    command_fn run;
    prepare_fn prepare;
    int16_t arity;                     /* number of arguments with the name; -n: n at least */
    int16_t first_key, last_key, step; /* argument numbers, as in COMMAND INFO: last_key < 0 counts from the end */
    uint32_t flags;                    /* enum command_flag */
    enum stats_family family;
    const char *group, *since, *complexity, *summary;
    const char *categories; /* ACL categories that do not follow from flags and group */
    const char *key_flags;  /* of the keys, e.g. "RW ACCESS UPDATE" */
    const char *key_notes;
    const char *tips;
    const char *arguments; /* see docs.h */
    const char *doc_flag, *deprecated_since, *replaced_by;
};

#endif
