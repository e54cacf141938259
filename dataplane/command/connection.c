/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection itself: PING ECHO AUTH HELLO SELECT RESET QUIT. */
#include <stdlib.h>

#include "dataplane/command/clients.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"

#define WRONG_PASSWORD "WRONGPASS invalid username-password pair or user is disabled."

enum command_result
command_ping(struct worker *worker, struct request *request)
{
    (void)worker;
    if (request->argc > 2)
        reply_error(request->client, "ERR wrong number of arguments for 'ping' command");
    else if (request->argc == 2)
        reply_bulk(request->client, request->argv[1].data, request->argv[1].len);
    else
        reply_status(request->client, "PONG");
    return COMMAND_DONE;
}

enum command_result
command_echo(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_bulk(request->client, request->argv[1].data, request->argv[1].len);
    return COMMAND_DONE;
}

/* In a time that does not tell where the two differ. */
static bool
same_secret(const char *secret, const struct slice *given)
{
    size_t len = strlen(secret);
    const uint8_t *bytes = given->data;
    unsigned difference = len != given->len;
    for (size_t i = 0; i < given->len; i++)
        difference |= bytes[i] ^ (unsigned char)(len ? secret[i % len] : 0);
    return difference == 0;
}

/* There is one user, "default". Without a password any will do for it. */
static bool
authenticate(struct client *client, const struct slice *user, const struct slice *password)
{
    const char *secret = client->worker->server->settings.requirepass;
    if (user && !(user->len == 7 && memcmp(user->data, "default", 7) == 0))
        return false;
    if (secret[0] != '\0' && !same_secret(secret, password))
        return false;
    client->authenticated = true;
    return true;
}

enum command_result
command_auth(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv;
    if (request->argc > 3)
        return done_syntax_error(client);
    if (request->argc == 2 && worker->server->settings.requirepass[0] == '\0')
        reply_error(client, "ERR AUTH <password> called without any password configured for the default user. Are you "
                            "sure your configuration is correct?");
    else if (authenticate(client, request->argc == 3 ? &argv[1] : NULL, &argv[request->argc - 1]))
        reply_ok(client);
    else
        reply_error(client, WRONG_PASSWORD);
    return COMMAND_DONE;
}

/* False: the error has been replied. */
static bool
parse_hello(struct request *request, int64_t *protocol)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv;
    *protocol = 0;
    if (request->argc >= 2 && !integer_parse(argv[1].data, argv[1].len, protocol)) {
        reply_error(client, "ERR Protocol version is not an integer or out of range");
        return false;
    }
    if (request->argc >= 2 && (*protocol < 2 || *protocol > 3)) {
        reply_error(client, "NOPROTO unsupported protocol version");
        return false;
    }
    for (uint32_t i = 2; i < request->argc; i++) {
        uint32_t more = request->argc - 1 - i;
        if (arg_is(&argv[i], "AUTH") && more >= 2) {
            if (!authenticate(client, &argv[i + 1], &argv[i + 2])) {
                reply_error(client, WRONG_PASSWORD);
                return false;
            }
            i += 2;
        } else if (arg_is(&argv[i], "SETNAME") && more >= 1) {
            if (!client_set_name(client, &argv[++i]))
                return false;
        } else {
            reply_errorf(client, "ERR Syntax error in HELLO option '%.*s'", arg_text_len(&argv[i], TEXT_WHOLE),
                         (const char *)argv[i].data);
            return false;
        }
    }
    return true;
}

enum command_result
command_hello(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    int64_t protocol;
    (void)worker;
    if (!parse_hello(request, &protocol))
        return COMMAND_DONE;
    if (!client->authenticated) {
        reply_error(client, "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                            "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
                            "protocol version at the same time");
        return COMMAND_DONE;
    }
    if (protocol != 0)
        client->protocol = (uint8_t)protocol;
    reply_map(client, 7);
    reply_bulk_string(client, "server");
    reply_bulk_string(client, "redis");
    reply_bulk_string(client, "version");
    reply_bulk_string(client, REDIS_VERSION_SERVED);
    reply_bulk_string(client, "proto");
    reply_integer(client, client->protocol);
    reply_bulk_string(client, "id");
    reply_integer(client, (int64_t)client->id);
    reply_bulk_string(client, "mode");
    reply_bulk_string(client, "standalone");
    reply_bulk_string(client, "role");
    reply_bulk_string(client, "master");
    reply_bulk_string(client, "modules");
    reply_array(client, 0);
    return COMMAND_DONE;
}

enum command_result
command_select(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    int64_t db;
    if (!arg_integer(client, &request->argv[1], &db))
        return COMMAND_DONE;
    if (db < INT32_MIN || db > INT32_MAX)
        reply_error(client, "ERR value is out of range, value must between -2147483648 and 2147483647");
    else if (db < 0 || db >= worker->server->settings.databases)
        reply_error(client, "ERR DB index is out of range");
    else {
        client->db = (uint8_t)db;
        reply_ok(client);
    }
    return COMMAND_DONE;
}

enum command_result
command_reset(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    client->db = 0;
    client->protocol = 2;
    client->authenticated = worker->server->settings.requirepass[0] == '\0';
    client_forget_name(client);
    reply_status(client, "RESET");
    return COMMAND_DONE;
}

enum command_result
command_quit(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_ok(request->client);
    session_end(request->client);
    return COMMAND_DONE;
}
