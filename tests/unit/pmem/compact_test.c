/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Space comes back: overwriting never fills a pool, survivors are moved and stay right, and a pool that is full of
 * live data says so, stays readable, and takes deletes.
 *
 * The long form of the first, 20 million overwrites by 1 and by 2 threads: COMPACT_TEST_OVERWRITES=20000000.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmem/engine_internal.h"
#include "tests/unit/pmem/engine_fixture.h"

#define VALUE 128u
#define BATCH 32u

/* ---- overwriting ---- */

struct writer {
    struct core *core;
    unsigned keys;
    uint64_t seed, writes, deferred, failed;
    pthread_t thread;
};

static uint64_t
random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

static enum verdict
decide_value(const struct entry *old, struct edit *edit, void *arg)
{
    (void)old;
    edit->part[0] = (struct slice){.data = arg, .len = VALUE};
    edit->parts = 1;
    edit->blind = true;
    return ENTRY_PUT;
}

/* A value that tells its key and that it is whole. */
static void
value_make(char value[VALUE], unsigned k, uint64_t seed)
{
    memset(value, 'a' + (int)(seed % 26), VALUE);
    memcpy(value, &k, sizeof(k));
}

static bool
value_good(const struct entry *entry, unsigned k)
{
    const char *value = entry->value;
    if (entry->len != VALUE || memcmp(value, &k, sizeof(k)) != 0)
        return false;
    return memcmp(value + 4, value + 5, VALUE - 5) == 0;
}

static void
key_number(struct key *key, char name[32], unsigned k)
{
    key_name(name, "key", k);
    key_init(engine, key, name, strlen(name));
}

/* One batch: prepare all, execute all; what is put off is drawn anew. */
static void
overwrite_batch(struct writer *w)
{
    static _Thread_local char name[BATCH][32], value[BATCH][VALUE];
    struct key key[BATCH];
    struct hint hint[BATCH];
    batch_begin(w->core, fixture_now);
    for (unsigned i = 0; i < BATCH; i++) {
        unsigned k = (unsigned)(random_next(&w->seed) % w->keys);
        key_number(&key[i], name[i], k);
        value_make(value[i], k, w->seed);
        entry_prepare(w->core, 0, &key[i], decide_value, value[i], &hint[i]);
    }
    batch_prepared(w->core);
    for (unsigned i = 0; i < BATCH; i++) {
        int rc = entry_edit(w->core, 0, &key[i], decide_value, value[i], &hint[i]);
        w->writes += rc == 0;
        w->deferred += rc == -EAGAIN;
        w->failed += rc && rc != -EAGAIN;
    }
    batch_commit(w->core);
    batch_tend(w->core);
}

static void *
overwrite(void *arg)
{
    struct writer *w = arg;
    uint64_t goal = w->writes;
    for (w->writes = 0; w->writes < goal && !w->failed;)
        overwrite_batch(w);
    core_offline(w->core);
    return NULL;
}

static unsigned
values_wrong(unsigned keys)
{
    unsigned wrong = 0;
    batch_begin(core, fixture_now);
    for (unsigned k = 0; k < keys; k++) {
        char name[32];
        struct key key;
        struct entry entry;
        key_number(&key, name, k);
        wrong += entry_read(core, 0, &key, &entry) != 0 || !value_good(&entry, k);
    }
    batch_commit(core);
    return wrong;
}

/* Each key once, so that every one is there. */
static void
write_all(unsigned keys)
{
    char name[32], value[VALUE];
    for (unsigned k = 0; k < keys;) {
        batch_begin(core, fixture_now);
        for (unsigned n = 0; n < BATCH && k < keys; n++) {
            value_make(value, k, 0);
            int rc = put(0, key_name(name, "key", k), value, VALUE, 0);
            CU_ASSERT_FATAL(rc == 0 || rc == -EAGAIN);
            if (rc)
                break;
            k++;
        }
        batch_commit(core);
        batch_tend(core);
    }
}

