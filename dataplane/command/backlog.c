/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backlog: replies that clients have not taken. Stock clients send a whole pipeline before they read its first reply,
 * so one that is behind must be served on, or both sides wait for ever; but memory has an end. Each client may owe
 * STREAM_OUT_SOFT_LIMIT; what goes beyond is the backlog, of which all clients of a core together may have
 * BACKLOG_SHARED. After that, those with a share in it are not decoded until they have read (back-pressure). A single
 * huge reply may still lift the backlog over its limit: then its client is closed, as Redis does. A client that has
 * not given its password has no share: it is closed when it is behind (CVE-2025-21605).
 */
#include <unistd.h>

#include "dataplane/command/sessions.h"

#define MEMORY_SHARE 8  /* of the machine's memory, to all cores together */
#define TEND_CLIENTS 64 /* looked at in a turn */

void
backlog_start(struct worker *worker)
{
    struct backlog *backlog = &worker->sessions->backlog;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t share = memory / MEMORY_SHARE / worker->server->cores;
    TAILQ_INIT(&backlog->clients);
    backlog->shared = BACKLOG_SHARED;
    backlog->limit = share > BACKLOG_SHARED ? share : BACKLOG_SHARED;
}

/* Bring the client's share up to date. */
static void
account(struct backlog *backlog, struct client *client, uint32_t unread)
{
    uint32_t share = unread > STREAM_OUT_SOFT_LIMIT ? unread - STREAM_OUT_SOFT_LIMIT : 0;
    backlog->bytes += share;
    backlog->bytes -= client->backlog;
    if (share && !client->backlog) {
        TAILQ_INSERT_TAIL(&backlog->clients, client, backlog_link);
        backlog->count++;
    } else if (!share && client->backlog) {
        TAILQ_REMOVE(&backlog->clients, client, backlog_link);
        backlog->count--;
    }
    client->backlog = share;
}

bool
backlog_weigh(struct client *client)
{
    struct backlog *backlog = &client->worker->sessions->backlog;
    account(backlog, client, client->stream->out.len);
    return !client->backlog || backlog->bytes < backlog->shared;
}

void
backlog_replied(struct client *client)
{
    struct backlog *backlog = &client->worker->sessions->backlog;
    struct stream *stream = client->stream;
    account(backlog, client, stream->out.len);
    if (!client->backlog || (backlog->bytes <= backlog->limit && !session_needs_auth(client)))
        return;
    client->worker->stats->counter[COUNTER_connections_behind]++;
    client->closing = true;
    stream->abort = true;
}

void
backlog_tend(struct worker *worker)
{
    struct backlog *backlog = &worker->sessions->backlog;
    for (unsigned n = backlog->count < TEND_CLIENTS ? backlog->count : TEND_CLIENTS; n > 0; n--) {
        struct client *client = TAILQ_FIRST(&backlog->clients);
        TAILQ_REMOVE(&backlog->clients, client, backlog_link);
        TAILQ_INSERT_TAIL(&backlog->clients, client, backlog_link);
        if (!backlog_weigh(client) || client->wait != WAIT_OUTPUT)
            continue;
        session_wake(client);
        session_ready(client);
    }
}

void
backlog_forget(struct client *client)
{
    account(&client->worker->sessions->backlog, client, 0);
}
