/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of run-dir/control.sock. */
#include "control/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DATAPLANE_TIMEOUT_MS 2000

int64_t
control_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static double
seconds_since(int64_t then_ms)
{
    return (double)(control_now_ms() - then_ms) / 1000;
}

static json_t *
status_of_cores(const struct supervise *supervise)
{
    json_t *cores = json_array();

    for (unsigned i = 0; supervise->serving_ms != 0 && i < supervise->seen.header.cores; i++)
        json_array_append_new(cores, json_pack("{s:i, s:s, s:I}", "core", (int)i, "state",
                                               supervise->stuck[i] ? "stuck" : "running", "loops",
                                               (json_int_t)supervise->loops[i]));
    return cores;
}

/* Sentences for the operator; an empty list when all is well. */
static json_t *
problems_of(const struct supervise *supervise)
{
    json_t *problems = json_array();
    char text[1024];

    if (supervise_ready(supervise, control_now_ms(), text, sizeof(text)) != 0)
        json_array_append_new(problems, json_string(text));
    if (supervise->state != SUPERVISE_RUNNING && supervise->state != SUPERVISE_HUNG)
        return problems;
    for (unsigned i = 0; i < supervise->seen.header.cores; i++) {
        if (!supervise->stuck[i])
            continue;
        snprintf(text, sizeof(text), "core %u is stuck: its loop has not gone round for %.1f s", i,
                 seconds_since(supervise->moved_ms[i]));
        json_array_append_new(problems, json_string(text));
    }
    return problems;
}

static json_t *
status_of_dataplane(const struct supervise *supervise)
{
    static const char *const names[] = {
        [SUPERVISE_DOWN] = "down",       [SUPERVISE_STARTING] = "starting", [SUPERVISE_RUNNING] = "running",
        [SUPERVISE_STOPPED] = "stopped", [SUPERVISE_HUNG] = "hung",
    };
    bool alive = supervise->pid != 0, seen = supervise->serving_ms != 0;
    const struct stats_header *header = &supervise->seen.header;

    return json_pack("{s:s, s:o, s:o, s:b, s:i, s:o, s:o, s:o}", "state", names[supervise->state], "pid",
                     alive ? json_integer(supervise->pid) : json_null(), "uptime_s",
                     seen ? json_real((double)(time(NULL) - (time_t)(header->started_ms / 1000))) : json_null(),
                     "attached", alive && supervise->attached, "starts", (int)supervise->starts, "address",
                     seen ? json_string(header->address) : json_null(), "port",
                     seen ? json_string(header->port) : json_null(), "last_end",
                     supervise->last_end[0] != '\0' ? json_string(supervise->last_end) : json_null());
}

static json_t *
status(void *context, json_t *params, char *error, size_t error_size)
{
    const struct control *control = context;

    (void)params, (void)error, (void)error_size;
    return json_pack("{s:{s:i, s:s, s:f, s:s}, s:o, s:o, s:o}", "control", "pid", (int)getpid(), "version",
                     POLLUX_VERSION, "uptime_s", seconds_since(control->started_ms), "run_dir",
                     control->settings.run_dir, "dataplane", status_of_dataplane(&control->supervise), "cores",
                     status_of_cores(&control->supervise), "problems", problems_of(&control->supervise));
}

static json_t *
stats(void *context, json_t *params, char *error, size_t error_size)
{
    const struct control *control = context;
    const struct supervise *supervise = &control->supervise;

    (void)params;
    if (supervise->serving_ms == 0) {
        supervise_ready(supervise, control_now_ms(), error, error_size);
        return NULL;
    }
    return window_report(&control->window, &supervise->seen);
}

/* Ask the dataplane; a sentence says why when it cannot be asked now. */
static json_t *
pass_on(const struct control *control, const char *method, json_t *params, char *error, size_t error_size)
{
    const struct supervise *supervise = &control->supervise;

    if (supervise_ready(supervise, control_now_ms(), error, error_size) != 0)
        return NULL;
    return rpc_call(supervise->socket_path, method, params, DATAPLANE_TIMEOUT_MS, error, error_size);
}

static json_t *
config_get(void *context, json_t *params, char *error, size_t error_size)
{
    return pass_on(context, "config.get", params, error, error_size);
}

static json_t *
clients(void *context, json_t *params, char *error, size_t error_size)
{
    return pass_on(context, "clients", params, error, error_size);
}

static json_t *
client_kill(void *context, json_t *params, char *error, size_t error_size)
{
    return pass_on(context, "client.kill", params, error, error_size);
}

static json_t *
pool_info(void *context, json_t *params, char *error, size_t error_size)
{
    return pass_on(context, "pool.info", params, error, error_size);
}

/* Check {name: value, ...} against the table, as one change of *settings. False: refused, with the reason. */
static bool
check_changes(struct settings *settings, json_t *params, char *error, size_t error_size)
{
    size_t wanted = json_object_size(params), count = 0;
    struct setting_change *changes = calloc(wanted + 1, sizeof(*changes));
    unsigned culprit = 0;
    char reason[256] = "";
    const char *name;
    json_t *value;
    int code = 0;

    if (changes == NULL)
        return false;
    json_object_foreach(params, name, value)
    {
        changes[count++] = (struct setting_change){name, json_string_value(value)};
        if (!json_is_string(value) && code == 0) {
            code = -1;
            culprit = (unsigned)count - 1;
            snprintf(reason, sizeof(reason), "the value must be a JSON string");
        }
    }
    if (code == 0)
        code = settings_change(settings, changes, (unsigned)count, &culprit, reason, sizeof(reason));
    if (wanted == 0)
        snprintf(error, error_size, "name at least one setting and its value");
    else if (code != 0)
        snprintf(error, error_size, "%.100s: %s; nothing was changed", changes[culprit].name, reason);
    free(changes);
    return code == 0 && wanted > 0;
}

/* A restarted dataplane gets the changed settings again; the config file stays as it is. */
static json_t *
config_set(void *context, json_t *params, char *error, size_t error_size)
{
    struct control *control = context;
    struct settings changed = control->settings;
    json_t *result;

    if (!check_changes(&changed, params, error, error_size))
        return NULL;
    result = pass_on(control, "config.set", params, error, error_size);
    if (result != NULL)
        control->settings = changed;
    return result;
}

static json_t *
order_shutdown(void *context, json_t *params, char *error, size_t error_size)
{
    struct control *control = context;
    int pid = (int)control->supervise.pid;

    (void)params, (void)error, (void)error_size;
    supervise_stop(&control->supervise, control_now_ms());
    return json_pack("{s:i, s:i}", "control", (int)getpid(), "dataplane", pid);
}

const struct rpc_method control_methods[] = {
    {"status", status},
    {"stats", stats},
    {"config.get", config_get},
    {"config.set", config_set},
    {"clients", clients},
    {"client.kill", client_kill},
    {"pool.info", pool_info},
    {"shutdown", order_shutdown},
    {NULL, NULL},
};
