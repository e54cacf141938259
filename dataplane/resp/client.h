/* SPDX-License-Identifier: BSD-3-Clause */
/* A connected client: the protocol's side of a stream. Made by session_open, gone with session_close. */
#ifndef DATAPLANE_RESP_CLIENT_H
#define DATAPLANE_RESP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "dataplane/stream.h"

struct command;
struct resp_parser;
struct worker;

/* Why a client is not decoded although it may have input. */
enum client_wait { WAIT_NOTHING, WAIT_TIME, WAIT_OUTPUT };

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
    uint64_t last_us; /* the last command by the monotonic clock, which no one sets */
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
    uint32_t backlog;      /* its share of the backlog: command/backlog.c */
    TAILQ_ENTRY(client) wait_link, backlog_link;
};
TAILQ_HEAD(client_list, client);

#endif
