/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker keeps about its sessions; shared by the files that make up session.h. */
#ifndef DATAPLANE_COMMAND_SESSIONS_H
#define DATAPLANE_COMMAND_SESSIONS_H

#include "dataplane/command/session.h"
#include "dataplane/resp/parse.h"

#define PARSERS_KEPT 16

/* Replies that clients have not taken, beyond STREAM_OUT_SOFT_LIMIT each; backlog.c tells the rules. */
#define BACKLOG_SHARED (256ull << 20)
struct backlog {
    struct client_list clients; /* those with a share in it, by backlog_link */
    unsigned count;
    uint64_t bytes, shared, limit;
};

struct command_stats {
    uint64_t calls, ns, rejected, failed;
};

#define ERROR_KINDS 32
struct error_stats {
    char prefix[32];
    uint64_t count;
};

/* What INFO shows as "instantaneous": the mean of the last samples. */
enum rate { RATE_COMMANDS, RATE_INPUT, RATE_OUTPUT, RATES };
#define RATE_SAMPLES 16

struct sessions {
    struct resp_parser *parser[PARSERS_KEPT]; /* at rest; parser[0] is the one in use for whole commands */
    unsigned parsers;
    struct client_list parked;     /* WAIT_TIME */
    uint64_t earliest_us;          /* of the parked ones */
    struct backlog backlog;        /* WAIT_OUTPUT, and others that are behind */
    uint64_t sweep_us;             /* when to look for idle clients next */
    unsigned sweep_next;           /* and where */
    struct command_stats *command; /* [command_count] */
    struct error_stats error[ERROR_KINDS];
    unsigned errors;
    uint32_t stats_epoch;        /* server->stats_epoch as last seen */
    uint64_t sample_us;          /* when the last samples were taken */
    uint64_t sample_last[RATES]; /* the counters then */
    double sample[RATES][RATE_SAMPLES];
    unsigned samples;
};

/* Put a client's stream on transport.ready, if it is not there. */
void session_ready(struct client *client);
void session_dirty(struct client *client);
/* No more commands; the connection ends when what is in its output has been delivered. */
void session_end(struct client *client);
/* Off any waiting list. */
void session_wake(struct client *client);
void session_wait(struct client *client, enum client_wait reason);

void backlog_start(struct worker *worker);
bool backlog_weigh(struct client *client);
/* It has got a large reply, or is behind; one too much, and it is closed. */
void backlog_replied(struct client *client);
/* Wake those that have read, a bounded number. */
void backlog_tend(struct worker *worker);
void backlog_forget(struct client *client);

/* May it be served, or must it read first? */
static inline bool
backlog_allows(struct client *client)
{
    return (client->stream->out.len <= STREAM_OUT_SOFT_LIMIT && !client->backlog) || backlog_weigh(client);
}

/* A second, the mean of the last 1.6 s. Any thread; a glance at another core's is as good as it gets. */
double session_rate(const struct worker *worker, enum rate rate);
void session_sample(struct worker *worker);
/* What is counted by command and error. */
void session_reset_stats(struct worker *worker);

/* One command: checks, then its function. */
enum command_result session_run(struct worker *worker, struct request *request);

static inline bool
session_needs_auth(const struct client *client)
{
    return !client->authenticated && client->worker->server->settings.requirepass[0] != '\0';
}

#endif
