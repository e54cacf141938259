/* SPDX-License-Identifier: BSD-3-Clause */
/* pollux-control: reads the config, starts and watches the dataplane, answers polluxctl. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/config.h"
#include "control/log.h"
#include "control/methods.h"

#define TICK_MS 100 /* between looks at the dataplane */

const char *argp_program_version = "pollux-control " POLLUX_VERSION;

enum option_key { OPTION_DATAPLANE = 256, OPTION_CHECK, OPTION_PRINT };

struct options {
    const char *config, *dataplane;
    bool daemonize, check, print;
};

static volatile sig_atomic_t end_asked;

static const struct argp_option option_table[] = {
    {"config", 'c', "FILE", 0, "Settings to run with, in redis.conf's form (default: the built-in ones)", 0},
    {"dataplane", OPTION_DATAPLANE, "PATH", 0, "The dataplane's program (default: pollux-dataplane beside this one)",
     0},
    {"daemonize", 'd', NULL, 0, "Return when the socket is served and go on in the background, log in the run-dir", 0},
    {"check-config", OPTION_CHECK, NULL, 0, "Check the config file and exit", 0},
    {"print-config", OPTION_PRINT, NULL, 0, "Print all settings with their defaults as a config file and exit", 0},
    {0},
};

static const char help[] =
    "Starts pollux-dataplane, watches it and starts it again when it dies; answers polluxctl on run-dir/control.sock."
    "\vEnding this process (SIGTERM, kill -9) does not touch the dataplane: the next pollux-control of the same "
    "run-dir "
    "attaches to it. `polluxctl shutdown` ends both.";

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'c':
        options->config = argument;
        return 0;
    case OPTION_DATAPLANE:
        options->dataplane = argument;
        return 0;
    case 'd':
        options->daemonize = true;
        return 0;
    case OPTION_CHECK:
        options->check = true;
        return 0;
    case OPTION_PRINT:
        options->print = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int
complain(const char *reason)
{
    fprintf(stderr, "pollux-control: %s\n", reason);
    return 1;
}

/* Where the dataplane's program is: as given, beside ours, or where the build leaves it. */
static bool
find_dataplane(const char *given, char *path)
{
    static const char *const places[] = {"pollux-dataplane", "../dataplane/pollux-dataplane"};
    char own[PATH_MAX], guess[PATH_MAX + 64];
    ssize_t length;

    if (given != NULL)
        return realpath(given, path) != NULL && access(path, X_OK) == 0;
    length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length < 0)
        return false;
    own[length] = '\0';
    *(strrchr(own, '/') + 1) = '\0';
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(guess, sizeof(guess), "%s%s", own, places[i]);
        if (realpath(guess, path) != NULL && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static void
ask_end(int signal_number)
{
    (void)signal_number;
    end_asked = 1;
}

static void
catch_signals(void)
{
    struct sigaction end = {.sa_handler = ask_end}, ignore = {.sa_handler = SIG_IGN};

    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

/*
 * Go on in a child; the parent leaves when the child has said through the returned descriptor that it serves, or with
 * the child's exit status. -errno when there can be no child.
 */
static int
fork_away(void)
{
    int ends[2], status = 0;
    char ready;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    child = fork();
    if (child < 0)
        return -errno;
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0) {
        setsid();
        return ends[1];
    }
    if (read(ends[0], &ready, 1) == 1)
        exit(0);
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* From now on messages go to run-dir/control.log; tell the parent. */
static int
settle_in_background(const struct settings *settings, int ready)
{
    char path[PATH_MAX];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), log;

    snprintf(path, sizeof(path), "%s/control.log", settings->run_dir);
    log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (null < 0 || log < 0 || chdir("/") != 0)
        return -errno;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(null);
    close(log);
    if (write(ready, "", 1) != 1)
        return -errno;
    close(ready);
    return 0;
}

static void
serve(struct control *control, struct rpc_server *server)
{
    while (!end_asked && !control->supervise.ended) {
        rpc_server_poll(server, TICK_MS);
        supervise_tick(&control->supervise, control_now_ms());
        if (control->supervise.serving_ms != 0)
            window_add(&control->window, &control->supervise.seen);
    }
    if (control->supervise.pid != 0)
        log_event("ended; the dataplane (pid %d) goes on", (int)control->supervise.pid);
    else
        log_event("ended");
}

/* ready: the waiting parent's descriptor, or -1. Returns the exit status. */
static int
run(struct control *control, const char *dataplane, int ready)
{
    char error[1024], path[PATH_MAX];
    struct rpc_server *server;

    if (supervise_open(&control->supervise, &control->settings, dataplane, error, sizeof(error)) != 0)
        return complain(error);
    snprintf(path, sizeof(path), "%s/control.sock", control->settings.run_dir);
    server = rpc_server_open(path, control_methods, control, error, sizeof(error));
    if (server == NULL) {
        supervise_close(&control->supervise);
        return complain(error);
    }
    if (ready >= 0 && settle_in_background(&control->settings, ready) != 0) {
        rpc_server_close(server);
        supervise_close(&control->supervise);
        return complain("cannot open run-dir/control.log");
    }
    serve(control, server);
    rpc_server_close(server);
    supervise_close(&control->supervise);
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, help, NULL, NULL, NULL};
    static struct control control;
    struct options options = {0};
    char dataplane[PATH_MAX], error[1024];
    int ready = -1;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (options.print)
        return config_print_reference(stdout) == 0 ? 0 : complain("cannot write to standard output");
    settings_default(&control.settings);
    if (options.config != NULL && config_load(&control.settings, options.config, error, sizeof(error)) != 0)
        return complain(error);
    if (options.check)
        return printf("%s: good\n", options.config != NULL ? options.config : "built-in settings") < 0;
    if (!find_dataplane(options.dataplane, dataplane))
        return complain("cannot find or execute pollux-dataplane; say where it is with --dataplane PATH");
    if (options.daemonize) {
        ready = fork_away();
        if (ready < 0)
            return complain("cannot fork");
    }
    catch_signals();
    control.started_ms = control_now_ms();
    return run(&control, dataplane, ready);
}