static void
overwrite_by(unsigned threads, unsigned keys, uint64_t writes)
{
    struct writer w[2];
    struct engine_info info;
    uint64_t deferred = 0;
    fixture_create(64 * MIB, threads);
    write_all(keys);
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (struct writer){.core = engine_core(engine, i), .keys = keys, .seed = 88172645463325252ull + i};
        w[i].writes = writes / threads;
        pthread_create(&w[i].thread, NULL, overwrite, &w[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        CU_ASSERT(w[i].failed == 0);
        deferred += w[i].deferred;
    }
    CU_ASSERT(values_wrong(keys) == 0);
    CU_ASSERT(engine_keys(engine, 0, NULL) == keys);
    engine_info(engine, &info);
    printf("%u threads, %u keys: %" PRIu64 " overwrites, %" PRIu64 " put off, %.1f bytes moved a write  ", threads,
           keys, writes, deferred, (double)info.compacted_bytes / (double)writes);
    CU_ASSERT(info.live_bytes <= keys * 176ull + 512);
    fixture_reopen(1);
    CU_ASSERT(values_wrong(keys) == 0);
    fixture_destroy();
}

static uint64_t
overwrites(void)
{
    const char *text = getenv("COMPACT_TEST_OVERWRITES");
    return text ? strtoull(text, NULL, 10) : 2000000;
}

static void
test_overwriting_with_one_thread(void)
{
    overwrite_by(1, 1000, overwrites());
}

static void
test_overwriting_with_two_threads(void)
{
    overwrite_by(2, 1000, overwrites());
}

/* Three quarters of the pool hold live data. */
static void
test_overwriting_a_crowded_pool(void)
{
    overwrite_by(1, 240000, 300000);
    overwrite_by(2, 240000, 300000);
}

/* ---- moving survivors ---- */

/* Every 8th key stays, the others are overwritten again and again: the old ones must be moved out of the way. */
static void
test_survivors_are_moved(void)
{
    char name[32], value[400], want[400];
    struct engine_info info;
    memset(value, 'v', sizeof(value));
    fixture_create(32 * MIB, 1);
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned k = 0; k < 24000; k++) {
            if (round && k % 8 == 0)
                continue;
            snprintf(value, sizeof(value), "%u:%u:%300s", k, round, "");
            CU_ASSERT_FATAL(set(0, key_name(name, "key", k), value) == 0);
        }
    }
    engine_info(engine, &info);
    CU_ASSERT(info.compacted_bytes > MIB);
    for (unsigned turn = 0; turn < 2; turn++) {
        unsigned wrong = 0;
        for (unsigned k = 0; k < 24000; k++) {
            snprintf(want, sizeof(want), "%u:%u:%300s", k, k % 8 ? 11 : 0, "");
            wrong += !holds(0, key_name(name, "key", k), want);
        }
        CU_ASSERT(wrong == 0);
        fixture_reopen(1);
    }
    fixture_destroy();
}

/*
 * Damaged records keep their segments for good, and these look as if much could be had of them: compaction must not
 * go on trying there while others could be emptied. Every 64th key survives; each 512th of the first half is damaged.
 */
static void
test_damaged_segments_are_left_alone(void)
{
    char name[32], value[VALUE];
    const unsigned keys = 100000;
    unsigned failed = 0, put_off = 0;
    fixture_create(32 * MIB, 1);
    write_all(keys);
    int fd = open(fixture_path(), O_RDWR);
    uint8_t *raw = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    CU_ASSERT_FATAL(raw != MAP_FAILED);
    for (unsigned k = 0; k < keys / 2; k += 512) {
        struct key key;
        struct entry entry;
        key_number(&key, name, k);
        batch_begin(core, fixture_now);
        CU_ASSERT_FATAL(entry_read(core, 0, &key, &entry) == 0);
        raw[(const uint8_t *)entry.value - engine->pool->base] ^= 1;
        batch_commit(core);
    }
    munmap(raw, 32 * MIB);
    for (unsigned k = 0; k < keys; k++)
        if (k % 64)
            CU_ASSERT_FATAL(unset(0, key_name(name, "key", k)) == 1);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned k = 1; k < 20000 && !failed; k++) {
            int rc;
            unsigned tries = 0;
            value_make(value, k, round);
            do {
                batch_begin(core, fixture_now);
                rc = put(0, key_name(name, "new", k), value, VALUE, 0);
                batch_commit(core);
                batch_tend(core);
            } while (rc == -EAGAIN && ++tries < 10000);
            put_off = tries > put_off ? tries : put_off;
            failed += rc != 0;
        }
    }
    CU_ASSERT(failed == 0);
    printf("put off %u times at most  ", put_off);
    fixture_destroy();
}

/* ---- a full pool ---- */

static void
test_full_pool(void)
{
    char name[32], value[1001] = {0};
    unsigned keys = 0, wrong = 0;
    int rc = 0;
    memset(value, 'f', 1000);
    fixture_create(32 * MIB, 1);
    while (keys < 40000 && (rc = set(0, key_name(name, "key", keys), value)) == 0)
        keys++;
    CU_ASSERT(rc == -ENOSPC);
    CU_ASSERT(keys > 32 * MIB / 2 / 1050); /* at least half of it is data */
    CU_ASSERT(set(0, "one more", value) == -ENOSPC);
    CU_ASSERT(set(5, "first of another database", value) == -ENOSPC);
    for (unsigned k = 0; k < keys; k++)
        wrong += !holds(0, key_name(name, "key", k), value);
    CU_ASSERT(wrong == 0);
    CU_ASSERT(engine_keys(engine, 0, NULL) == keys);
    for (unsigned k = 0; k < keys; k += 2)
        CU_ASSERT(unset(0, key_name(name, "key", k)) == 1);
    for (unsigned k = 0; k < keys; k += 2)
        CU_ASSERT_FATAL(set(0, key_name(name, "key", k), value) == 0); /* what was deleted fits again */
    for (unsigned k = 0; k < keys; k++)
        wrong += !holds(0, key_name(name, "key", k), value);
    CU_ASSERT(wrong == 0);
    CU_ASSERT(databases_flush(core, 1) == 0);
    settle(100000);
    CU_ASSERT(set(0, "after", "all") == 0);
    fixture_reopen(1);
    CU_ASSERT(holds(0, "after", "all"));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 1);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"overwriting, one thread", test_overwriting_with_one_thread},
    {"overwriting, two threads", test_overwriting_with_two_threads},
    {"overwriting a crowded pool", test_overwriting_a_crowded_pool},
    {"survivors are moved", test_survivors_are_moved},
    {"damaged segments are left alone", test_damaged_segments_are_left_alone},
    {"full pool", test_full_pool},
};
UNIT_MAIN("pmem/compact", tests)
