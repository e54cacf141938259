/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The superblock of a mapped pool: made, checked, rewritten. Knows nothing of files, so that the crash simulator can
 * run it on memory.
 *
 * Two copies, each with its own CRC64. A rewrite makes one copy durable before it touches the other, so a whole one
 * is always there; of two whole copies the one with the higher generation counts.
 *
 * Threads: one at a time.
 */
#ifndef PMEM_SUPERBLOCK_H
#define PMEM_SUPERBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmem/pool.h"

/* Fewest segments that the engine can work with. */
#define POOL_MIN_SEGMENTS 8u

/* What lies at the start of a mapping. */
enum superblock_state {
    SUPERBLOCK_ABSENT,     /* zeros: nothing was ever here */
    SUPERBLOCK_UNFINISHED, /* a creation was interrupted: no pool yet, and nothing of value */
    SUPERBLOCK_FOREIGN,    /* something else */
    SUPERBLOCK_PRESENT,    /* a pool, perhaps a damaged one: superblock_open says */
};
enum superblock_state superblock_look(const void *base);

/*
 * Make an empty pool of size bytes, a multiple of SEGMENT_SIZE, at base. The signature is written last: until then
 * superblock_look says UNFINISHED. Only the system segments are written; the others may hold anything.
 */
void superblock_format(const void *base, uint64_t size, const uint8_t uuid[16], const uint8_t hash_key[16],
                       uint64_t now_ms);

/*
 * Check the superblock in pool->base[0 .. pool->size) and fill in the rest of *pool that follows from it; count a
 * dirty shutdown if the last user did not close; clear the clean flag durably. 0 or -errno with one sentence.
 */
int superblock_open(struct pool *pool, char *error, size_t error_size);

/* Set the clean flag, durably. */
void superblock_close(struct pool *pool);

#endif
