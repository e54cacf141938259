/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all cores share, and what each has of its own. Plain data: the loop is in core.c, commands see these.
 */
#ifndef DATAPLANE_SERVER_H
#define DATAPLANE_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "dataplane/command/command.h"
#include "dataplane/rpc/settings.h"
#include "dataplane/stats/layout.h"
#include "dataplane/stream.h"
#include "pmem/engine.h"

struct rte_ring;
struct sessions;

struct server {
    struct engine *engine;
    struct settings settings;   /* changed only by core 0's thread between batches */
    struct stats_header *stats; /* the shared-memory file */
    uint64_t started_ms;
    char run_id[41];
    char port_kind[16];
    unsigned cores;
    struct worker *worker; /* [cores] */
    atomic_bool stop;      /* SHUTDOWN, SIGTERM */
    _Atomic uint64_t next_client_id;
    _Atomic unsigned clients;      /* connected, on all cores */
    atomic_flag settings_latch;    /* held while CONFIG SET writes */
    _Atomic uint32_t stats_epoch;  /* grows with CONFIG RESETSTAT */
    uint64_t stats_base[COUNTERS]; /* what the counters were then, summed over the cores */
};

struct worker {
    struct server *server;
    unsigned index;
    struct core *core;        /* the engine's side */
    struct stats_core *stats; /* this core's block */
    struct transport transport;
    struct rte_ring *mailbox; /* messages from housekeeping */
    uint64_t now_us;          /* monotonic, read once a batch */
    uint64_t now_ms;          /* wall clock, read once a batch */
    struct client **clients;  /* all clients of this core, dense */
    unsigned clients_used, clients_capacity;
    uint64_t random;           /* state of the core's generator; any value but 0 */
    struct sessions *sessions; /* made by session_start */
};

#endif
