/* SPDX-License-Identifier: BSD-3-Clause */
/* Open, close, describe. */
#include "pmem/engine_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmem/crc.h"
#include "pmem/siphash.h"
#include "pmem/table.h"

static uint64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- open and close ---- */

static struct core *
core_new(struct engine *engine, unsigned index, uint64_t first_batch)
{
    struct core *core = aligned_alloc(LINE_SIZE, sizeof(*core));
    if (!core)
        return NULL;
    memset(core, 0, sizeof(*core));
    core->engine = engine;
    core->index = index;
    core->base = engine->pool->base;
    core->roots_word = engine->pool->roots_word;
    core->roots_seen = UINT64_MAX; /* no good word */
    core->stamp = (uint64_t)index << STAMP_BATCH_BITS | first_batch;
    core->compaction.segment = -1;
    core->expire_cursor = UINT64_MAX / engine->cores * index;
    return core;
}

static int
engine_allocate(struct engine *engine)
{
    struct pool *pool = engine->pool;
    if (grace_init(&engine->grace, engine->cores) != 0)
        return -ENOMEM;
    engine->space = space_open(pool, &engine->grace, engine->cores);
    engine->latch = calloc(LATCHES, 1);
    engine->pages = calloc(pool->size / PAGE_SIZE_TABLE, sizeof(*engine->pages)); /* touched where there are pages */
    if (!engine->space || !engine->latch || !engine->pages)
        return -ENOMEM;
    /* All that was stamped before this boot is durable: it was met in the pool. */
    uint64_t first = pool->super.stamp_limit ? pool->super.stamp_limit : 1;
    for (unsigned i = 0; i < MAX_CORES; i++)
        atomic_store(&engine->durable[i].batch, first - 1);
    atomic_store(&engine->stamp_limit, pool_reserve_stamps(pool));
    for (unsigned i = 0; i < engine->cores; i++) {
        engine->core[i] = core_new(engine, i, first);
        if (!engine->core[i])
            return -ENOMEM;
    }
    return 0;
}

struct engine *
engine_attach(struct pool *pool, unsigned cores, char *error, size_t error_size)
{
    if (cores == 0 || cores > MAX_CORES) {
        snprintf(error, error_size, "%u cores: 1 to %u are possible", cores, MAX_CORES);
        return NULL;
    }
    uint64_t began = now_us();
    struct engine *engine = aligned_alloc(LINE_SIZE, sizeof(*engine));
    if (engine) {
        memset(engine, 0, sizeof(*engine));
        engine->pool = pool;
        engine->cores = cores;
    }
    if (!engine || engine_allocate(engine) != 0) {
        snprintf(error, error_size, "out of memory for a pool of %llu bytes", (unsigned long long)pool->size);
        goto err_detach;
    }
    if (recover(engine, error, error_size) != 0)
        goto err_detach;
    engine->open_us = now_us() - began;
    return engine;

err_detach:
    if (engine)
        engine_detach(engine);
    return NULL;
}

void
engine_detach(struct engine *engine)
{
    for (unsigned i = 0; i < engine->cores; i++)
        free(engine->core[i]);
    free(engine->pages);
    free(engine->latch);
    if (engine->space)
        space_free(engine->space);
    if (engine->grace.qsbr)
        grace_free(&engine->grace);
    free(engine);
}

struct engine *
engine_open(const struct engine_options *options, char *error, size_t error_size)
{
    struct pool *pool = malloc(sizeof(*pool));
    if (!pool) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    if (!crc_self_test()) {
        snprintf(error, error_size, "the check sums of this machine or its ISA-L are wrong");
        goto err_free;
    }
    if (pool_open(pool, options->path, options->create_size, error, error_size) != 0)
        goto err_free;
    struct engine *engine = engine_attach(pool, options->cores, error, error_size);
    if (engine)
        return engine;
    pool_close(pool);
err_free:
    free(pool);
    return NULL;
}

void
engine_close(struct engine *engine)
{
    struct pool *pool = engine->pool;
    for (unsigned i = 0; i < engine->cores; i++)
        core_offline(engine->core[i]);
    engine_detach(engine);
    pool_close(pool);
    free(pool);
}

struct core *
engine_core(struct engine *engine, unsigned index)
{
    return index < engine->cores ? engine->core[index] : NULL;
}

void
key_init(const struct engine *engine, struct key *key, const void *data, size_t len)
{
    key->data = data;
    key->len = (uint32_t)len;
    key->hash = siphash13(engine->pool->super.hash_key, data, len);
}

/* ---- describe: any thread ---- */

uint64_t
engine_keys(const struct engine *engine, unsigned db, uint64_t *with_expiry)
{
    uint32_t id = 0;
    uint64_t word;
    do { /* a record that ROOTS still names was not given away while it was read */
        word = word_load(engine->pool->roots_word);
        if (word) {
            const struct record *record = pool_at(engine->pool, word_offset(word));
            const struct roots *roots = (const struct roots *)(const void *)record->body;
            id = __atomic_load_n(&roots->db[db].id, __ATOMIC_ACQUIRE);
        }
    } while (word != word_load(engine->pool->roots_word));
    int64_t keys = 0, expiring = 0;
    for (unsigned i = 0; id && i < engine->cores; i++) {
        const struct tally *t = &engine->core[i]->tally[id % TABLES];
        keys += __atomic_load_n(&t->keys, __ATOMIC_RELAXED);
        expiring += __atomic_load_n(&t->expiring, __ATOMIC_RELAXED);
    }
    if (with_expiry)
        *with_expiry = expiring > 0 ? (uint64_t)expiring : 0;
    return keys > 0 ? (uint64_t)keys : 0;
}

static void
uuid_format(const uint8_t uuid[16], char text[37])
{
    static const char digit[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *text++ = '-';
        *text++ = digit[uuid[i] >> 4];
        *text++ = digit[uuid[i] & 15];
    }
    *text = 0;
}

void
engine_info(const struct engine *engine, struct engine_info *info)
{
    const struct pool *pool = engine->pool;
    struct space_usage usage;
    space_usage(engine->space, &usage);
    *info = (struct engine_info){
        .path = pool->path,
        .domain = pool->domain,
        .size = pool->size,
        .segments = usage.segments,
        .segments_free = usage.segments_free,
        .segments_table = usage.segments_table,
        .live_bytes = usage.live_bytes,
        .garbage_bytes = usage.garbage_bytes,
        .writable_bytes = usage.writable_bytes,
        .dirty_shutdowns = pool->super.dirty_shutdowns,
        .was_clean = pool->was_clean,
        .created_ms = pool->super.created_ms,
        .open_us = engine->open_us,
        .walked_keys = engine->walked_keys,
        .crc_errors = engine->damaged,
    };
    uuid_format(pool->super.uuid, info->uuid);
    for (unsigned i = 0; i < engine->cores; i++) {
        const struct core *core = engine->core[i];
        info->compacted_bytes += __atomic_load_n(&core->compacted_bytes, __ATOMIC_RELAXED);
        info->splits += __atomic_load_n(&core->splits_done, __ATOMIC_RELAXED);
        info->crc_errors += __atomic_load_n(&core->crc_errors, __ATOMIC_RELAXED);
        info->expired += __atomic_load_n(&core->counts.expired, __ATOMIC_RELAXED);
    }
}
