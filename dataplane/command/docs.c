/* SPDX-License-Identifier: BSD-3-Clause */
/* COMMAND DOCS: what the table says of a command, for people and their tools. */
#include "dataplane/command/docs.h"

#include <string.h>

#include "dataplane/command/table.h"
#include "dataplane/resp/reply.h"

#define MARKS "=@?*+({ |"

/* Characters up to the next mark. */
static struct slice
take_word(const char **p, const char *end, const char *marks)
{
    const char *begin = *p;
    while (*p < end && !strchr(marks, **p))
        ++*p;
    return (struct slice){begin, (size_t)(*p - begin)};
}

/* What stands between brackets, which may be nested; *p is on the opening one. */
static struct slice
take_inner(const char **p, const char *end)
{
    const char *begin = ++*p;
    for (unsigned depth = 1; *p < end; ++*p) {
        depth += **p == '(' || **p == '{';
        depth -= **p == ')' || **p == '}';
        if (depth == 0)
            break;
    }
    return (struct slice){begin, (size_t)((*p)++ - begin)};
}

/* "ip:port:string": the type is behind the last colon. */
static void
split_name(struct slice word, struct docs_argument *argument)
{
    const char *text = word.data, *colon = memrchr(text, ':', word.len);
    argument->name = word;
    if (!colon)
        return;
    argument->name.len = (size_t)(colon - text);
    argument->type = (struct slice){colon + 1, word.len - argument->name.len - 1};
}

bool
docs_next(struct slice *items, struct docs_argument *argument)
{
    const char *p = items->data, *end = p + items->len;
    memset(argument, 0, sizeof(*argument));
    while (p < end && (*p == ' ' || *p == '|'))
        p++;
    if (p >= end)
        return false;
    split_name(take_word(&p, end, MARKS), argument);
    for (bool more = true; more && p < end;) {
        switch (*p) {
        case '=':
            p++;
            argument->token = take_word(&p, end, MARKS);
            break;
        case '@':
            p++;
            argument->since = take_word(&p, end, MARKS);
            break;
        case '?':
            argument->optional = p++ != NULL;
            break;
        case '*':
            argument->multiple = p++ != NULL;
            break;
        case '+':
            argument->multiple_token = p++ != NULL;
            break;
        case '(':
        case '{':
            argument->choice = *p == '(';
            argument->inner = take_inner(&p, end);
            break;
        default:
            more = false;
        }
    }
    *items = (struct slice){p, (size_t)(end - p)};
    return true;
}

static void
reply_pair(struct client *client, const char *name, const char *value)
{
    reply_bulk_string(client, name);
    reply_bulk_string(client, value);
}

static void
reply_slice(struct client *client, const char *name, const struct slice *value)
{
    reply_bulk_string(client, name);
    reply_bulk(client, value->data, value->len);
}

static bool
slice_is(const struct slice *slice, const char *text)
{
    return slice->len == strlen(text) && memcmp(slice->data, text, slice->len) == 0;
}

static void reply_arguments(struct client *client, struct slice items, unsigned depth);

static void
reply_argument(struct client *client, const struct docs_argument *argument, unsigned depth)
{
    bool key = slice_is(&argument->type, "key0"), inner = argument->inner.len > 0;
    unsigned flags = (unsigned)argument->optional + argument->multiple + argument->multiple_token;
    reply_map(client, 2u + key + (argument->token.len > 0) + (argument->since.len > 0) + (flags > 0) + inner);
    reply_slice(client, "name", &argument->name);
    reply_bulk_string(client, "type");
    if (key)
        reply_bulk_string(client, "key");
    else if (inner)
        reply_bulk_string(client, argument->choice ? "oneof" : "block");
    else if (slice_is(&argument->type, "token"))
        reply_bulk_string(client, "pure-token");
    else
        reply_bulk(client, argument->type.data, argument->type.len);
    if (key) {
        reply_bulk_string(client, "key_spec_index");
        reply_integer(client, 0);
    }
    if (argument->token.len > 0)
        reply_slice(client, "token", &argument->token);
    if (argument->since.len > 0)
        reply_slice(client, "since", &argument->since);
    if (flags > 0) {
        reply_bulk_string(client, "flags");
        reply_set(client, flags);
        if (argument->optional)
            reply_status(client, "optional");
        if (argument->multiple)
            reply_status(client, "multiple");
        if (argument->multiple_token)
            reply_status(client, "multiple_token");
    }
    if (inner) {
        reply_bulk_string(client, "arguments");
        reply_arguments(client, argument->inner, depth + 1);
    }
}

/* The table nests three deep at most; the limit is for the compiler's peace of mind. */
static void
reply_arguments(struct client *client, struct slice items, unsigned depth)
{
    struct docs_argument argument;
    struct slice rest = items;
    size_t count = 0;
    while (docs_next(&rest, &argument))
        count++;
    reply_array(client, depth < 8 ? count : 0);
    while (depth < 8 && docs_next(&items, &argument))
        reply_argument(client, &argument, depth);
}

static void
reply_description(struct client *client, const struct command *command, unsigned subs)
{
    reply_map(client, 3u + (command->complexity != NULL) + (command->doc_flag != NULL) +
                          (command->deprecated_since != NULL) + (command->replaced_by != NULL) +
                          (command->arguments != NULL) + (subs > 0));
    reply_pair(client, "summary", command->summary);
    reply_pair(client, "since", command->since);
    reply_pair(client, "group", command->group);
    if (command->complexity)
        reply_pair(client, "complexity", command->complexity);
    if (command->doc_flag) {
        reply_bulk_string(client, "doc_flags");
        reply_set(client, 1);
        reply_status(client, command->doc_flag);
    }
    if (command->deprecated_since)
        reply_pair(client, "deprecated_since", command->deprecated_since);
    if (command->replaced_by)
        reply_pair(client, "replaced_by", command->replaced_by);
    if (command->arguments) {
        reply_bulk_string(client, "arguments");
        reply_arguments(client, (struct slice){command->arguments, strlen(command->arguments)}, 0);
    }
}

void
docs_reply(struct client *client, const struct command *command)
{
    unsigned subs = command_subcommands(command);
    reply_bulk_string(client, command->full_name);
    reply_description(client, command, subs);
    if (subs == 0)
        return;
    reply_bulk_string(client, "subcommands");
    reply_map(client, subs);
    for (unsigned i = 1; i <= subs; i++) {
        reply_bulk_string(client, command[i].full_name);
        reply_description(client, &command[i], 0);
    }
}
