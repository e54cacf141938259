/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics file: shared memory, one block a core, each written by its core alone and read by anybody at any
 * time. Counters are 64 bits and only grow; a reader takes differences. Histograms are log-linear: 8 steps to a power
 * of two. Control and CLI map it read-only, so that looking never touches a data core.
 */
#ifndef DATAPLANE_STATS_LAYOUT_H
#define DATAPLANE_STATS_LAYOUT_H

#include <stdint.h>

#define STATS_MAGIC   0x53544154534c4f50ULL
#define STATS_VERSION 1u
#define STATS_CORES   32u

/* COUNTER(name, what) for each per-core counter; counters.def is the one list: code, JSON names and help. */
enum stats_counter {
#define COUNTER(name, what) COUNTER_##name,
#include "dataplane/stats/counters.def"
#undef COUNTER
    COUNTERS
};

/* FAMILY(name, text): command families, each with a latency histogram (ns from receive to commit). */
enum stats_family {
#define FAMILY(name, text) FAMILY_##name,
#include "dataplane/stats/families.def"
#undef FAMILY
    FAMILIES
};

#define STATS_BUCKETS 256 /* 8 sub-buckets x 32 octaves, from 1 ns */
struct stats_histogram {
    uint64_t count[STATS_BUCKETS];
};

static inline unsigned
stats_bucket(uint64_t ns)
{
    if (ns < 8)
        return (unsigned)ns;
    unsigned top = 63u - (unsigned)__builtin_clzll(ns);
    unsigned bucket = (top - 2) * 8 + (unsigned)(ns >> (top - 3) & 7);
    return bucket < STATS_BUCKETS ? bucket : STATS_BUCKETS - 1;
}

/* The smallest value that falls in a bucket. */
static inline uint64_t
stats_bucket_floor(unsigned bucket)
{
    if (bucket < 8)
        return bucket;
    unsigned top = bucket / 8 + 2;
    return (8ull + bucket % 8) << (top - 3);
}

struct stats_core {
    uint64_t counter[COUNTERS];
    struct stats_histogram latency[FAMILIES];
    struct stats_histogram commit; /* ns of the commit stage, a batch */
} __attribute__((aligned(64)));

struct stats_header {
    uint64_t magic;
    uint32_t version, cores;
    uint64_t started_ms; /* wall clock */
    uint32_t pid, counters, families, reserved;
    uint64_t tsc_hz;
    uint64_t heartbeat_ms; /* wall clock, written by the housekeeping thread once a second */
    char port[64], address[64];
    struct stats_core core[STATS_CORES];
};

#endif
