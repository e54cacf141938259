/* SPDX-License-Identifier: BSD-3-Clause */
/* CONFIG GET, SET, RESETSTAT, REWRITE. */
#include <stdio.h>
#include <stdlib.h>

#include "dataplane/command/glob.h"
#include "dataplane/command/info.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/table.h"

#define CHANGES_MAX 64 /* more settings than there are cannot be named without naming one twice */
#define VALUE_MAX   4096

static bool
has_glob(const struct slice *text)
{
    return memchr(text->data, '*', text->len) || memchr(text->data, '?', text->len) ||
           memchr(text->data, '[', text->len);
}

static bool
is_wanted(const struct request *request, const struct setting *setting)
{
    for (uint32_t i = 2; i < request->argc; i++) {
        const struct slice *arg = &request->argv[i];
        if (has_glob(arg) ? glob_match(arg->data, arg->len, setting->name, strlen(setting->name), true)
                          : arg_is(arg, setting->name))
            return true;
    }
    return false;
}

enum command_result
command_config_get(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    size_t mark = reply_deferred_array(client), found = 0;
    for (unsigned i = 0; i < setting_count; i++) {
        char value[VALUE_MAX];
        if (!is_wanted(request, &setting_table[i]))
            continue;
        setting_get(&worker->server->settings, &setting_table[i], value, sizeof(value));
        reply_bulk_string(client, setting_table[i].name);
        reply_bulk_string(client, value);
        found++;
    }
    reply_set_deferred_map(client, mark, found);
    return COMMAND_DONE;
}

static char *
copy_arg(const struct slice *arg)
{
    char *text = malloc(arg->len + 1);
    if (!text)
        return NULL;
    memcpy(text, arg->data, arg->len);
    text[arg->len] = '\0';
    return text;
}

/* Names and values as text; frees nothing, count tells how many are there. */
static bool
take_changes(const struct request *request, char *text[][2], unsigned *count)
{
    for (uint32_t i = 2; i < request->argc; i += 2) {
        text[*count][0] = copy_arg(&request->argv[i]);
        text[*count][1] = copy_arg(&request->argv[i + 1]);
        ++*count;
        if (!text[*count - 1][0] || !text[*count - 1][1])
            return false;
    }
    return true;
}

static void
reply_refused(struct client *client, const char *name, const char *reason)
{
    reply_errorf(client, "ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, reason);
}

/* Names come before values: a wrong name is told even if an earlier value is wrong, too. */
static bool
check_names(struct client *client, char *text[][2], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct setting *setting = setting_find(text[i][0]);
        unsigned j = 0;
        while (j < i && strcasecmp(text[j][0], text[i][0]) != 0)
            j++;
        if (!setting)
            reply_errorf(client, "ERR Unknown option or number of arguments for CONFIG SET - '%s'", text[i][0]);
        else if (!setting->live)
            reply_refused(client, text[i][0], "can't set immutable config");
        else if (j < i)
            reply_refused(client, text[i][0], "duplicate parameter");
        else
            continue;
        return false;
    }
    return true;
}

static void
apply_changes(struct worker *worker, struct client *client, char *text[][2], unsigned count)
{
    struct setting_change change[CHANGES_MAX];
    char error[512];
    unsigned culprit = 0;
    if (!check_names(client, text, count))
        return;
    for (unsigned i = 0; i < count; i++)
        change[i] = (struct setting_change){text[i][0], text[i][1]};
    if (settings_change(&worker->server->settings, change, count, &culprit, error, sizeof(error)) == 0)
        reply_ok(client);
    else
        reply_refused(client, text[culprit][0], error);
}

enum command_result
command_config_set(struct worker *worker, struct request *request)
{
    struct client *client = request->client;
    char *text[CHANGES_MAX][2];
    unsigned count = 0;
    if (request->argc % 2 != 0)
        return done_syntax_error(client);
    if (request->argc > 2 + 2 * CHANGES_MAX) {
        reply_error(client, "ERR CONFIG SET failed (possibly related to argument '') - duplicate parameter");
        return COMMAND_DONE;
    }
    if (atomic_flag_test_and_set(&worker->server->settings_latch))
        return COMMAND_DEFER;
    if (take_changes(request, text, &count))
        apply_changes(worker, client, text, count);
    else
        reply_error(client, "ERR out of memory");
    atomic_flag_clear(&worker->server->settings_latch);
    for (unsigned i = 0; i < count; i++) {
        free(text[i][0]);
        free(text[i][1]);
    }
    return COMMAND_DONE;
}

enum command_result
command_config_resetstat(struct worker *worker, struct request *request)
{
    info_reset(worker);
    reply_ok(request->client);
    return COMMAND_DONE;
}

/* The file belongs to the control process. */
enum command_result
command_config_rewrite(struct worker *worker, struct request *request)
{
    (void)worker;
    reply_error(request->client, "ERR The server is running without a config file");
    return COMMAND_DONE;
}

enum command_result
command_config_help(struct worker *worker, struct request *request)
{
    static const char *const lines[] = {
        "GET <pattern>",
        "    Return parameters matching the glob-like <pattern> and their values.",
        "SET <directive> <value>",
        "    Set the configuration <directive> to <value>.",
        "RESETSTAT",
        "    Reset statistics reported by the INFO command.",
        "REWRITE",
        "    Rewrite the configuration file.",
        NULL,
    };
    (void)worker;
    reply_help(request->client, "CONFIG", lines);
    return COMMAND_DONE;
}
