/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writer threads over shared keys: counters do not lose a step, a key inserted by many is there once, deletes pair
 * with inserts, through growth, compaction, FLUSHDB and SWAPDB of other databases; and all of it is there after a
 * reopen. THREADS_TEST_BATCHES gives another number of batches a thread.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/pmem/engine_fixture.h"

#define THREADS  2u
#define BATCH    32u
#define COUNTERS 64u
#define TOGGLES  256u
#define NAME     24u

struct worker {
    pthread_t thread;
    struct core *core;
    unsigned index;
    uint64_t seed, batches;
    uint64_t sum, own_keys, deferred, failed;
    int64_t balance[TOGGLES]; /* inserts less deletes */
};

static uint64_t
random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

struct toggle {
    bool insert, done;
};

static enum verdict
decide_toggle(const struct entry *old, struct edit *edit, void *arg)
{
    struct toggle *t = arg;
    t->done = t->insert ? !old : old != NULL;
    if (!t->done)
        return ENTRY_KEEP;
    edit->part[0] = (struct slice){.data = "present", .len = 7};
    edit->parts = 1;
    return t->insert ? ENTRY_PUT : ENTRY_DELETE;
}

static enum verdict
decide_filler(const struct entry *old, struct edit *edit, void *arg)
{
    (void)old;
    edit->part[0] = (struct slice){.data = arg, .len = NAME};
    edit->part[1] = (struct slice){.data = NULL, .len = 100};
    edit->parts = 2;
    edit->blind = true;
    return ENTRY_PUT;
}

/* One command; -EAGAIN ends the batch. */
static int
command(struct worker *w)
{
    char name[NAME] = {0};
    struct key key;
    uint64_t r = random_next(&w->seed);
    unsigned pick = r >> 8 & 15;
    int rc;
    if (pick < 6) {
        int64_t result, by = (int64_t)(r >> 32 & 7);
        snprintf(name, sizeof(name), "counter:%u", (unsigned)(r >> 16) % COUNTERS);
        rc = incr(w->core, 0, name, by, &result);
        w->sum += rc == 0 ? (uint64_t)by : 0;
    } else if (pick < 13) {
        unsigned k = (unsigned)(r >> 16) % TOGGLES;
        struct toggle t = {.insert = r >> 40 & 1};
        snprintf(name, sizeof(name), "toggle:%u", k);
        key_init(engine, &key, name, strlen(name));
        rc = entry_edit(w->core, 0, &key, decide_toggle, &t, NULL);
        if (rc == 0 && t.done)
            w->balance[k] += t.insert ? 1 : -1;
    } else if (pick < 15) {
        snprintf(name, sizeof(name), "own:%u:%" PRIu64, w->index, w->own_keys);
        key_init(engine, &key, name, strlen(name));
        rc = entry_edit(w->core, 0, &key, decide_filler, name, NULL);
        w->own_keys += rc == 0;
    } else if ((r >> 20 & 255) == 0) {
        rc = r >> 30 & 1 ? databases_flush(w->core, 6) : databases_swap(w->core, 1, 2);
    } else {
        snprintf(name, sizeof(name), "elsewhere:%u", (unsigned)(r >> 32) % 5000);
        key_init(engine, &key, name, strlen(name));
        rc = entry_edit(w->core, 1, &key, decide_filler, name, NULL);
    }
    return rc;
}

static void *
work(void *arg)
{
    struct worker *w = arg;
    for (uint64_t n = 0; n < w->batches; n++) {
        batch_begin(w->core, fixture_now);
        for (unsigned i = 0; i < BATCH; i++) {
            int rc = command(w);
            w->failed += rc && rc != -EAGAIN;
            w->deferred += rc == -EAGAIN;
            if (rc)
                break;
        }
        batch_commit(w->core);
        batch_tend(w->core);
    }
    do { /* nobody else ends the splits that this core began */
        batch_begin(w->core, fixture_now);
        batch_commit(w->core);
    } while (batch_tend(w->core));
    core_offline(w->core);
    return NULL;
}

static void
check(const struct worker *w)
{
    uint64_t sum = 0, counted = 0, keys = 0;
    unsigned wrong = 0;
    char name[NAME];
    for (unsigned k = 0; k < COUNTERS; k++) {
        int64_t result;
        int rc;
        snprintf(name, sizeof(name), "counter:%u", k);
        do {
            batch_begin(core, fixture_now);
            rc = incr(core, 0, name, 0, &result);
            batch_commit(core);
            batch_tend(core);
        } while (rc == -EAGAIN);
        CU_ASSERT(rc == 0);
        counted += (uint64_t)result;
    }
    for (unsigned k = 0; k < TOGGLES; k++) {
        int64_t balance = 0;
        for (unsigned i = 0; i < THREADS; i++)
            balance += w[i].balance[k];
        CU_ASSERT(balance == 0 || balance == 1);
        snprintf(name, sizeof(name), "toggle:%u", k);
        wrong += !holds(0, name, balance ? "present" : NULL);
        keys += balance != 0;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        sum += w[i].sum;
        keys += w[i].own_keys;
    }
    CU_ASSERT(wrong == 0);
    CU_ASSERT(counted == sum);
    CU_ASSERT(engine_keys(engine, 0, NULL) == keys + COUNTERS);
}

/* Another thread may ask at any time. */
static void *
watch(void *arg)
{
    _Atomic bool *stop = arg;
    struct engine_info info;
    struct core_counts counts;
    while (!*stop) {
        engine_info(engine, &info);
        engine_keys(engine, 0, NULL);
        engine_keys(engine, 1, NULL);
        core_counts(engine_core(engine, 1), &counts);
    }
    return NULL;
}

static void
test_two_writers(void)
{
    static struct worker w[THREADS];
    static _Atomic bool stop;
    const char *text = getenv("THREADS_TEST_BATCHES");
    pthread_t watcher;
    struct engine_info info;
    fixture_create(44 * MIB, THREADS);
    pthread_create(&watcher, NULL, watch, &stop);
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.core = engine_core(engine, i), .index = i, .seed = 0x853c49e6748fea9bull * (i + 1)};
        w[i].batches = text ? strtoull(text, NULL, 10) : 20000;
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        CU_ASSERT(w[i].failed == 0);
    }
    stop = true;
    pthread_join(watcher, NULL);
    engine_info(engine, &info);
    printf("splits %" PRIu64 ", moved %" PRIu64 " bytes, put off %" PRIu64 "  ", info.splits, info.compacted_bytes,
           w[0].deferred + w[1].deferred);
    CU_ASSERT(info.splits > 0);
    check(w);
    CU_ASSERT(settle(1000000) < 1000000);
    check(w);
    fixture_reopen(1);
    check(w);
    engine_info(engine, &info);
    CU_ASSERT(info.crc_errors == 0);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"two writers", test_two_writers},
};
UNIT_MAIN("pmem/threads", tests)
