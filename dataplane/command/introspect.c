/* SPDX-License-Identifier: BSD-3-Clause */
/* COMMAND: the table of commands, as clients and proxies ask for it. */
#include <stdio.h>

#include "dataplane/command/docs.h"
#include "dataplane/command/glob.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"

#define WORDS_MAX 16

/* In the order in which Redis names them. */
static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {CMD_WRITE, "write"},
    {CMD_READONLY, "readonly"},
    {CMD_DENYOOM, "denyoom"},
    {CMD_ADMIN, "admin"},
    {CMD_PUBSUB, "pubsub"},
    {CMD_NOSCRIPT, "noscript"},
    {CMD_BLOCKING, "blocking"},
    {CMD_LOADING, "loading"},
    {CMD_STALE, "stale"},
    {CMD_SKIP_MONITOR, "skip_monitor"},
    {CMD_SKIP_SLOWLOG, "skip_slowlog"},
    {CMD_FAST, "fast"},
    {CMD_NO_AUTH, "no_auth"},
    {CMD_NO_ASYNC_LOADING, "no_async_loading"},
    {CMD_NO_MULTI, "no_multi"},
    {CMD_MOVABLEKEYS, "movablekeys"},
    {CMD_ALLOW_BUSY, "allow_busy"},
};
#define FLAG_NAMES (sizeof(flag_names) / sizeof(flag_names[0]))

static const char *const category_names[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting",
};
#define CATEGORY_NAMES (sizeof(category_names) / sizeof(category_names[0]))

/* Is the word one of those in the list, which blanks part? */
static bool
has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = list; p && (p = strstr(p, word)); p += len)
        if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
            return true;
    return false;
}

/* Most categories follow from the flags; the table names the others. */
static bool
in_category(const struct command *command, const char *category)
{
    static const struct {
        const char *name;
        uint32_t any, none;
    } implied[] = {
        {"write", CMD_WRITE, 0},   {"read", CMD_READONLY, 0}, {"admin", CMD_ADMIN, 0}, {"dangerous", CMD_ADMIN, 0},
        {"pubsub", CMD_PUBSUB, 0}, {"fast", CMD_FAST, 0},     {"slow", ~0u, CMD_FAST}, {"blocking", CMD_BLOCKING, 0},
    };
    if (command->categories && has_word(command->categories, category))
        return true;
    for (unsigned i = 0; i < sizeof(implied) / sizeof(implied[0]); i++)
        if (strcmp(implied[i].name, category) == 0)
            return (command->flags & implied[i].any || implied[i].none) && !(command->flags & implied[i].none);
    return false;
}

static void
reply_flags(struct client *client, const struct command *command)
{
    size_t count = 0;
    for (unsigned i = 0; i < FLAG_NAMES; i++)
        count += (command->flags & flag_names[i].flag) != 0;
    reply_set(client, count);
    for (unsigned i = 0; i < FLAG_NAMES; i++)
        if (command->flags & flag_names[i].flag)
            reply_status(client, flag_names[i].name);
}

static void
reply_categories(struct client *client, const struct command *command)
{
    char text[32];
    size_t count = 0;
    for (unsigned i = 0; i < CATEGORY_NAMES; i++)
        count += in_category(command, category_names[i]);
    reply_set(client, count);
    for (unsigned i = 0; i < CATEGORY_NAMES; i++) {
        if (!in_category(command, category_names[i]))
            continue;
        snprintf(text, sizeof(text), "@%s", category_names[i]);
        reply_status(client, text);
    }
}

/* Words parted by blanks; NULL is none. */
static unsigned
split_words(const char *list, char word[WORDS_MAX][64])
{
    unsigned count = 0;
    for (const char *p = list; p && *p && count < WORDS_MAX;) {
        size_t len = strcspn(p, " ");
        snprintf(word[count++], sizeof(word[0]), "%.*s", (int)len, p);
        p += len + (p[len] == ' ');
    }
    return count;
}

