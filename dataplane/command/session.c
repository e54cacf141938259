/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: how clients come, wait and go. */
#include "dataplane/command/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"

#define TEND_CLIENTS 64    /* most clients of a list looked at in a turn */
#define SWEEP_US     10000 /* between two looks for idle clients ... */
#define SWEEP_SHARE  100   /* ... at this part of all: each once a second */
#define RETRY_US     1000

#define TOO_MANY "ERR max number of clients reached"
#define DENIED                                                                                                   \
    "DENIED Pollux is running in protected mode because protected mode is enabled and no password is set. Only " \
    "connections from the local host are served. Set a password (requirepass), or switch protected mode off "    \
    "('CONFIG SET protected-mode no' from the local host, or in the configuration file), if the network is trusted."

int
session_start(struct worker *worker)
{
    table_init();
    struct sessions *sessions = calloc(1, sizeof(*sessions));
    if (!sessions)
        return -ENOMEM;
    sessions->command = calloc(command_count, sizeof(*sessions->command));
    sessions->parser[0] = calloc(1, sizeof(*sessions->parser[0]));
    if (!sessions->command || !sessions->parser[0]) {
        free(sessions->command);
        free(sessions->parser[0]);
        free(sessions);
        return -ENOMEM;
    }
    sessions->parsers = 1;
    sessions->earliest_us = UINT64_MAX;
    TAILQ_INIT(&sessions->parked);
    worker->sessions = sessions;
    backlog_start(worker);
    return 0;
}

void
session_stop(struct worker *worker)
{
    struct sessions *sessions = worker->sessions;
    if (!sessions)
        return;
    while (worker->clients_used > 0)
        session_close(worker, worker->clients[0]->stream);
    for (unsigned i = 0; i < sessions->parsers; i++) {
        resp_free(sessions->parser[i]);
        free(sessions->parser[i]);
    }
    free(sessions->command);
    free(sessions);
    free(worker->clients);
    worker->sessions = NULL;
    worker->clients = NULL;
    worker->clients_capacity = 0;
}

void
session_ready(struct client *client)
{
    struct stream *stream = client->stream;
    if (stream->ready || stream->gone)
        return;
    stream->ready = true;
    TAILQ_INSERT_TAIL(client->worker->transport.ready, stream, ready_link);
}

static void
stream_dirty(struct worker *worker, struct stream *stream)
{
    if (stream->dirty || stream->gone)
        return;
    stream->dirty = true;
    TAILQ_INSERT_TAIL(worker->transport.dirty, stream, dirty_link);
}

void
session_dirty(struct client *client)
{
    stream_dirty(client->worker, client->stream);
}

void
session_end(struct client *client)
{
    client->closing = true;
    client->stream->close_after_out = true;
    session_dirty(client);
}

void
session_wake(struct client *client)
{
    if (client->wait == WAIT_TIME)
        TAILQ_REMOVE(&client->worker->sessions->parked, client, wait_link);
    client->wait = WAIT_NOTHING;
}

void
session_wait(struct client *client, enum client_wait reason)
{
    session_wake(client);
    client->wait = (uint8_t)reason;
    if (reason != WAIT_TIME)
        return;
    struct sessions *sessions = client->worker->sessions;
    TAILQ_INSERT_TAIL(&sessions->parked, client, wait_link);
    if (client->resume_at_us < sessions->earliest_us)
        sessions->earliest_us = client->resume_at_us;
}

static void
refuse(struct worker *worker, struct stream *stream, const char *error)
{
    worker->stats->counter[COUNTER_connections_rejected]++;
    bytes_append(&stream->out, "-", 1);
    bytes_append(&stream->out, error, strlen(error));
    bytes_append(&stream->out, "\r\n", 2);
    stream->close_after_out = true;
    stream_dirty(worker, stream);
}

static bool
remember_client(struct worker *worker, struct client *client)
{
    if (worker->clients_used == worker->clients_capacity) {
        unsigned capacity = worker->clients_capacity ? worker->clients_capacity * 2 : 64;
        struct client **clients = realloc(worker->clients, capacity * sizeof(struct client *));
        if (!clients)
            return false;
        worker->clients = clients;
        worker->clients_capacity = capacity;
    }
    client->index = worker->clients_used;
    worker->clients[worker->clients_used++] = client;
    return true;
}

