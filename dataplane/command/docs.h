/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COMMAND DOCS. A row's arguments are text, one item an argument, parted by blanks:
 *
 *     name:type=TOKEN@since flags        a plain argument; type key0 is a key of key specification 0
 *     name=TOKEN@since flags (a|b|c)     one of several, without blanks between
 *     name=TOKEN@since flags {a b c}     a group
 *
 * where = and @ parts and flags are optional, nothing stands between the parts, and flags are ? (optional),
 * * (may be repeated), + (its token is repeated, too). Types: string integer double key0 pattern unix-time token.
 */
#ifndef DATAPLANE_COMMAND_DOCS_H
#define DATAPLANE_COMMAND_DOCS_H

#include <stdbool.h>
#include <stddef.h>

#include "dataplane/command/command.h"

struct docs_argument {
    struct slice name, type, token, since; /* len 0: none */
    bool optional, multiple, multiple_token;
    struct slice inner; /* of a group or a choice: the items within the brackets */
    bool choice;        /* (...) */
};

/* Take one item off the front of *items; false at the end. */
bool docs_next(struct slice *items, struct docs_argument *argument);

/* A command's name and its description, as a pair of a map. */
void docs_reply(struct client *client, const struct command *command);

#endif