static void
reply_key_flags(struct client *client, const char *flags)
{
    char word[WORDS_MAX][64];
    unsigned count = split_words(flags, word);
    reply_set(client, count);
    for (unsigned i = 0; i < count; i++)
        reply_status(client, word[i]);
}

static void
reply_tips(struct client *client, const struct command *command)
{
    char word[WORDS_MAX][64];
    unsigned count = split_words(command->tips, word);
    reply_set(client, count);
    for (unsigned i = 0; i < count; i++)
        reply_bulk_string(client, word[i]);
}

static void
reply_key_specs(struct client *client, const struct command *command)
{
    if (command->first_key == 0) {
        reply_set(client, 0);
        return;
    }
    reply_set(client, 1);
    reply_map(client, command->key_notes ? 4 : 3);
    if (command->key_notes) {
        reply_bulk_string(client, "notes");
        reply_bulk_string(client, command->key_notes);
    }
    reply_bulk_string(client, "flags");
    reply_key_flags(client, command->key_flags);
    reply_bulk_string(client, "begin_search");
    reply_map(client, 2);
    reply_bulk_string(client, "type");
    reply_bulk_string(client, "index");
    reply_bulk_string(client, "spec");
    reply_map(client, 1);
    reply_bulk_string(client, "index");
    reply_integer(client, command->first_key);
    reply_bulk_string(client, "find_keys");
    reply_map(client, 2);
    reply_bulk_string(client, "type");
    reply_bulk_string(client, "range");
    reply_bulk_string(client, "spec");
    reply_map(client, 3);
    reply_bulk_string(client, "lastkey");
    reply_integer(client, command->last_key < 0 ? command->last_key : command->last_key - command->first_key);
    reply_bulk_string(client, "keystep");
    reply_integer(client, command->step);
    reply_bulk_string(client, "limit");
    reply_integer(client, 0);
}

static void
reply_row(struct client *client, const struct command *command)
{
    reply_array(client, 10);
    reply_bulk_string(client, command->full_name);
    reply_integer(client, command->arity);
    reply_flags(client, command);
    reply_integer(client, command->first_key);
    reply_integer(client, command->last_key);
    reply_integer(client, command->step);
    reply_categories(client, command);
    reply_tips(client, command);
    reply_key_specs(client, command);
}

/* A command with its subcommands. */
static void
reply_command(struct client *client, const struct command *command)
{
    unsigned subs = command_subcommands(command);
    reply_row(client, command);
    if (subs == 0)
        reply_set(client, 0);
    else
        reply_array(client, subs);
    for (unsigned i = 1; i <= subs; i++) {
        reply_row(client, &command[i]);
        reply_set(client, 0);
    }
}

static void
reply_all(struct client *client)
{
    reply_array(client, command_count_top());
    for (unsigned i = 0; i < command_count; i++)
        if (!command_table[i].container)
            reply_command(client, &command_table[i]);
}

enum command_result
command_command(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_all(request->client);
    return COMMAND_DONE;
}

enum command_result
command_command_info(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    (void)worker;
    if (request->argc == 2) {
        reply_all(client);
        return COMMAND_DONE;
    }
    reply_array(client, request->argc - 2);
    for (uint32_t i = 2; i < request->argc; i++) {
        const struct command *command = command_find_name(&request->argv[i]);
        if (command)
            reply_command(client, command);
        else
            reply_null(client);
    }
    return COMMAND_DONE;
}

enum command_result
command_command_count(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_integer(request->client, command_count_top());
    return COMMAND_DONE;
}

enum command_result
command_command_docs(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    (void)worker;
    if (request->argc == 2) {
        reply_map(client, command_count_top());
        for (unsigned i = 0; i < command_count; i++)
            if (!command_table[i].container)
                docs_reply(client, &command_table[i]);
        return COMMAND_DONE;
    }
    size_t mark = reply_deferred_array(client), found = 0;
    for (uint32_t i = 2; i < request->argc; i++) {
        const struct command *command = command_find_name(&request->argv[i]);
        if (!command)
            continue;
        docs_reply(client, command);
        found++;
    }
    reply_set_deferred_map(client, mark, found);
    return COMMAND_DONE;
}

