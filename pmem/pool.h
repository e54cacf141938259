/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool file: created or mapped by libpmem, locked, checked, described. Knows the superblock and nothing of what
 * lies behind it but where the ROOTS word and the segment words are.
 */
#ifndef PMEM_POOL_H
#define PMEM_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmem/engine.h"
#include "pmem/layout.h"

struct pool {
    const uint8_t *base;
    uint64_t size;
    uint64_t segments;        /* segment_words[0 .. segments) */
    uint64_t system_segments; /* the first ones: superblock and segment words; never FREE */
    const uint64_t *segment_words;
    const uint64_t *roots_word;
    struct superblock super; /* as last written */
    enum persistence_domain domain;
    bool created;   /* made by this open */
    bool was_clean; /* the last user closed it in order */
    int lock_fd;    /* holds an exclusive flock, so that a killed process leaves no stale lock */
    char path[256];
};

/*
 * Open, or create where create_size says so. Refuses, with one sentence in error: not a pool, damaged superblock,
 * newer layout, unknown incompatible feature, other geometry or byte order, file size not the pool's size, already
 * open elsewhere, too small. Never wipes. Counts a dirty shutdown where the clean flag is missing, then clears the
 * flag durably. 0 or -errno.
 */
int pool_open(struct pool *pool, const char *path, uint64_t create_size, char *error, size_t error_size);

/* Marks the pool clean, unmaps, unlocks. */
void pool_close(struct pool *pool);

/* Reserve the next range of batch numbers durably; returns the new limit (exclusive). Thread: one at a time. */
uint64_t pool_reserve_stamps(struct pool *pool);
#ifndef STAMP_RESERVE
#define STAMP_RESERVE (1ull << 24)
#endif

static inline const void *
pool_at(const struct pool *pool, uint64_t offset)
{
    return pool->base + offset;
}

static inline uint64_t
pool_offset(const struct pool *pool, const void *p)
{
    return (uint64_t)((const uint8_t *)p - pool->base);
}

#endif
