/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only way to store to persistent memory.
 *
 * All other code sees the pool through pointers to const, so a store that is not one of these calls does not
 * compile (-Wcast-qual is an error). persist.c is the real thing, over libpmem; tests/crash/persist_sim.c records
 * every call, makes the crash images from what it recorded, and switches fibers.
 *
 * Each flush and fence names its site, one of persist_sites.def. In the real build the name costs nothing; the
 * crash simulator removes one site at a time and must then find a violation.
 *
 * Threads: any. A store is visible to other cores at once, and durable after a flush of its line by a core and that
 * core's next fence (or its next locked instruction).
 */
#ifndef PMEM_PERSIST_H
#define PMEM_PERSIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum persist_site {
#define PERSIST_SITE(name, what) SITE_##name,
#include "pmem/persist_sites.def"
#undef PERSIST_SITE
    SITES
};

/* Copy len bytes to pool memory that nothing points to yet (src NULL: zeros). Not flushed. */
void persist_copy(const void *dst, const void *src, size_t len);

/* One aligned 8-byte store, release order. Not flushed. */
void persist_store(const uint64_t *dst, uint64_t value);

/* Compare and swap one aligned word. A locked instruction: it also completes this core's earlier flushes. */
bool persist_cas(const uint64_t *dst, uint64_t expected, uint64_t desired);

/* Start writing back the lines of [p, p + len). Vanishes where caches are in the persistence domain (eADR). */
void persist_flush(const void *p, size_t len, enum persist_site site);

/* Wait until what this core flushed is durable. */
void persist_fence(enum persist_site site);

/* A place where, in the simulator, another core may run: latches and loads that race. Empty in the real build. */
void persist_yield(void);

/* Lines flushed and fences issued by the calling thread since it began; for the batch-cost tests and statistics. */
struct persist_counts {
    uint64_t lines, fences;
};
struct persist_counts persist_counts(void);

#endif
