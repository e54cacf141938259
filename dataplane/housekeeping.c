/* SPDX-License-Identifier: BSD-3-Clause */
/* The housekeeping thread. */
#include "dataplane/housekeeping.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dataplane/methods.h"
#include "dataplane/rpc/rpc.h"

#define POLL_MS 200
#define BEAT_S  1

struct housekeeping {
    struct server *server;
    struct stats_file *stats;
    struct rpc_server *rpc;
    pthread_t thread;
    atomic_bool stop;
};

static time_t
monotonic_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void *
run(void *arg)
{
    struct housekeeping *housekeeping = arg;
    time_t beat = 0;
    while (!atomic_load(&housekeeping->stop)) {
        if (monotonic_s() - beat >= BEAT_S) {
            beat = monotonic_s();
            stats_file_beat(housekeeping->stats);
        }
        rpc_server_poll(housekeeping->rpc, POLL_MS);
    }
    return NULL;
}

static int
start_thread(struct housekeeping *housekeeping, const cpu_set_t *cpus)
{
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return rc;
    if (CPU_COUNT(cpus) > 0)
        pthread_attr_setaffinity_np(&attributes, sizeof(*cpus), cpus);
    rc = pthread_create(&housekeeping->thread, &attributes, run, housekeeping);
    pthread_attr_destroy(&attributes);
    if (rc == 0)
        pthread_setname_np(housekeeping->thread, "housekeeping");
    return rc;
}

struct housekeeping *
housekeeping_start(struct server *server, struct stats_file *stats, const cpu_set_t *cpus, char *error,
                   size_t error_size)
{
    char path[SETTING_STRING_MAX + 32];
    struct housekeeping *housekeeping = calloc(1, sizeof(*housekeeping));
    if (!housekeeping) {
        snprintf(error, error_size, "Out of memory.");
        return NULL;
    }
    housekeeping->server = server;
    housekeeping->stats = stats;
    snprintf(path, sizeof(path), "%s/dataplane.sock", server->settings.run_dir);
    housekeeping->rpc = rpc_server_open(path, dataplane_methods, server, error, error_size);
    if (!housekeeping->rpc) {
        free(housekeeping);
        return NULL;
    }
    int rc = start_thread(housekeeping, cpus);
    if (rc != 0) {
        snprintf(error, error_size, "The housekeeping thread does not start: %s.", strerror(rc));
        rpc_server_close(housekeeping->rpc);
        free(housekeeping);
        return NULL;
    }
    return housekeeping;
}

void
housekeeping_stop(struct housekeeping *housekeeping)
{
    if (!housekeeping)
        return;
    atomic_store(&housekeeping->stop, true);
    pthread_join(housekeeping->thread, NULL);
    rpc_server_close(housekeeping->rpc);
    free(housekeeping);
}
