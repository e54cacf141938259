/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: from ready streams to requests, and what can be done for these before they run. */
#include "dataplane/command/session.h"

#include <stdlib.h>
#include <string.h>

#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"

#define UNAUTHENTICATED_INPUT (1u << 20)  /* most bytes kept of a peer that has not given its password */
#define WINDOW_STEP           (64u << 10) /* how far the window opens ahead for a command of many arguments */

/* Why decode_stream stopped. */
enum stop {
    STOP_DRY,   /* nothing more to decode, or not allowed to */
    STOP_TURN,  /* the next stream's turn, or the batch is full */
    STOP_LATER, /* only after this batch */
};

/* ---- parsers: most commands are whole and need none of their own ---- */

static struct resp_parser *
parser_take(struct sessions *sessions, struct client *client, uint32_t offset)
{
    if (client->parser && client->parser->start == offset)
        return client->parser;
    sessions->parser[0]->start = offset;
    return sessions->parser[0];
}

/* The command is not complete: the parser stays with the client. */
static bool
parser_keep(struct sessions *sessions, struct client *client, struct resp_parser *parser)
{
    if (parser == client->parser)
        return true;
    struct resp_parser *fresh =
        sessions->parsers > 1 ? sessions->parser[--sessions->parsers] : calloc(1, sizeof(*fresh));
    if (!fresh)
        return false;
    client->parser = parser;
    sessions->parser[0] = fresh;
    return true;
}

static void
parser_release(struct sessions *sessions, struct client *client, struct resp_parser *parser)
{
    resp_reset(parser);
    if (parser != client->parser)
        return;
    client->parser = NULL;
    if (sessions->parsers < PARSERS_KEPT) {
        sessions->parser[sessions->parsers++] = parser;
        return;
    }
    resp_free(parser);
    free(parser);
}

/* ---- one command ---- */

static struct slice *
room_for_args(struct batch_requests *batch, uint32_t argc)
{
    if (argc <= SESSION_ARGS - batch->args) {
        struct slice *room = &batch->arg[batch->args];
        batch->args += argc;
        return room;
    }
    struct slice *own = malloc(argc * sizeof(*own));
    if (own)
        batch->own[batch->owns++] = own;
    return own;
}

static bool
take_args(struct batch_requests *batch, struct request *request, const struct resp_parser *parser, const uint8_t *data)
{
    struct slice *argv = room_for_args(batch, parser->argc);
    if (!argv)
        return false;
    for (uint32_t i = 0; i < parser->argc; i++)
        argv[i] = (struct slice){data + parser->span[i].offset, parser->span[i].len};
    request->argv = argv;
    request->argc = parser->argc;
    return true;
}

/* An inline command may need its quoted arguments unescaped: they lie behind its slices. */
static bool
take_inline_args(struct batch_requests *batch, struct request *request, const struct resp_parser *parser,
                 const uint8_t *data)
{
    size_t line = parser->position - 1;
    struct slice *own = malloc(parser->argc * sizeof(*own) + line);
    if (!own)
        return false;
    batch->own[batch->owns++] = own;
    inline_split(data, line, own, parser->argc, (uint8_t *)(own + parser->argc));
    request->argv = own;
    request->argc = parser->argc;
    return true;
}

static void
recognize(struct worker *worker, struct request *request, bool needs_auth)
{
    const struct command *container;
    const struct command *command = command_find(request->argv, request->argc, &container);
    request->command = command;
    if (!command)
        return;
    request->runnable = command_arity_fits(command, request->argc) && (!needs_auth || command->flags & CMD_NO_AUTH);
    if (command->first_key > 0 && request->argc > (uint32_t)command->first_key) {
        const struct slice *key = &request->argv[command->first_key];
        key_init(worker->server->engine, &request->key, key->data, key->len);
    }
}

static struct request *
add_request(struct batch_requests *batch, struct client *client, uint32_t consumed)
{
    struct request *request = &batch->request[batch->count++];
    memset(request, 0, sizeof(*request));
    request->client = client;
    request->consumed = consumed;
    client->decoded += consumed;
    return request;
}

/* A whole command; true if the next ones may be decoded, too. */
static bool
accept_command(struct worker *worker, struct batch_requests *batch, struct client *client, struct resp_parser *parser,
               const uint8_t *data, bool needs_auth)
{
    struct request *request = add_request(batch, client, parser->position);
    bool taken =
        parser->is_inline ? take_inline_args(batch, request, parser, data) : take_args(batch, request, parser, data);
    parser_release(worker->sessions, client, parser);
    if (!taken) {
        request->protocol_error = "ERR out of memory";
        return false;
    }
    recognize(worker, request, needs_auth);
    return !needs_auth && !(request->command && request->command->flags & CMD_SESSION);
}

