/* SPDX-License-Identifier: BSD-3-Clause */
/* DEBUG SLEEP: this connection waits, no core does. */
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"

#define NOT_ALLOWED                                                                                                 \
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a " \
    "local connection, otherwise you need to set this option in the configuration file, and then restart the server."

static enum command_result
debug_sleep(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    long double seconds;
    if (client->resume_at_us == 0) {
        if (!real_parse(request->argv[2].data, request->argv[2].len, &seconds) || seconds < 0)
            seconds = 0;
        client->resume_at_us = seconds > 1e9L ? UINT64_MAX : worker->now_us + (uint64_t)(seconds * 1e6L);
    }
    if (worker->now_us < client->resume_at_us)
        return COMMAND_PARK;
    reply_ok(client);
    return COMMAND_DONE;
}

enum command_result
command_debug(struct worker *worker, struct request *request)
{
    static const char *const lines[] = {
        "SLEEP <seconds>",
        "    Let this connection wait for <seconds>. Decimals allowed.",
        NULL,
    };
    const char *enabled = worker->server->settings.enable_debug_command;
    const struct slice *sub = &request->argv[1];
    if (strcmp(enabled, "no") == 0 || (strcmp(enabled, "local") == 0 && !request->client->local_peer))
        reply_error(request->client, NOT_ALLOWED);
    else if (arg_is(sub, "SLEEP") && request->argc == 3)
        return debug_sleep(worker, request);
    else if (arg_is(sub, "HELP") && request->argc == 2)
        reply_help(request->client, "DEBUG", lines);
    else
        reply_subcommand_error(request, "DEBUG");
    return COMMAND_DONE;
}
