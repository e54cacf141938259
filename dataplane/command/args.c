/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies that many commands share. */
#include "dataplane/command/args.h"

#include <stdio.h>

#include "dataplane/command/table.h"

void
reply_help(struct client *client, const char *name, const char *const *lines)
{
    size_t count = 0;
    while (lines[count])
        count++;
    char head[96];
    snprintf(head, sizeof(head), "%s <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", name);
    reply_array(client, count + 3);
    reply_status(client, head);
    for (size_t i = 0; i < count; i++)
        reply_status(client, lines[i]);
    reply_status(client, "HELP");
    reply_status(client, "    Prints this help.");
}

void
reply_subcommand_error(struct request *request, const char *name)
{
    const struct slice *sub = &request->argv[1];
    reply_errorf(request->client, "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try %s HELP.",
                 arg_text_len(sub, 128), (const char *)sub->data, name);
}

/* A container's own row: only its subcommands ever run. */
enum command_result
command_container(struct worker *worker, struct request *request)
{
    (void)worker;
    return done_syntax_error(request->client);
}
