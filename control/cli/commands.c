/* SPDX-License-Identifier: BSD-3-Clause */
/* polluxctl: its commands. */
#include "control/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dataplane/rpc/rpc.h"

#define TIMEOUT_MS       5000
#define SHUTDOWN_MS      20000 /* pollux-control kills a dataplane that does not stop within 10 s */
#define SHUTDOWN_TICK_MS 50

json_t *
cli_try(const struct cli *cli, const char *method, json_t *params, char *error, size_t error_size)
{
    json_t *result = rpc_call(cli->socket, method, params, TIMEOUT_MS, error, error_size);
    const char *advice = NULL;
    size_t used = strlen(error);

    if (result != NULL)
        return result;
    if (errno == ENOENT || errno == ECONNREFUSED)
        advice = "is pollux-control running? Start it with `pollux-control --config FILE`, or say with --run-dir where "
                 "its socket is";
    else if (errno == EACCES || errno == EPERM)
        advice = "only the user that runs pollux-control may ask it; use sudo";
    else if (errno == ETIMEDOUT)
        advice = "pollux-control is busy or stopped; try again, or look at it with ps";
    if (advice != NULL)
        snprintf(error + used, error_size - used, "; %s", advice);
    return NULL;
}

json_t *
cli_ask(const struct cli *cli, const char *method, json_t *params)
{
    char error[2048] = "";
    json_t *result = cli_try(cli, method, params, error, sizeof(error));

    if (result == NULL)
        fprintf(stderr, "polluxctl: %s\n", error);
    return result;
}

/* Ask and print the answer; for people by print_plain, or as `none` if it is empty. Takes the reference to params. */
static int
ask_and_print(const struct cli *cli, const char *method, json_t *params, const char *none)
{
    json_t *result = cli_ask(cli, method, params);

    json_decref(params);
    if (result == NULL)
        return CLI_FAILED;
    if (cli->json)
        print_json(result);
    else if (none != NULL && json_object_size(result) + json_array_size(result) == 0)
        printf("%s\n", none);
    else
        print_plain(stdout, result);
    json_decref(result);
    return CLI_GOOD;
}

static void
print_status(json_t *status)
{
    json_t *control = json_object_get(status, "control"), *dataplane = json_object_get(status, "dataplane"),
           *problems = json_object_get(status, "problems"), *problem;
    size_t i;

    printf("control\n");
    print_plain(stdout, control);
    printf("\ndataplane\n");
    print_plain(stdout, dataplane);
    if (json_array_size(json_object_get(status, "cores")) > 0)
        printf("\n");
    print_plain(stdout, json_object_get(status, "cores"));
    printf("\n");
    json_array_foreach(problems, i, problem) printf("PROBLEM: %s\n", json_string_value(problem));
    if (json_array_size(problems) == 0)
        printf("all is well\n");
}

static int
run_status(const struct cli *cli)
{
    json_t *status;
    bool well;

    if (cli->count != 0)
        return CLI_USAGE;
    status = cli_ask(cli, "status", NULL);
    if (status == NULL)
        return CLI_FAILED;
    well = json_array_size(json_object_get(status, "problems")) == 0;
    if (cli->json)
        print_json(status);
    else
        print_status(status);
    json_decref(status);
    return well ? CLI_GOOD : CLI_UNWELL;
}

/* One screen, drawn from the top of a cleared terminal, in one write so that it does not flicker. */
static void
draw_stats(const struct cli *cli)
{
    char error[2048] = "", *screen = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&screen, &size);
    json_t *stats;

    if (file == NULL)
        return;
    fprintf(file, "\033[H\033[J");
    stats = cli_try(cli, "stats", NULL, error, sizeof(error));
    if (stats != NULL)
        print_stats(file, stats);
    else
        fprintf(file, "%s\n", error);
    json_decref(stats);
    fclose(file);
    fwrite(screen, 1, size, stdout);
    fflush(stdout);
    free(screen);
}

static int
run_stats(const struct cli *cli)
{
    json_t *stats;

    if (cli->count != 0)
        return CLI_USAGE;
    while (!cli->json && !cli->once && isatty(STDOUT_FILENO)) { /* until interrupted */
        draw_stats(cli);
        sleep(1);
    }
    stats = cli_ask(cli, "stats", NULL);
    if (stats == NULL)
        return CLI_FAILED;
    if (cli->json)
        print_json(stats);
    else
        print_stats(stdout, stats);
    json_decref(stats);
    return CLI_GOOD;
}

