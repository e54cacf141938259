/* SPDX-License-Identifier: BSD-3-Clause */
/* CLIENT, and clients as others see them. */
#include <stdio.h>
#include <stdlib.h>

#include "dataplane/command/clients.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"
#include "dataplane/command/text.h"

#define ADDRESS_MAX 24 /* 255.255.255.255:65535 */

/* ---- names ---- */

const char *
client_name(const struct client *client)
{
    return client->long_name ? client->long_name : client->name;
}

void
client_forget_name(struct client *client)
{
    free(client->long_name);
    client->long_name = NULL;
    memset(client->name, 0, sizeof(client->name));
}

static bool
is_printable(const struct slice *text)
{
    const uint8_t *bytes = text->data;
    for (size_t i = 0; i < text->len; i++)
        if (bytes[i] < '!' || bytes[i] > '~')
            return false;
    return true;
}

/* As much of it as fits, and a NUL. */
static void
copy_text(char *to, size_t size, const struct slice *from)
{
    size_t len = from->len < size ? from->len : size - 1;
    memcpy(to, from->data, len);
    to[len] = '\0';
}

bool
client_set_name(struct client *client, const struct slice *name)
{
    if (!is_printable(name)) {
        reply_error(client, "ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
    }
    char *whole = name->len >= sizeof(client->name) ? malloc(name->len + 1) : NULL;
    client_forget_name(client);
    copy_text(client->name, sizeof(client->name), name);
    if (whole) {
        copy_text(whole, name->len + 1, name);
        client->long_name = whole;
    }
    return true;
}

enum command_result
command_client_setname(struct worker *worker, struct request *request)
{
    (void)worker;
    if (client_set_name(request->client, &request->argv[2]))
        reply_ok(request->client);
    return COMMAND_DONE;
}

enum command_result
command_client_getname(struct worker *worker, struct request *request)
{
    const char *name = client_name(request->client);
    (void)worker;
    if (name[0])
        reply_bulk_string(request->client, name);
    else
        reply_null(request->client);
    return COMMAND_DONE;
}

/* From Redis 7.2, because its clients send it without asking. */
enum command_result
command_client_setinfo(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    const struct slice *what = &request->argv[2], *value = &request->argv[3];
    bool is_name = arg_is(what, "LIB-NAME");
    (void)worker;
    if (!is_name && !arg_is(what, "LIB-VER")) {
        reply_errorf(client, "ERR Unrecognized option '%.*s'", arg_text_len(what, TEXT_WHOLE),
                     (const char *)what->data);
    } else if (!is_printable(value)) {
        reply_errorf(client, "ERR %s cannot contain spaces, newlines or special characters.",
                     is_name ? "lib-name" : "lib-ver");
    } else {
        copy_text(is_name ? client->lib_name : client->lib_version,
                  is_name ? sizeof(client->lib_name) : sizeof(client->lib_version), value);
        reply_ok(client);
    }
    return COMMAND_DONE;
}

/* ---- descriptions ---- */

static void
format_address(char text[ADDRESS_MAX], const uint8_t ip[4], uint16_t port)
{
    snprintf(text, ADDRESS_MAX, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], port);
}

static int64_t
seconds_since(const struct client *client, uint64_t then_ms)
{
    uint64_t now_ms = client->worker->now_ms;
    return now_ms > then_ms ? (int64_t)((now_ms - then_ms) / 1000) : 0;
}

