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
#include <sys/queue.h>

#include "dataplane/resp/reply.h"
#include "dataplane/stats/layout.h"
#include "dataplane/stream.h"
#include "pmem/engine.h"

struct server; /* what is shared by all cores: settings, start time, run id, engine; server.h */
struct worker; /* one core's side; server.h */
struct command;
struct request;
struct resp_parser;

/* Why a client is not decoded although it may have input; clients that wait are on a list of their worker. */
enum client_wait { WAIT_NOTHING, WAIT_TIME, WAIT_OUTPUT };

/* A connected client: the protocol's side of a stream. */
struct client {
    struct stream *stream;
    struct worker *worker;
    uint64_t id;
    uint8_t db;
    uint8_t protocol; /* 2 or 3 */
    bool authenticated, closing, no_evict, local_peer;
    bool held;    /* a command of this batch was put off: so are all later ones */
    bool again;   /* to be decoded again after this batch */
    uint8_t wait; /* enum client_wait */
    char name[64], lib_name[48], lib_version[24];
    char *long_name; /* the whole name where it does not fit above; owned */
    uint64_t created_ms, last_ms, commands;
    const struct command *last_command;
    struct resp_parser *parser; /* state of a command that is not complete yet; resp/parse.h */
    /* A command that the engine put off, or that waits for a time, holds back all later ones of its connection. */
    uint64_t resume_at_us; /* 0 = not parked */
    uint32_t progress;     /* of a multi-key command: keys done */
    int64_t tally;         /* its result so far */
    size_t reply_start;    /* length of stream->out where the reply of the present command begins */
    size_t decoded;        /* bytes of stream->in that the commands decoded in this batch take up */
    size_t consumed;       /* and those of them that were executed */
    unsigned index;        /* in worker->clients */
    TAILQ_ENTRY(client) wait_link;
};
TAILQ_HEAD(client_list, client);

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
