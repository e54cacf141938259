/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for pollux-dataplane that keeps its contract with the control process and does nothing else: takes
 * --settings FILE, holds the lock on run-dir/dataplane.pid, writes run-dir/stats, serves run-dir/dataplane.sock, ends
 * in order on SIGTERM. SIGUSR1: core 0 gets stuck; SIGUSR2: it goes on. SIGHUP: housekeeping hangs for good.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dataplane/rpc/rpc.h"
#include "dataplane/rpc/settings.h"
#include "dataplane/stats/layout.h"

static struct settings settings;
static volatile sig_atomic_t stuck, hung, end;

static void
take_signal(int number)
{
    if (number == SIGTERM)
        end = 1;
    else if (number == SIGHUP)
        hung = 1;
    else
        stuck = number == SIGUSR1;
}

static json_t *
config_get(void *context, json_t *params, char *error, size_t size)
{
    char value[SETTING_STRING_MAX];
    json_t *all = json_object();

    (void)context, (void)params, (void)error, (void)size;
    for (unsigned i = 0; i < setting_count; i++) {
        setting_get(&settings, &setting_table[i], value, sizeof(value));
        json_object_set_new(all, setting_table[i].name, json_string(value));
    }
    return all;
}

static json_t *
config_set(void *context, json_t *params, char *error, size_t size)
{
    const char *name;
    json_t *value;

    (void)context;
    json_object_foreach(params, name, value) if (setting_set(&settings, setting_find(name), json_string_value(value),
                                                             error, size) != 0) return NULL;
    return json_true();
}

static json_t *
clients(void *context, json_t *params, char *error, size_t size)
{
    (void)context, (void)params, (void)error, (void)size;
    return json_pack("[{s:i, s:s}, {s:i, s:s}]", "id", 1, "addr", "10.0.0.9:1", "id", 22, "addr", "10.0.0.9:22");
}

static json_t *
client_kill(void *context, json_t *params, char *error, size_t size)
{
    (void)context;
    if (json_integer_value(json_object_get(params, "id")) == 1)
        return json_true();
    snprintf(error, size, "no such client");
    return NULL;
}

static json_t *
pool_info(void *context, json_t *params, char *error, size_t size)
{
    (void)context, (void)params, (void)error, (void)size;
    return json_pack("{s:s, s:i}", "domain", "emulated", "size", 1);
}

static const struct rpc_method methods[] = {{"config.get", config_get}, {"config.set", config_set},
                                            {"clients", clients},       {"client.kill", client_kill},
                                            {"pool.info", pool_info},   {NULL, NULL}};

static bool
take_pid_file(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/dataplane.pid", settings.run_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0) == 0 && dprintf(fd, "%d\n", getpid()) > 0;
}

static struct stats_header *
map_stats(void)
{
    char path[PATH_MAX];
    struct stats_header *stats;

    snprintf(path, sizeof(path), "%s/stats", settings.run_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof(*stats)) != 0)
        return NULL;
    stats = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (stats == MAP_FAILED)
        return NULL;
    stats->version = STATS_VERSION;
    stats->cores = 2;
    stats->counters = COUNTERS;
    stats->families = FAMILIES;
    stats->pid = (uint32_t)getpid();
    stats->started_ms = (uint64_t)time(NULL) * 1000;
    snprintf(stats->address, sizeof(stats->address), "%.40s:%d", settings.bind, (int)settings.port);
    snprintf(stats->port, sizeof(stats->port), "none");
    stats->magic = STATS_MAGIC;
    return stats;
}

static void
serve(struct rpc_server *server, struct stats_header *stats)
{
    while (!end) {
        rpc_server_poll(server, 10);
        if (!hung)
            stats->heartbeat_ms++;
        if (!stuck)
            stats->core[0].counter[COUNTER_loops]++;
        stats->core[1].counter[COUNTER_loops]++;
        stats->core[1].counter[COUNTER_commands] += 10;
        stats->core[1].latency[FAMILY_READ].count[stats_bucket(1000)] += 10;
    }
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = take_signal};
    char path[PATH_MAX], error[512];
    struct rpc_server *server;
    struct stats_header *stats;

    if (argc != 3 || strcmp(argv[1], "--settings") != 0 ||
        settings_load(&settings, argv[2], error, sizeof(error)) != 0 || !take_pid_file())
        return 1;
    if (settings.maxclients == 666) { /* to be one that cannot start; timeout 666: one that does not stop */
        printf("some words\nthe pool is damaged\n");
        return 3;
    }
    if (settings.timeout == 666)
        signal(SIGTERM, SIG_IGN);
    else
        sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    snprintf(path, sizeof(path), "%s/dataplane.sock", settings.run_dir);
    server = rpc_server_open(path, methods, NULL, error, sizeof(error));
    stats = map_stats();
    if (server == NULL || stats == NULL)
        return 1;
    serve(server, stats);
    rpc_server_close(server);
    return 0;
}
