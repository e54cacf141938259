/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: TIME ROLE LASTSAVE SAVE BGSAVE LOLWUT WAIT SHUTDOWN FUNCTION. */
#include <stdio.h>
#include <time.h>

#include "dataplane/command/clients.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"
#include "dataplane/command/text.h"

enum command_result
command_time(struct worker *worker, struct request *request)
{
    struct timespec now;
    (void)worker;
    clock_gettime(CLOCK_REALTIME, &now);
    reply_array(request->client, 2);
    reply_bulk_integer(request->client, now.tv_sec);
    reply_bulk_integer(request->client, now.tv_nsec / 1000);
    return COMMAND_DONE;
}

enum command_result
command_role(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_array(request->client, 3);
    reply_bulk_string(request->client, "master");
    reply_integer(request->client, 0);
    reply_array(request->client, 0);
    return COMMAND_DONE;
}

/* Every write is saved before its reply leaves: the last save is always now, and there is nothing to save. */
enum command_result
command_lastsave(struct worker *worker, struct request *request)
{
    reply_integer(request->client, (int64_t)(worker->now_ms / 1000));
    return COMMAND_DONE;
}

enum command_result
command_save(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_ok(request->client);
    return COMMAND_DONE;
}

enum command_result
command_bgsave(struct worker *worker, struct request *request)
{
    (void)worker;
    if (request->argc > 2 || (request->argc == 2 && !arg_is(&request->argv[1], "SCHEDULE")))
        return done_syntax_error(request->client);
    reply_status(request->client, "Background saving started");
    return COMMAND_DONE;
}

enum command_result
command_lolwut(struct worker *worker, struct request *request)
{
    int64_t version;
    struct bytes text = {0};
    (void)worker;
    if (request->argc >= 3 && arg_is(&request->argv[1], "VERSION") &&
        !arg_integer(request->client, &request->argv[2], &version))
        return COMMAND_DONE;
    text_printf(&text,
                "\n   *        *\n    \\      /\n     Pollux and Castor: one of the twins does not die.\n\n"
                "Redis ver. %s (Pollux %s)\n",
                REDIS_VERSION_SERVED, POLLUX_VERSION);
    text_reply(request->client, &text);
    return COMMAND_DONE;
}

/* There are no replicas: none will acknowledge, so a wish for some waits for its timeout. */
enum command_result
command_wait(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    int64_t replicas, timeout_ms;
    if (!arg_integer(client, &request->argv[1], &replicas))
        return COMMAND_DONE;
    if (!integer_parse(request->argv[2].data, request->argv[2].len, &timeout_ms)) {
        reply_error(client, "ERR timeout is not an integer or out of range");
        return COMMAND_DONE;
    }
    if (timeout_ms < 0) {
        reply_error(client, "ERR timeout is negative");
        return COMMAND_DONE;
    }
    if (replicas <= 0 || (client->resume_at_us != 0 && worker->now_us >= client->resume_at_us)) {
        reply_integer(client, 0);
        return COMMAND_DONE;
    }
    if (client->resume_at_us == 0) {
        uint64_t us;
        bool overflow =
            __builtin_mul_overflow((uint64_t)timeout_ms, 1000, &us) || __builtin_add_overflow(us, worker->now_us, &us);
        client->resume_at_us = timeout_ms == 0 || overflow ? UINT64_MAX : us;
    }
    return COMMAND_PARK;
}

enum command_result
command_shutdown(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    bool save = false, nosave = false, modifier = false, abort = false;
    for (uint32_t i = 1; i < request->argc; i++) {
        const struct slice *arg = &request->argv[i];
        if (arg_is(arg, "SAVE"))
            save = true;
        else if (arg_is(arg, "NOSAVE"))
            nosave = true;
        else if (arg_is(arg, "NOW") || arg_is(arg, "FORCE"))
            modifier = true;
        else if (arg_is(arg, "ABORT"))
            abort = true;
        else
            return done_syntax_error(client);
    }
    if ((abort && (save || nosave || modifier)) || (save && nosave))
        return done_syntax_error(client);
    if (abort) {
        reply_error(client, "ERR No shutdown in progress.");
        return COMMAND_DONE;
    }
    session_end(client); /* the reply to a later command would pass for this one's */
    atomic_store(&worker->server->stop, true);
    return COMMAND_DONE;
}

/* There are no functions to flush. */
enum command_result
command_function_flush(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    (void)worker;
    if (request->argc > 3)
        reply_subcommand_error(request, "FUNCTION");
    else if (request->argc == 3 && !arg_is(&request->argv[2], "SYNC") && !arg_is(&request->argv[2], "ASYNC"))
        reply_error(client, "ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
    else
        reply_ok(client);
    return COMMAND_DONE;
}
