/* SPDX-License-Identifier: BSD-3-Clause */
/* The superblock: numbered steps, signature last. */
#include "pmem/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pmem/crc.h"
#include "pmem/persist.h"
#include "pmem/word.h"

/* Stands in place of the magic while a pool is made. */
#define MAGIC_UNFINISHED 0x2e2e58554c4c4f50ull /* "POLLUX.." */

#define COPIES      2u
#define MIB         (1024.0 * 1024.0)
#define FEATURES    0ull /* none yet, of any of the three kinds */
#define CRC_COVERED offsetof(struct superblock, crc)

static const struct superblock *
copy_at(const void *base, unsigned copy)
{
    return (const void *)((const uint8_t *)base + copy * SUPERBLOCK_COPY);
}

static bool
whole(const struct superblock *super)
{
    return super->magic == SUPERBLOCK_MAGIC && crc64(super, CRC_COVERED) == super->crc;
}

static uint64_t
system_segments(uint64_t segments)
{
    return (SEGMENTS_OFFSET + segments * sizeof(uint64_t) + SEGMENT_SIZE - 1) / SEGMENT_SIZE;
}

enum superblock_state
superblock_look(const void *base)
{
    const struct superblock *first = copy_at(base, 0), *second = copy_at(base, 1);
    if (first->magic == MAGIC_UNFINISHED && second->magic != SUPERBLOCK_MAGIC)
        return SUPERBLOCK_UNFINISHED;
    for (unsigned copy = 0; copy < COPIES; copy++) {
        uint64_t magic = copy_at(base, copy)->magic;
        if (magic == SUPERBLOCK_MAGIC || magic == __builtin_bswap64(SUPERBLOCK_MAGIC))
            return SUPERBLOCK_PRESENT;
    }
    const uint64_t *word = base;
    for (unsigned i = 0; i < ROOTS_OFFSET / sizeof(*word); i++)
        if (word[i])
            return SUPERBLOCK_FOREIGN;
    return SUPERBLOCK_ABSENT;
}

static void
write_segment_words(const void *base, uint64_t segments)
{
    const uint64_t *words = (const void *)((const uint8_t *)base + SEGMENTS_OFFSET);
    persist_copy(words, NULL, segments * sizeof(*words));
    for (uint64_t i = 0; i < system_segments(segments); i++)
        persist_store(&words[i], word_seal(SEGMENT_SYSTEM));
}

void
superblock_format(const void *base, uint64_t size, const uint8_t uuid[16], const uint8_t hash_key[16], uint64_t now_ms)
{
    const struct superblock *first = copy_at(base, 0), *second = copy_at(base, 1);
    struct superblock super = {.magic = SUPERBLOCK_MAGIC,
                               .version = LAYOUT_VERSION,
                               .endian = SUPERBLOCK_LITTLE,
                               .size = size,
                               .segment_size = SEGMENT_SIZE,
                               .page_size = PAGE_SIZE_TABLE,
                               .page_homes = PAGE_HOMES,
                               .stamp_limit = 1,
                               .generation = 1,
                               .clean = 1,
                               .created_ms = now_ms};
    memcpy(super.uuid, uuid, sizeof(super.uuid));
    memcpy(super.hash_key, hash_key, sizeof(super.hash_key));
    super.crc = crc64(&super, CRC_COVERED);

    /* 1. say that a pool is being made */
    persist_store(&first->magic, MAGIC_UNFINISHED);
    persist_flush(&first->magic, sizeof(first->magic), SITE_FLUSH_FORMAT_BEGIN);
    persist_fence(SITE_FENCE_FORMAT_BEGIN);

    /* 2. everything but the signatures */
    uint64_t segments = size / SEGMENT_SIZE, words_end = SEGMENTS_OFFSET + segments * sizeof(uint64_t);
    persist_copy(&first->version, &super.version, sizeof(super) - offsetof(struct superblock, version));
    persist_copy(&second->magic, NULL, sizeof(second->magic));
    persist_copy(&second->version, &super.version, sizeof(super) - offsetof(struct superblock, version));
    persist_copy((const uint8_t *)base + ROOTS_OFFSET, NULL, sizeof(uint64_t));
    write_segment_words(base, segments);
    persist_flush(base, words_end, SITE_FLUSH_FORMAT_BODY);
    persist_fence(SITE_FENCE_FORMAT_BODY);

    /* 3. the signatures: with the first one the pool is there */
    persist_store(&first->magic, SUPERBLOCK_MAGIC);
    persist_flush(&first->magic, sizeof(first->magic), SITE_FLUSH_FORMAT_END);
    persist_store(&second->magic, SUPERBLOCK_MAGIC);
    persist_flush(&second->magic, sizeof(second->magic), SITE_FLUSH_FORMAT_END);
    persist_fence(SITE_FENCE_FORMAT_END);
}

