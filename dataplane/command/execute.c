/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: run the requests of a batch in order, then settle with their clients. */
#include "dataplane/command/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/command/args.h"
#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"

#define NAME_SHOWN 128 /* bytes of the client's words that an error repeats */

static void
reply_unknown(struct request *request, const struct command *container)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv;
    if (container) {
        char name[32];
        size_t len = strlen(container->name);
        for (size_t i = 0; i <= len; i++)
            name[i] = (char)(container->name[i] >= 'a' && container->name[i] <= 'z' ? container->name[i] - 32
                                                                                    : container->name[i]);
        reply_errorf(client, "ERR unknown subcommand '%.*s'. Try %s HELP.", arg_text_len(&argv[1], NAME_SHOWN),
                     (const char *)argv[1].data, name);
        return;
    }
    char args[NAME_SHOWN * 2];
    int used = 0;
    args[0] = '\0';
    for (uint32_t i = 1; i < request->argc && used < NAME_SHOWN; i++)
        used += snprintf(args + used, sizeof(args) - (size_t)used, "'%.*s' ", arg_text_len(&argv[i], NAME_SHOWN - used),
                         (const char *)argv[i].data);
    reply_errorf(client, "ERR unknown command '%.*s', with args beginning with: %s", arg_text_len(&argv[0], NAME_SHOWN),
                 (const char *)argv[0].data, args);
}

/* What a browser sends when a web page makes it talk to us: end it before the rest is taken for commands. */
static bool
is_http(const struct slice *name)
{
    return arg_is(name, "post") || arg_is(name, "host:");
}

enum command_result
session_run(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    const struct command *command = request->command;
    if (request->protocol_error) {
        worker->stats->counter[COUNTER_protocol_errors]++;
        reply_error(client, request->protocol_error);
        session_end(client);
        return COMMAND_DONE;
    }
    if (request->argc == 0)
        return COMMAND_DONE;
    if (!command) {
        const struct command *container;
        if (is_http(&request->argv[0])) {
            client->closing = true;
            client->stream->abort = true;
            return COMMAND_DONE;
        }
        command_find(request->argv, request->argc, &container);
        reply_unknown(request, container);
        return COMMAND_DONE;
    }
    if (!command_arity_fits(command, request->argc)) {
        reply_errorf(client, "ERR wrong number of arguments for '%s' command", command->full_name);
        return COMMAND_DONE;
    }
    if (!request->runnable) {
        reply_error(client, "NOAUTH Authentication required.");
        return COMMAND_DONE;
    }
    return command->run(worker, request);
}

static void
count_error(struct sessions *sessions, const uint8_t *line, size_t len)
{
    size_t n = 0;
    while (n < len && n < sizeof(sessions->error[0].prefix) - 1 && line[n] != ' ' && line[n] != '\r')
        n++;
    unsigned i = 0;
    while (i < sessions->errors &&
           (strlen(sessions->error[i].prefix) != n || memcmp(sessions->error[i].prefix, line, n)))
        i++;
    if (i == ERROR_KINDS)
        return;
    if (i == sessions->errors) {
        memcpy(sessions->error[i].prefix, line, n);
        sessions->error[i].prefix[n] = '\0';
        sessions->errors++;
    }
    sessions->error[i].count++;
}

/* A command has run: account for it. */
static void
settle(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct bytes *out = &client->stream->out;
    struct command_stats *stats =
        request->command ? &worker->sessions->command[request->command - command_table] : NULL;
    request->done = true;
    client->consumed += request->consumed;
    client->progress = 0;
    client->tally = 0;
    client->resume_at_us = 0;
    if (out->len > client->reply_start && bytes_data(out)[client->reply_start] == '-') {
        worker->stats->counter[COUNTER_errors]++;
        count_error(worker->sessions, bytes_data(out) + client->reply_start + 1, out->len - client->reply_start - 1);
        if (stats && request->runnable)
            stats->failed++;
        else if (stats)
            stats->rejected++;
    }
    if (stats && request->runnable)
        stats->calls++;
    if (request->argc > 0) {
        client->commands++;
        client->last_ms = worker->now_ms;
        client->last_us = worker->now_us;
    }
    if (out->len > STREAM_OUT_SOFT_LIMIT)
        backlog_replied(client);
    session_dirty(client);
}

void
session_execute(struct worker *worker, struct batch_requests *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        struct request *request = &batch->request[i];
        struct client *client = request->client;
        struct stream *stream = client->stream;
        if (client->held || client->closing || stream->abort)
            continue;
        if (!backlog_allows(client)) {
            client->held = true;
            continue;
        }
        client->reply_start = stream->out.len;
        if (request->command)
            client->last_command = request->command;
        enum command_result result = session_run(worker, request);
        if (result == COMMAND_DONE) {
            settle(worker, request);
            continue;
        }
        bytes_truncate(&stream->out, client->reply_start);
        client->held = true;
        if (result == COMMAND_PARK)
            session_wait(client, WAIT_TIME);
        else
            worker->stats->counter[COUNTER_deferred]++;
    }
}

/* Give back the input of what was done; see that the rest is decoded again when its time has come. */
static void
settle_client(struct client *client)
{
    struct stream *stream = client->stream;
    if (client->closing)
        client->consumed = stream->in.len;
    else if (client->parser)
        client->parser->start -= (uint32_t)client->consumed;
    bytes_consume(&stream->in, client->consumed);
    bool again = client->held || client->again;
    client->decoded = client->consumed = 0;
    client->held = client->again = false;
    if (client->wait == WAIT_NOTHING && (again || client->closing))
        session_ready(client);
}

void
session_finish(struct worker *worker, struct batch_requests *batch, uint64_t elapsed_ns)
{
    uint64_t done[FAMILIES] = {0}, commands = 0;
    uint64_t share_ns = batch->count ? elapsed_ns / batch->count : 0;
    for (unsigned i = 0; i < batch->count; i++) {
        struct request *request = &batch->request[i];
        if (request->done && request->argc > 0)
            commands++;
        if (request->done && request->command && request->runnable) {
            done[request->command->family]++;
            worker->sessions->command[request->command - command_table].ns += share_ns;
        }
        if (request->client->decoded > 0)
            settle_client(request->client);
    }
    struct stats_core *stats = worker->stats;
    for (unsigned family = 0; family < FAMILIES; family++)
        stats->latency[family].count[stats_bucket(elapsed_ns)] += done[family];
    stats->counter[COUNTER_commands] += commands;
    stats->counter[COUNTER_batches] += batch->count > 0;
    for (unsigned i = 0; i < batch->owns; i++)
        free(batch->own[i]);
    batch->count = batch->args = batch->owns = 0;
}