enum command_result
command_command_list(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv, *pattern = NULL, *category = NULL;
    bool module = false;
    (void)worker;
    if (request->argc == 5 && arg_is(&argv[2], "FILTERBY")) {
        module = arg_is(&argv[3], "MODULE");
        pattern = arg_is(&argv[3], "PATTERN") ? &argv[4] : NULL;
        category = arg_is(&argv[3], "ACLCAT") ? &argv[4] : NULL;
    }
    if (request->argc != 2 && !module && !pattern && !category)
        return done_syntax_error(client);
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "%.*s", category ? arg_text_len(category, 31) : 0,
             category ? (const char *)category->data : "");
    for (char *p = wanted; *p; p++)
        *p |= *p >= 'A' && *p <= 'Z' ? 0x20 : 0;
    size_t mark = reply_deferred_array(client), found = 0;
    for (unsigned i = 0; i < command_count; i++) {
        const char *name = command_table[i].full_name;
        if (module || (pattern && !glob_match(pattern->data, pattern->len, name, strlen(name), true)) ||
            (category && !in_category(&command_table[i], wanted)))
            continue;
        reply_bulk_string(client, name);
        found++;
    }
    reply_set_deferred_array(client, mark, found);
    return COMMAND_DONE;
}

/* SET is the one command whose arguments tell what it does to its key. */
static const char *
key_flags_of(const struct command *command, const struct slice *argv, uint32_t argc)
{
    if (!has_word(command->key_flags, "variable_flags"))
        return command->key_flags;
    for (uint32_t i = 3; i < argc; i++)
        if (arg_is(&argv[i], "GET"))
            return "RW access update";
    return "OW update";
}

static enum command_result
reply_keys(struct request *request, bool with_flags)
{
    struct client *client = request->client;
    const struct slice *argv = request->argv + 2;
    uint32_t argc = request->argc - 2;
    const struct command *container;
    const struct command *command = command_find(argv, argc, &container);
    if (!command) {
        reply_error(client, "ERR Invalid command specified");
    } else if (command->first_key == 0) {
        reply_error(client, "ERR The command has no key arguments");
    } else if (!command_arity_fits(command, argc)) {
        reply_error(client, "ERR Invalid number of arguments specified for command");
    } else {
        uint32_t last = command_last_key(command, argc), step = (uint32_t)command->step;
        reply_array(client, (last - (uint32_t)command->first_key) / step + 1);
        for (uint32_t i = (uint32_t)command->first_key; i <= last; i += step) {
            if (with_flags)
                reply_array(client, 2);
            reply_bulk(client, argv[i].data, argv[i].len);
            if (with_flags)
                reply_key_flags(client, key_flags_of(command, argv, argc));
        }
    }
    return COMMAND_DONE;
}

enum command_result
command_command_getkeys(struct worker *worker, struct request *request)
{
    (void)worker;
    return reply_keys(request, false);
}

enum command_result
command_command_getkeysandflags(struct worker *worker, struct request *request)
{
    (void)worker;
    return reply_keys(request, true);
}

enum command_result
command_command_help(struct worker *worker, struct request *request)
{
    static const char *const lines[] = {
        "(no subcommand)",
        "    Return details about all Redis commands.",
        "COUNT",
        "    Return the total number of commands in this Redis server.",
        "LIST",
        "    Return a list of all commands in this Redis server.",
        "INFO [<command-name> ...]",
        "    Return details about multiple Redis commands.",
        "    If no command names are given, documentation details for all",
        "    commands are returned.",
        "DOCS [<command-name> ...]",
        "    Return documentation details about multiple Redis commands.",
        "    If no command names are given, documentation details for all",
        "    commands are returned.",
        "GETKEYS <full-command>",
        "    Return the keys from a full Redis command.",
        "GETKEYSANDFLAGS <full-command>",
        "    Return the keys and the access flags from a full Redis command.",
        NULL,
    };
    (void)worker;
    reply_help(request->client, "COMMAND", lines);
    return COMMAND_DONE;
}
