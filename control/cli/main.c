/* SPDX-License-Identifier: BSD-3-Clause */
/* polluxctl: the operator's command line. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "control/cli/cli.h"
#include "dataplane/rpc/settings.h"

const char *argp_program_version = "polluxctl " POLLUX_VERSION;

enum option_key { OPTION_SOCKET = 256, OPTION_RUN_DIR, OPTION_ONCE };

static const struct argp_option common_options[] = {
    {"json", 'j', NULL, 0, "Answer in JSON", 0},
    {"run-dir", OPTION_RUN_DIR, "DIR", 0, "Where pollux-control has its socket (default: /run/pollux)", 0},
    {"socket", OPTION_SOCKET, "PATH", 0, "Its socket (default: control.sock in the run-dir)", 0},
    {0},
};
static const struct argp_option once_options[] = {
    {"once", OPTION_ONCE, NULL, 0, "Print once, also on a terminal", 0},
    {0},
};

static error_t
parse_common(int key, char *argument, struct argp_state *state)
{
    struct cli *cli = state->input;

    switch (key) {
    case 'j':
        cli->json = true;
        return 0;
    case OPTION_SOCKET:
        snprintf(cli->socket, sizeof(cli->socket), "%s", argument);
        return 0;
    case OPTION_RUN_DIR:
        snprintf(cli->socket, sizeof(cli->socket), "%s/control.sock", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
static const struct argp common = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};
static const struct argp_child children[] = {{&common, 0, NULL, 0}, {0}};

/* The options and arguments behind a command's name. */
static error_t
parse_command(int key, char *argument, struct argp_state *state)
{
    struct cli *cli = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = cli;
        return 0;
    case OPTION_ONCE:
        cli->once = true;
        return 0;
    case ARGP_KEY_ARG:
        if (cli->count == CLI_WORDS)
            argp_error(state, "too many arguments");
        cli->words[cli->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* argv: from the command's name on. */
static int
run_command(const struct cli_command *command, struct cli *cli, int argc, char **argv)
{
    char name[64], doc[512];
    struct argp argp = {
        command->has_once ? once_options : NULL, parse_command, command->arguments, doc, children, NULL, NULL};
    char *called = argv[0];

    snprintf(name, sizeof(name), "polluxctl %s", command->name);
    snprintf(doc, sizeof(doc), "%s.%s%s", command->what, command->more[0] != '\0' ? "\v" : "", command->more);
    argv[0] = name;
    argp_parse(&argp, argc, argv, 0, NULL, cli);
    int status = command->run(cli);
    if (status == CLI_USAGE)
        argp_help(&argp, stderr, ARGP_HELP_STD_USAGE, name);
    argv[0] = called;
    return status;
}

struct invocation {
    struct cli cli;
    char **rest; /* from the command's name on */
    int rest_count;
};

static error_t
parse_main(int key, char *argument, struct argp_state *state)
{
    struct invocation *invocation = state->input;

    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &invocation->cli;
        return 0;
    case ARGP_KEY_ARG: /* the command; all that follows is its own */
        invocation->rest = state->argv + state->next - 1;
        invocation->rest_count = state->argc - state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The list of commands under the options. */
static char *
filter_help(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t size = 0;
    FILE *file;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || (file = open_memstream(&list, &size)) == NULL)
        return text == NULL ? NULL : strdup(text);
    fprintf(file, "Commands:\n");
    for (const struct cli_command *command = cli_commands; command->name != NULL; command++)
        fprintf(file, "  %-10s %s\n", command->name, command->what);
    fprintf(file, "\n`polluxctl COMMAND --help` tells more. Exit status: 0 good, 1 failed, 2 wrong usage.");
    fclose(file);
    return list;
}

int
main(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     parse_main,
                                     "COMMAND [ARGUMENT...]",
                                     "Looks after a running Pollux, by way of pollux-control.\v ",
                                     children,
                                     filter_help,
                                     NULL};
    static struct invocation invocation;
    struct settings standard;

    settings_default(&standard);
    snprintf(invocation.cli.socket, sizeof(invocation.cli.socket), "%s/control.sock", standard.run_dir);
    argp_err_exit_status = CLI_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &invocation);
    for (const struct cli_command *command = cli_commands; command->name != NULL; command++)
        if (strcmp(command->name, invocation.rest[0]) == 0)
            return run_command(command, &invocation.cli, invocation.rest_count, invocation.rest);
    fprintf(stderr, "polluxctl: there is no command '%s'; `polluxctl --help` lists them\n", invocation.rest[0]);
    return CLI_USAGE;
}
