/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS_MAX 100000

struct harness *
harness_open(uint64_t pool_size)
{
    struct harness *h = calloc(1, sizeof(*h));
    char error[256];
    snprintf(h->folder, sizeof(h->folder), "/dev/shm/pollux-test-XXXXXX");
    if (!mkdtemp(h->folder)) {
        perror(h->folder);
        exit(1);
    }
    snprintf(h->path, sizeof(h->path), "%s/pool", h->folder);
    const struct engine_options options = {.path = h->path, .create_size = pool_size, .cores = 1};
    h->server.engine = engine_open(&options, error, sizeof(error));
    if (!h->server.engine) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    h->stats = aligned_alloc(64, (sizeof(*h->stats) + 63) / 64 * 64);
    memset(h->stats, 0, sizeof(*h->stats));
    TAILQ_INIT(&h->ready);
    TAILQ_INIT(&h->dirty);
    settings_default(&h->server.settings);
    h->server.stats = h->stats;
    h->server.cores = 1;
    h->server.worker = &h->worker;
    snprintf(h->server.run_id, sizeof(h->server.run_id), "%040d", 7);
    snprintf(h->server.port_kind, sizeof(h->server.port_kind), "test");
    h->worker = (struct worker){.server = &h->server,
                                .core = engine_core(h->server.engine, 0),
                                .stats = &h->stats->core[0],
                                .transport = {.ready = &h->ready, .dirty = &h->dirty},
                                .now_us = 1000000,
                                .now_ms = 1700000000000,
                                .random = 42};
    h->server.started_ms = h->worker.now_ms;
    core_online(h->worker.core);
    if (session_start(&h->worker) != 0)
        exit(1);
    return h;
}

void
harness_close(struct harness *h)
{
    while (h->worker.clients_used > 0)
        harness_disconnect(h, h->worker.clients[0]->stream);
    session_stop(&h->worker);
    core_offline(h->worker.core);
    engine_close(h->server.engine);
    unlink(h->path);
    rmdir(h->folder);
    free(h->stats);
    free(h);
    bytes_drain();
}

struct stream *
harness_connect_from(struct harness *h, uint8_t first_byte_of_ip)
{
    static uint64_t id;
    struct stream *stream = calloc(1, sizeof(*stream));
    stream->id = ++id;
    memcpy(stream->peer_ip, (const uint8_t[]){first_byte_of_ip, 0, 0, 1}, 4);
    memcpy(stream->local_ip, (const uint8_t[]){127, 0, 0, 1}, 4);
    stream->peer_port = (uint16_t)(10000 + id);
    stream->local_port = 6379;
    session_open(&h->worker, stream);
    return stream;
}

struct stream *
harness_connect(struct harness *h)
{
    return harness_connect_from(h, 127);
}

void
harness_disconnect(struct harness *h, struct stream *stream)
{
    stream->gone = true;
    if (stream->ready)
        TAILQ_REMOVE(&h->ready, stream, ready_link);
    if (stream->dirty)
        TAILQ_REMOVE(&h->dirty, stream, dirty_link);
    session_close(&h->worker, stream);
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
    TAILQ_INSERT_TAIL(&h->ready, stream, ready_link);
}

void
harness_feed(struct harness *h, struct stream *stream, const void *data, size_t len)
{
    bytes_append(&stream->in, data, len);
    make_ready(h, stream);
}

bool
harness_turn(struct harness *h)
{
    struct worker *worker = &h->worker;
    unsigned requests = session_decode(worker, &h->batch);
    if (requests > 0) {
        session_prefetch(worker, &h->batch);
        batch_begin(worker->core, worker->now_ms);
        session_prepare(worker, &h->batch);
        batch_prepared(worker->core);
        session_execute(worker, &h->batch);
        batch_commit(worker->core);
        session_finish(worker, &h->batch, 1000);
    }
    while (!TAILQ_EMPTY(&h->dirty)) {
        struct stream *stream = TAILQ_FIRST(&h->dirty);
        TAILQ_REMOVE(&h->dirty, stream, dirty_link);
        stream->dirty = false;
    }
    bool more = session_tend(worker);
    batch_tend(worker->core);
    return requests > 0 || more;
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
    h->worker.now_ms += ms;
    h->worker.now_us += ms * 1000;
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