/* Write pool->super to both copies, one made durable before the other is touched; the newer is overwritten last. */
static void
rewrite(struct pool *pool)
{
    struct superblock *super = &pool->super;
    super->generation++;
    super->crc = crc64(super, CRC_COVERED);
    const struct superblock *first = copy_at(pool->base, 0), *second = copy_at(pool->base, 1);
    bool first_is_newer = whole(first) && (!whole(second) || first->generation > second->generation);
    const struct superblock *older = first_is_newer ? second : first, *newer = first_is_newer ? first : second;
    persist_copy(older, super, sizeof(*super));
    persist_flush(older, sizeof(*super), SITE_FLUSH_SUPER);
    persist_fence(SITE_FENCE_SUPER);
    persist_copy(newer, super, sizeof(*super));
    persist_flush(newer, sizeof(*super), SITE_FLUSH_SUPER_SECOND);
    persist_fence(SITE_FENCE_SUPER_SECOND);
}

/* Neither copy is whole: say why as well as can be told. */
static int
refuse_broken(const void *base, char *error, size_t size)
{
    for (unsigned copy = 0; copy < COPIES; copy++) {
        const struct superblock *super = copy_at(base, copy);
        if (super->magic == __builtin_bswap64(SUPERBLOCK_MAGIC)) {
            snprintf(error, size, "the pool was made on a machine of the other byte order");
            return -EINVAL;
        }
        if (super->magic == SUPERBLOCK_MAGIC && super->version > LAYOUT_VERSION) {
            snprintf(error, size, "the pool has layout version %" PRIu32 ", newer than this program's %u: upgrade it",
                     super->version, LAYOUT_VERSION);
            return -EPROTO;
        }
    }
    snprintf(error, size, "the superblock is damaged in both of its copies: restore the pool from a backup");
    return -EBADMSG;
}

/* A whole superblock may still be one that this program must not touch. */
static int
refuse_strange(const struct superblock *super, uint64_t mapped, char *error, size_t size)
{
    if (super->endian != SUPERBLOCK_LITTLE)
        snprintf(error, size, "the pool was made on a machine of the other byte order");
    else if (super->version != LAYOUT_VERSION)
        snprintf(error, size, "the pool has layout version %" PRIu32 ", this program knows version %u", super->version,
                 LAYOUT_VERSION);
    else if ((super->incompatible | super->read_only) & ~FEATURES)
        snprintf(error, size,
                 "the pool uses features that this program does not know (incompatible 0x%" PRIx64
                 ", read-only 0x%" PRIx64 "): upgrade it",
                 super->incompatible, super->read_only);
    else if (super->segment_size != SEGMENT_SIZE || super->page_size != PAGE_SIZE_TABLE ||
             super->page_homes != PAGE_HOMES)
        snprintf(error, size,
                 "the pool has another geometry (segments of %" PRIu32 ", pages of %" PRIu32 " with %" PRIu32
                 " buckets; this program: %u, %u, %u)",
                 super->segment_size, super->page_size, super->page_homes, SEGMENT_SIZE, PAGE_SIZE_TABLE, PAGE_HOMES);
    else if (super->size != mapped)
        snprintf(error, size, "the pool was made with %.1f MiB, and its file has %.1f MiB: it was %s",
                 super->size / MIB, mapped / MIB, mapped < super->size ? "truncated" : "grown");
    else if (super->size % SEGMENT_SIZE || super->size / SEGMENT_SIZE < POOL_MIN_SEGMENTS)
        snprintf(error, size, "the superblock gives an impossible size, %" PRIu64 " bytes", super->size);
    else
        return 0;
    return -EINVAL;
}

int
superblock_open(struct pool *pool, char *error, size_t error_size)
{
    const struct superblock *newest = NULL;
    for (unsigned copy = 0; copy < COPIES; copy++) {
        const struct superblock *super = copy_at(pool->base, copy);
        if (whole(super) && (!newest || super->generation > newest->generation))
            newest = super;
    }
    if (!newest)
        return refuse_broken(pool->base, error, error_size);
    int rc = refuse_strange(newest, pool->size, error, error_size);
    if (rc)
        return rc;
    pool->super = *newest;
    pool->segments = pool->size / SEGMENT_SIZE;
    pool->system_segments = system_segments(pool->segments);
    pool->segment_words = pool_at(pool, SEGMENTS_OFFSET);
    pool->roots_word = pool_at(pool, ROOTS_OFFSET);
    pool->was_clean = pool->super.clean;
    if (!pool->was_clean)
        pool->super.dirty_shutdowns++;
    pool->super.clean = 0;
    /* A killed process may have left one in the caches alone: durable before the other one is touched. */
    persist_flush(pool->base, SUPERBLOCK_COPY + sizeof(struct superblock), SITE_FLUSH_SUPER_MET);
    persist_fence(SITE_FENCE_SUPER_MET);
    rewrite(pool);
    return 0;
}

void
superblock_close(struct pool *pool)
{
    pool->super.clean = 1;
    rewrite(pool);
}

uint64_t
pool_reserve_stamps(struct pool *pool)
{
    pool->super.stamp_limit += STAMP_RESERVE;
    rewrite(pool);
    return pool->super.stamp_limit;
}