/* The connection's last words. They are a request, so that they come behind the replies to those before. */
static void
accept_error(struct worker *worker, struct batch_requests *batch, struct client *client, struct resp_parser *parser)
{
    struct request *request = add_request(batch, client, 0);
    client->decoded = client->stream->in.len;
    request->consumed = client->stream->in.len - parser->start;
    request->protocol_error = "ERR Protocol error: out of memory";
    if (parser_keep(worker->sessions, client, parser))
        request->protocol_error = client->parser->error;
    else
        resp_reset(parser);
}

/* The transport's window must let in what a command needs to become complete. */
static void
widen_window(struct stream *stream, const struct resp_parser *parser)
{
    uint64_t want = (uint64_t)stream->in.len + WINDOW_STEP;
    if (parser->expected > 0 && parser->bulk > 0) {
        uint64_t end = (uint64_t)parser->start + parser->position + (uint64_t)parser->bulk + 2;
        want = end > want ? end : want;
    }
    stream->want = want > UINT32_MAX ? UINT32_MAX : (uint32_t)want;
}

static enum stop
decode_commands(struct worker *worker, struct batch_requests *batch, struct client *client)
{
    struct stream *stream = client->stream;
    bool needs_auth = session_needs_auth(client);
    const struct resp_limits limits = {worker->server->settings.proto_max_bulk_len, needs_auth};
    for (unsigned turn = 0; client->decoded < stream->in.len; turn++) {
        if (turn == SESSION_TURN || batch->count == SESSION_COMMANDS)
            return STOP_TURN;
        const uint8_t *data = bytes_data(&stream->in) + client->decoded;
        struct resp_parser *parser = parser_take(worker->sessions, client, (uint32_t)client->decoded);
        switch (resp_parse(parser, data, stream->in.len - client->decoded, &limits)) {
        case RESP_COMMAND:
            if (!accept_command(worker, batch, client, parser, data, needs_auth))
                return STOP_LATER;
            break;
        case RESP_EMPTY:
            add_request(batch, client, parser->position);
            parser_release(worker->sessions, client, parser);
            break;
        case RESP_ERROR:
            accept_error(worker, batch, client, parser);
            return STOP_LATER;
        case RESP_MORE:
            widen_window(stream, parser);
            if (!parser_keep(worker->sessions, client, parser))
                stream->abort = true;
            return STOP_DRY;
        }
    }
    return STOP_DRY;
}

/* ---- one stream ---- */

static bool
too_much_input(const struct client *client)
{
    uint64_t len = client->stream->in.len;
    return len > (uint64_t)client->worker->server->settings.client_query_buffer_limit ||
           (len > UNAUTHENTICATED_INPUT && session_needs_auth(client));
}

static enum stop
decode_stream(struct worker *worker, struct batch_requests *batch, struct stream *stream)
{
    struct client *client = stream->client;
    if (!client || client->closing || stream->close_after_out || stream->abort) {
        bytes_consume(&stream->in, stream->in.len);
        return STOP_DRY;
    }
    if (too_much_input(client) || (stream->end_of_input && client->resume_at_us == UINT64_MAX)) {
        client->closing = true;
        stream->abort = true;
        session_dirty(client);
        return STOP_DRY;
    }
    if (client->wait != WAIT_NOTHING)
        return STOP_DRY;
    if (!backlog_allows(client)) {
        session_wait(client, WAIT_OUTPUT);
        return STOP_DRY;
    }
    enum stop stop = decode_commands(worker, batch, client);
    if (stop == STOP_DRY && stream->end_of_input) {
        if (client->decoded == 0)
            session_end(client);
        else
            client->again = true;
    }
    return stop;
}

unsigned
session_decode(struct worker *worker, struct batch_requests *batch)
{
    struct stream_list *ready = worker->transport.ready;
    batch->count = batch->args = batch->owns = 0;
    struct stream *stream;
    while (batch->count < SESSION_COMMANDS && (stream = TAILQ_FIRST(ready))) {
        TAILQ_REMOVE(ready, stream, ready_link);
        stream->ready = false;
        stream->want = 0;
        enum stop stop = decode_stream(worker, batch, stream);
        if (stop == STOP_TURN)
            session_ready(stream->client);
        else if (stop == STOP_LATER)
            stream->client->again = true;
    }
    return batch->count;
}

/* ---- before they run ---- */

void
session_prefetch(struct worker *worker, struct batch_requests *batch)
{
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->request[i].key.data)
            entry_prefetch_bucket(worker->core, batch->request[i].client->db, &batch->request[i].key);
    for (unsigned i = 0; i < batch->count; i++)
        if (batch->request[i].key.data)
            entry_prefetch_record(worker->core, batch->request[i].client->db, &batch->request[i].key);
}

void
session_prepare(struct worker *worker, struct batch_requests *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        struct request *request = &batch->request[i];
        if (request->runnable && request->command->prepare)
            request->command->prepare(worker, request);
    }
}