/* A line of CLIENT LIST, appended to text. Fields that mean nothing here are 0. */
static void
append_description(struct bytes *text, const struct client *client)
{
    const struct stream *stream = client->stream;
    char peer[ADDRESS_MAX], local[ADDRESS_MAX], flags[4];
    unsigned used = 0;
    format_address(peer, stream->peer_ip, stream->peer_port);
    format_address(local, stream->local_ip, stream->local_port);
    if (client->wait == WAIT_TIME)
        flags[used++] = 'b';
    if (client->closing)
        flags[used++] = 'c';
    if (client->no_evict)
        flags[used++] = 'e';
    if (used == 0)
        flags[used++] = 'N';
    flags[used] = '\0';
    uint64_t memory = sizeof(*client) + stream->in.capacity + stream->out.capacity;
    const char *name = client_name(client);
    text_printf(text, "id=%lu addr=%s laddr=%s fd=0 name=", client->id, peer, local);
    bytes_append(text, name, strlen(name));
    text_printf(text,
                " age=%ld idle=%ld flags=%s db=%u sub=0 psub=0 ssub=0 multi=-1 qbuf=%u qbuf-free=%u argv-mem=0 "
                "multi-mem=0 rbs=0 rbp=0 obl=%u oll=0 omem=%u tot-mem=%lu events=r cmd=%s user=default redir=-1 "
                "resp=%u lib-name=%s lib-ver=%s\n",
                seconds_since(client, client->created_ms), seconds_since(client, client->last_ms), flags, client->db,
                stream->in.len, stream->in.capacity - stream->in.len, stream->out.len, stream->out.capacity, memory,
                client->last_command ? client->last_command->full_name : "NULL", client->protocol, client->lib_name,
                client->lib_version);
}

enum command_result
command_client_id(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_integer(request->client, (int64_t)request->client->id);
    return COMMAND_DONE;
}

enum command_result
command_client_info(struct worker *worker, struct request *request)
{
    struct bytes text = {0};
    (void)worker;
    append_description(&text, request->client);
    text_reply(request->client, &text);
    return COMMAND_DONE;
}

/* ---- which ones ---- */

/* NULL pattern: any. All clients are of type normal. */
struct selection {
    const struct slice *address, *local_address;
    int64_t id; /* 0: any */
    bool none;  /* of a type or user that no client has */
};

/* False: unknown, and the error has been replied. */
static bool
parse_type(struct client *client, const struct slice *arg, bool *none)
{
    static const char *const other[] = {"MASTER", "REPLICA", "SLAVE", "PUBSUB"};
    if (arg_is(arg, "NORMAL"))
        return true;
    for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        if (arg_is(arg, other[i])) {
            *none = true;
            return true;
        }
    }
    reply_errorf(client, "ERR Unknown client type '%.*s'", arg_text_len(arg, TEXT_WHOLE), (const char *)arg->data);
    return false;
}

static bool
address_is(const struct slice *wanted, const uint8_t ip[4], uint16_t port)
{
    char text[ADDRESS_MAX];
    format_address(text, ip, port);
    return wanted->len == strlen(text) && memcmp(wanted->data, text, wanted->len) == 0;
}

static bool
is_selected(const struct selection *selection, const struct client *client)
{
    const struct stream *stream = client->stream;
    if (selection->none || (selection->id != 0 && client->id != (uint64_t)selection->id))
        return false;
    if (selection->address && !address_is(selection->address, stream->peer_ip, stream->peer_port))
        return false;
    return !selection->local_address || address_is(selection->local_address, stream->local_ip, stream->local_port);
}

static const struct client *
find_client(const struct worker *worker, int64_t id)
{
    for (unsigned i = 0; i < worker->clients_used; i++)
        if (worker->clients[i]->id == (uint64_t)id)
            return worker->clients[i];
    return NULL;
}

enum command_result
command_client_list(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv;
    struct bytes text = {0};
    bool none = false;
    if (request->argc > 3 && arg_is(&argv[2], "ID")) {
        for (uint32_t i = 3; i < request->argc; i++) {
            int64_t id;
            if (!integer_parse(argv[i].data, argv[i].len, &id)) {
                reply_error(client, "ERR Invalid client ID");
                bytes_free(&text);
                return COMMAND_DONE;
            }
            const struct client *found = find_client(worker, id);
            if (found)
                append_description(&text, found);
        }
        text_reply(client, &text);
        return COMMAND_DONE;
    }
    if (request->argc == 4 && arg_is(&argv[2], "TYPE")) {
        if (!parse_type(client, &argv[3], &none))
            return COMMAND_DONE;
    } else if (request->argc != 2) {
        return done_syntax_error(client);
    }
    for (unsigned i = 0; !none && i < worker->clients_used; i++)
        append_description(&text, worker->clients[i]);
    text_reply(client, &text);
    return COMMAND_DONE;
}

/* ---- CLIENT KILL ---- */

static bool
parse_id(struct client *client, const struct slice *arg, int64_t *id)
{
    if (!integer_parse(arg->data, arg->len, id)) {
        reply_error(client, "ERR client-id should be greater than 0");
        return false;
    }
    if (*id >= 1)
        return true;
    reply_error(client, "ERR client-id should be greater than 0");
    return false;
}