static int
config_set(const struct cli *cli)
{
    json_t *changes, *result;

    if (cli->count < 3 || cli->count % 2 != 1)
        return CLI_USAGE;
    changes = json_object();
    for (unsigned i = 1; i < cli->count; i += 2) {
        json_t *value = json_string(cli->words[i + 1]);
        if (json_object_get(changes, cli->words[i]) == NULL && json_object_set_new(changes, cli->words[i], value) == 0)
            continue;
        fprintf(stderr, "polluxctl: %s is %s; nothing was changed\n", cli->words[i],
                value == NULL ? "given a value that is not UTF-8 text" : "given twice");
        json_decref(changes);
        return CLI_FAILED;
    }
    result = cli_ask(cli, "config.set", changes);
    json_decref(changes);
    if (result == NULL)
        return CLI_FAILED;
    if (cli->json)
        print_json(result);
    else
        printf("OK, until pollux-control ends; to keep it, write it in the config file too\n");
    json_decref(result);
    return CLI_GOOD;
}

static int
run_config(const struct cli *cli)
{
    const char *pattern = cli->count == 2 ? cli->words[1] : "*";

    if (cli->count >= 1 && strcmp(cli->words[0], "set") == 0)
        return config_set(cli);
    if (cli->count < 1 || cli->count > 2 || strcmp(cli->words[0], "get") != 0)
        return CLI_USAGE;
    return ask_and_print(cli, "config.get", json_pack("{s:s}", "pattern", pattern), "no setting has such a name");
}

static int
run_clients(const struct cli *cli)
{
    char *end;

    if (cli->count == 0)
        return ask_and_print(cli, "clients", NULL, "no clients");
    if (cli->count != 2 || strcmp(cli->words[0], "kill") != 0)
        return CLI_USAGE;
    long long id = strtoll(cli->words[1], &end, 10);
    if (*end != '\0' || end == cli->words[1])
        return CLI_USAGE;
    return ask_and_print(cli, "client.kill", json_pack("{s:I}", "id", (json_int_t)id), NULL);
}

static int
run_pool(const struct cli *cli)
{
    if (cli->count != 1 || strcmp(cli->words[0], "info") != 0)
        return CLI_USAGE;
    return ask_and_print(cli, "pool.info", NULL, NULL);
}

static int
run_shutdown(const struct cli *cli)
{
    static const struct timespec tick = {0, SHUTDOWN_TICK_MS * 1000000};
    char error[2048];
    json_t *ordered, *answer;

    if (cli->count != 0)
        return CLI_USAGE;
    ordered = cli_ask(cli, "shutdown", NULL);
    if (ordered == NULL)
        return CLI_FAILED;
    for (int waited = 0; waited < SHUTDOWN_MS; waited += SHUTDOWN_TICK_MS) {
        answer = rpc_call(cli->socket, "status", NULL, TIMEOUT_MS, error, sizeof(error));
        json_decref(answer);
        if (answer == NULL && (errno == ENOENT || errno == ECONNREFUSED)) {
            if (cli->json)
                print_json(ordered);
            else
                printf("stopped\n");
            json_decref(ordered);
            return CLI_GOOD;
        }
        nanosleep(&tick, NULL);
    }
    json_decref(ordered);
    fprintf(stderr, "polluxctl: pollux-control still runs after %d s; its log says why\n", SHUTDOWN_MS / 1000);
    return CLI_FAILED;
}

const struct cli_command cli_commands[] = {
    {"status", "", "Is everything well? Exit status 3 when it is not", "", false, run_status},
    {"stats", "", "Rates, latencies, packets, drops of the last second", "On a terminal anew every second.", true,
     run_stats},
    {"config", "get [PATTERN]\nset NAME VALUE [NAME VALUE...]", "Look at settings, or change them while running",
     "Several changes are made together, or, when one is wrong, none of them.", false, run_config},
    {"clients", "\nkill ID", "List the connected clients, or disconnect one", "", false, run_clients},
    {"pool", "info", "Size, use and persistence of the pool", "", false, run_pool},
    {"shutdown", "", "Stop the dataplane in order, and pollux-control with it", "", false, run_shutdown},
    {NULL, NULL, NULL, NULL, false, NULL},
};
