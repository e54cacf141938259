/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS_MAX 100000

static void
start_worker(struct harness *h, unsigned i)
{
    TAILQ_INIT(&h->ready[i]);
    TAILQ_INIT(&h->dirty[i]);
    h->worker[i] = (struct worker){.server = &h->server,
                                   .index = i,
                                   .core = engine_core(h->server.engine, i),
                                   .stats = &h->stats->core[i],
                                   .transport = {.ready = &h->ready[i], .dirty = &h->dirty[i]},
                                   .now_us = 1000000,
                                   .now_ms = 1700000000000,
                                   .random = 42 + i};
    core_online(h->worker[i].core);
    if (session_start(&h->worker[i]) != 0)
        exit(1);
}

struct harness *
harness_open_cores(uint64_t pool_size, unsigned cores)
{
    struct harness *h = calloc(1, sizeof(*h));
    char error[256];
    char folder[] = "/dev/shm/pollux-test-XXXXXX", path[sizeof(folder) + 8];
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    snprintf(path, sizeof(path), "%s/pool", folder);
    const struct engine_options options = {.path = path, .create_size = pool_size, .cores = cores};
    h->server.engine = engine_open(&options, error, sizeof(error));
    if (!h->server.engine) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    /* The mapping stays; a test that dies leaves nothing behind. */
    unlink(path);
    rmdir(folder);
    h->stats = aligned_alloc(64, (sizeof(*h->stats) + 63) / 64 * 64);
    memset(h->stats, 0, sizeof(*h->stats));
    settings_default(&h->server.settings);
    h->server.stats = h->stats;
    h->server.cores = cores;
    h->server.worker = h->worker;
    snprintf(h->server.run_id, sizeof(h->server.run_id), "%040d", 7);
    snprintf(h->server.port_kind, sizeof(h->server.port_kind), "test");
    for (unsigned i = 0; i < cores; i++)
        start_worker(h, i);
    h->server.started_ms = h->worker[0].now_ms;
    return h;
}

struct harness *
harness_open(uint64_t pool_size)
{
    return harness_open_cores(pool_size, 1);
}

void
harness_close(struct harness *h)
{
    for (unsigned i = 0; i < h->server.cores; i++) {
        while (h->worker[i].clients_used > 0)
            harness_disconnect(h, h->worker[i].clients[0]->stream);
        session_stop(&h->worker[i]);
        core_offline(h->worker[i].core);
    }
    engine_close(h->server.engine);
    free(h->stats);
    free(h);
    bytes_drain();
}

static struct stream *
connect(struct harness *h, unsigned core, uint8_t first_byte_of_ip)
{
    static uint64_t id;
    struct stream *stream = calloc(1, sizeof(*stream));
    stream->id = ++id;
    memcpy(stream->peer_ip, (const uint8_t[]){first_byte_of_ip, 0, 0, 1}, 4);
    memcpy(stream->local_ip, (const uint8_t[]){127, 0, 0, 1}, 4);
    stream->peer_port = (uint16_t)(10000 + id);
    stream->local_port = 6379;
    session_open(&h->worker[core], stream);
    return stream;
}

struct stream *
harness_connect_from(struct harness *h, uint8_t first_byte_of_ip)
{
    return connect(h, 0, first_byte_of_ip);
}

struct stream *
harness_connect_to(struct harness *h, unsigned core)
{
    return connect(h, core, 127);
}

struct stream *
harness_connect(struct harness *h)
{
    return connect(h, 0, 127);
}

/* A refused stream has no client; it is on the first core. */
static unsigned
core_of(const struct stream *stream)
{
    return stream->client ? stream->client->worker->index : 0;
}

void
harness_disconnect(struct harness *h, struct stream *stream)
{
    unsigned core = core_of(stream);
    stream->gone = true;
    if (stream->ready)
        TAILQ_REMOVE(&h->ready[core], stream, ready_link);
    if (stream->dirty)
        TAILQ_REMOVE(&h->dirty[core], stream, dirty_link);
    session_close(&h->worker[core], stream);
    bytes_free(&stream->in);
    bytes_free(&stream->out);
    free(stream);
}

static void
make_ready(struct harness *h, struct stream *stream)
{
    if (stream->ready)
        return;
    stream->ready = true;
    TAILQ_INSERT_TAIL(&h->ready[core_of(stream)], stream, ready_link);
}

void
harness_feed(struct harness *h, struct stream *stream, const void *data, size_t len)
{
    bytes_append(&stream->in, data, len);
    make_ready(h, stream);
}

bool
harness_turn_core(struct harness *h, unsigned core)
{
    struct worker *worker = &h->worker[core];
    struct batch_requests *batch = &h->batch[core];
    unsigned requests = session_decode(worker, batch);
    if (requests > 0) {
        session_prefetch(worker, batch);
        batch_begin(worker->core, worker->now_ms);
        session_prepare(worker, batch);
        batch_prepared(worker->core);
        session_execute(worker, batch);
        batch_commit(worker->core);
        session_finish(worker, batch, 1000);
    }
    while (!TAILQ_EMPTY(&h->dirty[core])) {
        struct stream *stream = TAILQ_FIRST(&h->dirty[core]);
        TAILQ_REMOVE(&h->dirty[core], stream, dirty_link);
        stream->dirty = false;
    }
    bool more = session_tend(worker);
    batch_tend(worker->core);
    return requests > 0 || more;
}

bool
harness_turn(struct harness *h)
{
    return harness_turn_core(h, 0);
}

void
harness_run(struct harness *h)
{
    for (unsigned i = 0; harness_turn(h); i++) {
        if (i == TURNS_MAX) {
            fprintf(stderr, "the loop does not come to rest\n");
            exit(1);
        }
    }
}

void
harness_advance(struct harness *h, uint64_t ms)
{
    for (unsigned i = 0; i < h->server.cores; i++) {
        h->worker[i].now_ms += ms;
        h->worker[i].now_us += ms * 1000;
    }
}

const char *
harness_output(struct stream *stream, size_t *len)
{
    static char *copy;
    free(copy);
    size_t n = stream->out.len;
    copy = malloc(n + 1);
    if (n > 0)
        memcpy(copy, bytes_data(&stream->out), n);
    copy[n] = '\0';
    bytes_consume(&stream->out, n);
    if (len)
        *len = n;
    return copy;
}

const char *
harness_command(struct harness *h, struct stream *stream, const char *line)
{
    harness_feed(h, stream, line, strlen(line));
    harness_feed(h, stream, "\r\n", 2);
    harness_run(h);
    return harness_output(stream, NULL);
}

bool
harness_talk(struct harness *h, struct stream *stream, const struct exchange *exchange, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const char *reply = harness_command(h, stream, exchange[i].line);
        if (strcmp(reply, exchange[i].reply) == 0)
            continue;
        fprintf(stderr, "\nline %u: %s\nmust be: %s\nis:      %.500s\n", i, exchange[i].line, exchange[i].reply, reply);
        return false;
    }
    return true;
}

void
harness_set(struct harness *h, struct stream *stream, const char *key, size_t len, char fill)
{
    char head[128];
    char *value = malloc(len + 2);
    memset(value, fill, len);
    memcpy(value + len, "\r\n", 2);
    int n = snprintf(head, sizeof(head), "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n", strlen(key), key, len);
    harness_feed(h, stream, head, (size_t)n);
    harness_feed(h, stream, value, len + 2);
    harness_run(h);
    bytes_consume(&stream->out, stream->out.len);
    free(value);
}
