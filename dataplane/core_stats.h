/* SPDX-License-Identifier: BSD-3-Clause */
/* What a core tells of itself: its own cycles at once, the counters of port, TCP and engine copied now and then. */
#ifndef DATAPLANE_CORE_STATS_H
#define DATAPLANE_CORE_STATS_H

#include <stdbool.h>

#include "dataplane/port.h"
#include "dataplane/server.h"

#define CORE_STATS_EVERY_US 100000u

struct core_stats {
    struct worker *worker;
    const struct port *port;
    uint64_t next_us;    /* when to copy again */
    uint64_t ns_per_tsc; /* 2^32 * ns / cycle */
};

void core_stats_init(struct core_stats *stats, struct worker *worker, const struct port *port);
/* End of a turn: copy, if it is time, and take over settings that the transport needs. */
void core_stats_turn(struct core_stats *stats, uint64_t now_us);

static inline uint64_t
core_stats_ns(const struct core_stats *stats, uint64_t cycles)
{
    return (uint64_t)((unsigned __int128)cycles * stats->ns_per_tsc >> 32);
}

static inline void
core_stats_commit(struct core_stats *stats, uint64_t cycles)
{
    struct stats_core *block = stats->worker->stats;
    block->commit.count[stats_bucket(core_stats_ns(stats, cycles))]++;
}

static inline void
core_stats_cycles(struct core_stats *stats, uint64_t cycles, bool busy)
{
    uint64_t *counter = stats->worker->stats->counter;
    counter[COUNTER_loops]++;
    counter[COUNTER_busy_loops] += busy;
    counter[busy ? COUNTER_busy_cycles : COUNTER_idle_cycles] += cycles;
}

#endif