void
session_open(struct worker *worker, struct stream *stream)
{
    struct server *server = worker->server;
    stream->client = NULL;
    bool local = stream->peer_ip[0] == 127;
    if (server->settings.protected_mode && server->settings.requirepass[0] == '\0' && !local) {
        refuse(worker, stream, DENIED);
        return;
    }
    if (atomic_fetch_add(&server->clients, 1) >= (unsigned)server->settings.maxclients) {
        atomic_fetch_sub(&server->clients, 1);
        refuse(worker, stream, TOO_MANY);
        return;
    }
    struct client *client = calloc(1, sizeof(*client));
    if (!client || !remember_client(worker, client)) {
        free(client);
        atomic_fetch_sub(&server->clients, 1);
        stream->abort = true;
        stream_dirty(worker, stream);
        return;
    }
    client->stream = stream;
    client->worker = worker;
    client->id = atomic_fetch_add(&server->next_client_id, 1) + 1;
    client->protocol = 2;
    client->authenticated = server->settings.requirepass[0] == '\0';
    client->local_peer = local;
    client->created_ms = client->last_ms = worker->now_ms;
    client->last_us = worker->now_us;
    stream->client = client;
    worker->stats->counter[COUNTER_connections_opened]++;
}

void
session_close(struct worker *worker, struct stream *stream)
{
    struct client *client = stream->client;
    if (!client)
        return;
    session_wake(client);
    backlog_forget(client);
    struct client *last = worker->clients[--worker->clients_used];
    worker->clients[client->index] = last;
    last->index = client->index;
    if (client->parser) {
        resp_free(client->parser);
        free(client->parser);
    }
    stream->client = NULL;
    free(client->long_name);
    free(client);
    atomic_fetch_sub(&worker->server->clients, 1);
    worker->stats->counter[COUNTER_connections_closed]++;
}

/* The next one of a list to look at, moved to its end; NULL: all have been seen, or as many as a turn may. */
static struct client *
next_waiting(struct client_list *list, struct client **last, unsigned *looked)
{
    struct client *client = TAILQ_FIRST(list);
    if (*looked == 0)
        *last = TAILQ_LAST(list, client_list);
    else if (*last == NULL || *looked == TEND_CLIENTS)
        return NULL;
    if (!client)
        return NULL;
    ++*looked;
    if (client == *last)
        *last = NULL;
    TAILQ_REMOVE(list, client, wait_link);
    TAILQ_INSERT_TAIL(list, client, wait_link);
    return client;
}

static void
tend_parked(struct worker *worker)
{
    struct sessions *sessions = worker->sessions;
    if (worker->now_us < sessions->earliest_us)
        return;
    uint64_t earliest = UINT64_MAX;
    struct client *client, *last;
    unsigned looked = 0;
    while ((client = next_waiting(&sessions->parked, &last, &looked))) {
        if (client->resume_at_us <= worker->now_us) {
            session_wake(client);
            session_ready(client);
        } else if (client->resume_at_us < earliest) {
            earliest = client->resume_at_us;
        }
    }
    /* More of them than one turn can see: look again soon, where this turn stopped. */
    if (looked == TEND_CLIENTS && earliest > worker->now_us + RETRY_US)
        earliest = worker->now_us + RETRY_US;
    sessions->earliest_us = earliest;
}

static void
tend_idle(struct worker *worker)
{
    struct sessions *sessions = worker->sessions;
    int64_t timeout = worker->server->settings.timeout;
    if (timeout == 0 || worker->now_us < sessions->sweep_us)
        return;
    sessions->sweep_us = worker->now_us + SWEEP_US;
    for (unsigned n = worker->clients_used / SWEEP_SHARE + 1; n > 0 && worker->clients_used > 0; n--) {
        if (sessions->sweep_next >= worker->clients_used)
            sessions->sweep_next = 0;
        struct client *client = worker->clients[sessions->sweep_next++];
        if (client->wait == WAIT_TIME || worker->now_us - client->last_us <= (uint64_t)timeout * 1000000)
            continue;
        client->closing = true;
        client->stream->abort = true;
        session_dirty(client);
    }
}

bool
session_tend(struct worker *worker)
{
    tend_parked(worker);
    backlog_tend(worker);
    tend_idle(worker);
    session_sample(worker);
    return !TAILQ_EMPTY(worker->transport.ready);
}

uint64_t
session_deadline(const struct worker *worker)
{
    const struct sessions *sessions = worker->sessions;
    uint64_t deadline = sessions->earliest_us;
    if (worker->server->settings.timeout != 0 && sessions->sweep_us < deadline)
        deadline = sessions->sweep_us;
    if (sessions->backlog.count > 0 && worker->now_us + RETRY_US < deadline)
        deadline = worker->now_us + RETRY_US;
    return deadline;
}