static bool
parse_user(struct client *client, const struct slice *arg)
{
    if (arg->len == 7 && memcmp(arg->data, "default", 7) == 0)
        return true;
    reply_errorf(client, "ERR No such user '%.*s'", arg_text_len(arg, TEXT_WHOLE), (const char *)arg->data);
    return false;
}

/* The new form: filters and their values. False: the error has been replied. */
static bool
parse_kill(struct request *request, struct selection *selection, bool *skip_me)
{
    struct client *client = request->client;
    for (uint32_t i = 2; i < request->argc; i += 2) {
        const struct slice *filter = &request->argv[i], *value = filter + 1;
        bool known = i + 1 < request->argc, good = true;
        if (known && arg_is(filter, "ID"))
            good = parse_id(client, value, &selection->id);
        else if (known && arg_is(filter, "TYPE"))
            good = parse_type(client, value, &selection->none);
        else if (known && arg_is(filter, "USER"))
            good = parse_user(client, value);
        else if (known && arg_is(filter, "ADDR"))
            selection->address = value;
        else if (known && arg_is(filter, "LADDR"))
            selection->local_address = value;
        else if (known && arg_is(filter, "SKIPME") && (arg_is(value, "YES") || arg_is(value, "NO")))
            *skip_me = arg_is(value, "YES");
        else
            known = false;
        if (!known)
            done_syntax_error(client);
        if (!known || !good)
            return false;
    }
    return true;
}

enum command_result
command_client_kill(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    struct selection selection = {0};
    bool old_form = request->argc == 3, skip_me = !old_form, me = false;
    int64_t killed = 0;
    if (old_form)
        selection.address = &request->argv[2];
    else if (!parse_kill(request, &selection, &skip_me))
        return COMMAND_DONE;
    for (unsigned i = 0; i < worker->clients_used; i++) {
        struct client *other = worker->clients[i];
        if (!is_selected(&selection, other) || (other == client && skip_me))
            continue;
        killed++;
        if (other == client) {
            me = true;
            continue;
        }
        other->closing = true;
        other->stream->abort = true;
        session_dirty(other);
    }
    if (!old_form)
        reply_integer(client, killed);
    else if (killed == 0)
        reply_error(client, "ERR No such client");
    else
        reply_ok(client);
    if (me)
        session_end(client);
    return COMMAND_DONE;
}

enum command_result
command_client_no_evict(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    (void)worker;
    bool on = arg_is(&request->argv[2], "ON");
    if (!on && !arg_is(&request->argv[2], "OFF"))
        return done_syntax_error(client);
    client->no_evict = on;
    reply_ok(client);
    return COMMAND_DONE;
}

enum command_result
command_client_help(struct worker *worker, struct request *request)
{
    static const char *const lines[] = {
        "GETNAME",
        "    Return the name of the current connection.",
        "ID",
        "    Return the ID of the current connection.",
        "INFO",
        "    Return information about the current client connection.",
        "KILL <ip:port>",
        "    Kill connection made from <ip:port>.",
        "KILL <option> <value> [<option> <value> [...]]",
        "    Kill connections. Options are:",
        "    * ADDR (<ip:port>|<unixsocket>:0)",
        "      Kill connections made from the specified address",
        "    * LADDR (<ip:port>|<unixsocket>:0)",
        "      Kill connections made to specified local address",
        "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
        "      Kill connections by type.",
        "    * USER <username>",
        "      Kill connections authenticated by <username>.",
        "    * SKIPME (YES|NO)",
        "      Skip killing current connection (default: yes).",
        "LIST [options ...]",
        "    Return information about client connections. Options:",
        "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
        "      Return clients of specified type.",
        "SETINFO <option> <value>",
        "    Set client meta attr. Options are:",
        "    * LIB-NAME: the client lib name.",
        "    * LIB-VER: the client lib version.",
        "SETNAME <name>",
        "    Assign the name <name> to the current connection.",
        "NO-EVICT (ON|OFF)",
        "    Protect current client connection from eviction.",
        NULL,
    };
    (void)worker;
    reply_help(request->client, "CLIENT", lines);
    return COMMAND_DONE;
}
