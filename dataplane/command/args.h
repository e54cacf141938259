/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading arguments, and the replies that many commands share. Functions that return bool have replied with the error
 * when they return false.
 */
#ifndef DATAPLANE_COMMAND_ARGS_H
#define DATAPLANE_COMMAND_ARGS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "dataplane/command/command.h"
#include "dataplane/resp/number.h"
#include "dataplane/server.h"

/* Is the argument this word, in any case of letters? */
static inline bool
arg_is(const struct slice *arg, const char *word)
{
    return strlen(word) == arg->len && strncasecmp(arg->data, word, arg->len) == 0;
}

static inline bool
arg_integer(struct client *client, const struct slice *arg, int64_t *value)
{
    if (integer_parse(arg->data, arg->len, value))
        return true;
    reply_error(client, "ERR value is not an integer or out of range");
    return false;
}

/* For %.*s: an argument up to its first NUL, at most max bytes. Errors that repeat an argument whole use TEXT_WHOLE. */
#define TEXT_WHOLE INT32_MAX
static inline int
arg_text_len(const struct slice *arg, int max)
{
    return (int)strnlen(arg->data, arg->len < (size_t)max ? arg->len : (size_t)max);
}

static inline enum command_result
done_syntax_error(struct client *client)
{
    reply_error(client, "ERR syntax error");
    return COMMAND_DONE;
}

/* After an engine call failed. */
static inline enum command_result
done_failed(struct client *client, int error)
{
    if (error == -EAGAIN)
        return COMMAND_DEFER;
    reply_engine_error(client, error);
    return COMMAND_DONE;
}

/* The lines of XXX HELP: "NAME <subcommand> ..." goes before, HELP itself behind. lines ends with NULL. */
void reply_help(struct client *client, const char *name, const char *const *lines);

/* "unknown subcommand or wrong number of arguments ..., try NAME HELP" for argument 1. */
void reply_subcommand_error(struct request *request, const char *name);

#endif
