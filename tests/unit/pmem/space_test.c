/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments and pages: handed out once, given back after a grace period, counted right, with several threads too. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pmem/persist.h"
#include "pmem/space.h"
#include "pmem/superblock.h"
#include "pmem/word.h"

#define SEGMENTS 24u
#define CORES    2u
#define PAGES    (SEGMENT_SIZE / PAGE_SIZE_TABLE)
#define BIG      (SEGMENT_SIZE / 4)

static struct pool pool;
static struct grace grace;
static struct space *space;

static void
map_pool(void)
{
    static const uint8_t id[16] = {7};
    char error[256];
    memset(&pool, 0, sizeof(pool));
    pool.size = (uint64_t)SEGMENTS * SEGMENT_SIZE;
    void *base = mmap(NULL, pool.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    superblock_format(base, pool.size, id, id, 1);
    pool.base = base;
    if (superblock_open(&pool, error, sizeof(error)) != 0)
        abort();
}

/* All cores online, so that a grace period needs a report of each. */
static void
open_space(void)
{
    if (grace_init(&grace, CORES) != 0 || !(space = space_open(&pool, &grace, CORES)))
        abort();
    for (unsigned core = 0; core < CORES; core++)
        grace_online(&grace, core);
}

static void
set_up(void)
{
    map_pool();
    open_space();
    space_recovered(space);
}

static void
close_space(void)
{
    space_free(space);
    grace_free(&grace);
}

static void
tear_down(void)
{
    close_space();
    munmap((void *)(uintptr_t)pool.base, pool.size);
}

static void
all_quiescent(void)
{
    for (unsigned core = 0; core < CORES; core++)
        grace_quiescent(&grace, core);
}

static struct space_usage
usage(void)
{
    struct space_usage now;
    space_usage(space, &now);
    return now;
}

static enum segment_kind
kind_of(uint64_t offset)
{
    uint64_t word = pool.segment_words[offset / SEGMENT_SIZE];
    CU_ASSERT(word_good(word));
    return (enum segment_kind)(word & 0xff);
}

/* Append BIG records until the pool is full; how many. */
static unsigned
fill(uint64_t *offsets, enum space_stream stream, bool urgent)
{
    unsigned count = 0;
    while ((offsets[count] = space_append(space, 0, stream, BIG, urgent)))
        count++;
    return count;
}

static void
new_pool_is_free(void)
{
    set_up();
    CU_ASSERT_EQUAL(usage().segments, SEGMENTS);
    CU_ASSERT_EQUAL(usage().segments_free, SEGMENTS - 1);
    CU_ASSERT_EQUAL(usage().live_bytes, 0);
    CU_ASSERT_EQUAL(space_pressure(space), 0);
    CU_ASSERT(!space_hopeful(space));
    CU_ASSERT(!space_tend(space, 0));
    tear_down();
}

static void
appends_are_contiguous(void)
{
    set_up();
    uint64_t first = space_append(space, 0, SPACE_HOT, 100, false);
    CU_ASSERT(first >= SEGMENT_SIZE); /* not a system segment */
    CU_ASSERT_EQUAL(kind_of(first), SEGMENT_RECORDS);
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, 16, false), first + 112);
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, 1, false), first + 128);
    uint64_t other = space_append(space, 1, SPACE_HOT, 16, false), cold = space_append(space, 0, SPACE_COLD, 16, false);
    CU_ASSERT_NOT_EQUAL(other / SEGMENT_SIZE, first / SEGMENT_SIZE);
    CU_ASSERT_NOT_EQUAL(cold / SEGMENT_SIZE, first / SEGMENT_SIZE);
    CU_ASSERT_NOT_EQUAL(cold / SEGMENT_SIZE, other / SEGMENT_SIZE);
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, SEGMENT_SIZE + 1, false), 0);
    uint64_t whole = space_append(space, 0, SPACE_HOT, SEGMENT_SIZE, false);
    CU_ASSERT_EQUAL(whole % SEGMENT_SIZE, 0);
    CU_ASSERT(whole != 0);
    CU_ASSERT_EQUAL(usage().live_bytes, 112 + 16 + 16 + 16 + 16 + SEGMENT_SIZE);
    tear_down();
}

static void
full_pool_keeps_a_reserve(void)
{
    uint64_t offsets[SEGMENTS * 4];
    set_up();
    unsigned count = fill(offsets, SPACE_HOT, false);
    CU_ASSERT(count >= (SEGMENTS - 8) * 4);
    CU_ASSERT_EQUAL(space_pressure(space), 2);
    CU_ASSERT(!space_hopeful(space)); /* all of it is live: say that the pool is full */
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, BIG, false), 0);
    CU_ASSERT_EQUAL(space_claim_victim(space, 0, true), -1);
    CU_ASSERT(space_append(space, 0, SPACE_HOT, BIG, true) != 0);
    CU_ASSERT(fill(offsets, SPACE_COLD, false) >= 4);
    CU_ASSERT_EQUAL(usage().segments_free, 0);
    CU_ASSERT_EQUAL(space_pages_alloc(space, 1, true), 0);
    tear_down();
}

static void
empty_segment_returns_after_grace(void)
{
    uint64_t offsets[SEGMENTS * 4];
    set_up();
    unsigned count = fill(offsets, SPACE_HOT, false);
    for (unsigned i = 0; i < 4; i++)
        space_dead(space, offsets[i], BIG);
    CU_ASSERT(space_hopeful(space));
    CU_ASSERT(space_tend(space, 0));
    CU_ASSERT_EQUAL(usage().segments_waiting, 1);
    grace_quiescent(&grace, 0);
    CU_ASSERT(space_tend(space, 0)); /* core 1 has not reported */
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, BIG, false), 0);
    CU_ASSERT_EQUAL(kind_of(offsets[0]), SEGMENT_RECORDS);
    grace_quiescent(&grace, 1);
    CU_ASSERT(!space_tend(space, 1));
    CU_ASSERT_EQUAL(kind_of(offsets[0]), SEGMENT_FREE);
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, BIG, false), offsets[0]);
    CU_ASSERT_EQUAL(kind_of(offsets[0]), SEGMENT_RECORDS);
    CU_ASSERT_EQUAL(usage().live_bytes, (uint64_t)(count - 3) * BIG);
    tear_down();
}

static void
open_segment_is_not_retired(void)
{
    set_up();
    uint64_t offset = space_append(space, 0, SPACE_HOT, BIG, false);
    space_dead(space, offset, BIG);
    CU_ASSERT(!space_tend(space, 0));
    CU_ASSERT_EQUAL(space_append(space, 0, SPACE_HOT, BIG, false), offset + BIG);
    space_dead(space, offset + BIG, BIG);
    CU_ASSERT(space_append(space, 0, SPACE_HOT, SEGMENT_SIZE, false) != 0); /* does not fit: closes the other */
    CU_ASSERT(space_tend(space, 0));
    all_quiescent();
    CU_ASSERT(!space_tend(space, 0));
    CU_ASSERT_EQUAL(kind_of(offset), SEGMENT_FREE);
    tear_down();
}

static void
victim_is_the_emptiest_and_waits(void)
{
    uint64_t offsets[SEGMENTS * 4];
    set_up();
    fill(offsets, SPACE_HOT, false);
    space_dead(space, offsets[4], BIG); /* one quarter of the second, two of the third segment */
    space_dead(space, offsets[8], BIG);
    space_dead(space, offsets[9], BIG);
    CU_ASSERT_EQUAL(space_claim_victim(space, 0, false), -1); /* not closed for a grace period yet */
    all_quiescent();
    int64_t first = space_claim_victim(space, 0, false);
    CU_ASSERT_EQUAL(first, (int64_t)(offsets[8] / SEGMENT_SIZE));
    int64_t second = space_claim_victim(space, 1, true);
    CU_ASSERT_EQUAL(second, (int64_t)(offsets[4] / SEGMENT_SIZE));
    CU_ASSERT_EQUAL(space_claim_victim(space, 1, true), -1);

    /* Emptied while it is read: given back only after its release. */
    space_dead(space, offsets[10], BIG);
    space_dead(space, offsets[11], BIG);
    CU_ASSERT(!space_tend(space, 0));
    space_release(space, first, false);
    CU_ASSERT(space_tend(space, 0));
    all_quiescent();
    CU_ASSERT(!space_tend(space, 0));
    CU_ASSERT_EQUAL(kind_of(offsets[8]), SEGMENT_FREE);

    /* Released with something left in it: can be claimed again. */
    space_release(space, second, false);
    CU_ASSERT_EQUAL(space_claim_victim(space, 0, true), second);
    tear_down();
}

static void
pages_do_not_overlap(void)
{
    static const unsigned counts[] = {1, 2, 1, 64, 4, 128, 1, 32, 16, 127, 65, 8, 1};
    uint8_t used[SEGMENTS * PAGES] = {0};
    uint64_t offsets[sizeof(counts) / sizeof(counts[0])];
    unsigned overlaps = 0;
    set_up();
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        offsets[i] = space_pages_alloc(space, counts[i], false);
        CU_ASSERT(offsets[i] != 0 && offsets[i] % PAGE_SIZE_TABLE == 0);
        CU_ASSERT_EQUAL(kind_of(offsets[i]), SEGMENT_TABLE);
        CU_ASSERT(offsets[i] % SEGMENT_SIZE + counts[i] * PAGE_SIZE_TABLE <= SEGMENT_SIZE);
        for (unsigned page = 0; page < counts[i]; page++)
            overlaps += used[offsets[i] / PAGE_SIZE_TABLE + page]++;
    }
    CU_ASSERT_EQUAL(overlaps, 0);
    CU_ASSERT_EQUAL(space_pages_alloc(space, PAGES + 1, false), 0);
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        space_pages_free(space, offsets[i], counts[i]);
    space_tend(space, 0);
    all_quiescent();
    space_tend(space, 0);
    CU_ASSERT_EQUAL(usage().segments_free, SEGMENTS - 1);
    CU_ASSERT_EQUAL(usage().pages, 0);
    for (unsigned i = 1; i < SEGMENTS; i++)
        CU_ASSERT_EQUAL(pool.segment_words[i], 0);
    tear_down();
}

static void
freed_page_is_handed_out_again(void)
{
    uint64_t offsets[PAGES];
    set_up();
    for (unsigned i = 0; i < PAGES; i++)
        offsets[i] = space_pages_alloc(space, 1, false);
    CU_ASSERT_EQUAL(usage().segments_table, 1);
    CU_ASSERT_EQUAL(usage().pages_used, PAGES);
    space_pages_free(space, offsets[100], 1);
    CU_ASSERT_EQUAL(space_pages_alloc(space, 1, false), offsets[100]);
    CU_ASSERT_EQUAL(space_pages_alloc(space, 1, false) / SEGMENT_SIZE, offsets[0] / SEGMENT_SIZE + 1);
    tear_down();
}

/* A second boot that reaches some of what the first one used. */
static void
recovery_keeps_what_is_reached(void)
{
    set_up();
    uint64_t kept = space_append(space, 0, SPACE_HOT, 160, false), lost = space_append(space, 1, SPACE_HOT, 16, false);
    uint64_t page = space_pages_alloc(space, 2, false), unreached = space_pages_alloc(space, PAGES, false);
    close_space();
    open_space();
    space_adopt(space, kept, 160);
    space_adopt_pages(space, page, 2);
    space_recovered(space);
    CU_ASSERT_EQUAL(kind_of(kept), SEGMENT_RECORDS);
    CU_ASSERT_EQUAL(kind_of(page), SEGMENT_TABLE);
    CU_ASSERT_EQUAL(kind_of(lost), SEGMENT_FREE);
    CU_ASSERT_EQUAL(kind_of(unreached), SEGMENT_FREE);
    CU_ASSERT_EQUAL(usage().live_bytes, 160);
    CU_ASSERT_EQUAL(usage().pages_used, 2);
    CU_ASSERT_EQUAL(usage().segments_free, SEGMENTS - 3);
    CU_ASSERT_EQUAL(space_pages_alloc(space, 1, false), page + 2 * PAGE_SIZE_TABLE);

    /* What was filled how far is unknown, so the rest of it can be won back. */
    CU_ASSERT_EQUAL(space_claim_victim(space, 0, true), (int64_t)(kept / SEGMENT_SIZE));
    space_release(space, (int64_t)(kept / SEGMENT_SIZE), false);
    space_dead(space, kept, 160);
    CU_ASSERT(space_tend(space, 0));
    tear_down();
}

static void
words_that_disagree_are_set_right(void)
{
    map_pool();
    open_space();
    persist_store(&pool.segment_words[3], 0x1234); /* a bad check */
    persist_store(&pool.segment_words[4], word_seal(SEGMENT_TABLE));
    space_adopt(space, 5ull * SEGMENT_SIZE, 64);
    space_recovered(space);
    CU_ASSERT_EQUAL(pool.segment_words[3], 0);
    CU_ASSERT_EQUAL(pool.segment_words[4], 0);
    CU_ASSERT_EQUAL(kind_of(5ull * SEGMENT_SIZE), SEGMENT_RECORDS);
    tear_down();
}

/* ---- several threads ---- */

#define ROUNDS 60000u
#define KEPT   64u
#define SIZES  7000u

struct worker {
    pthread_t thread;
    unsigned core;
    uint64_t offset[KEPT], bad;
    uint32_t size[KEPT];
};

static uint32_t
next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Replace records at random; each carries its owner's mark, which must still be there when it goes. */
static void *
work(void *arg)
{
    struct worker *worker = arg;
    uint32_t seed = 12345 + worker->core;
    for (unsigned i = 0; i < ROUNDS;) {
        unsigned slot = next_random(&seed) % KEPT;
        uint32_t size = 16 + next_random(&seed) % SIZES;
        uint64_t offset = space_append(space, worker->core, SPACE_HOT, size, false);
        if (offset) {
            persist_store((const uint64_t *)pool_at(&pool, offset), offset ^ worker->core);
            if (worker->offset[slot]) {
                worker->bad +=
                    *(const uint64_t *)pool_at(&pool, worker->offset[slot]) != (worker->offset[slot] ^ worker->core);
                space_dead(space, worker->offset[slot], worker->size[slot]);
            }
            worker->offset[slot] = offset;
            worker->size[slot] = size;
            i++;
        } else {
            sched_yield(); /* the other thread has not reported yet */
        }
        space_tend(space, worker->core);
        grace_quiescent(&grace, worker->core);
    }
    grace_offline(&grace, worker->core);
    return NULL;
}

static void
threads_share_the_pool(void)
{
    struct worker worker[CORES] = {{0}};
    set_up();
    for (unsigned i = 0; i < CORES; i++) {
        worker[i].core = i;
        pthread_create(&worker[i].thread, NULL, work, &worker[i]);
    }
    uint64_t live = 0;
    for (unsigned i = 0; i < CORES; i++) {
        pthread_join(worker[i].thread, NULL);
        CU_ASSERT_EQUAL(worker[i].bad, 0);
        for (unsigned slot = 0; slot < KEPT; slot++)
            if (worker[i].offset[slot])
                live += (worker[i].size[slot] + 15) / 16 * 16;
    }
    static_assert(CORES * (uint64_t)ROUNDS * (SIZES / 2) > 4ull * SEGMENTS * SEGMENT_SIZE, "segments are used again");
    CU_ASSERT_EQUAL(usage().live_bytes, live);
    for (unsigned i = 0; i < CORES; i++)
        for (unsigned slot = 0; slot < KEPT; slot++)
            if (worker[i].offset[slot])
                space_dead(space, worker[i].offset[slot], worker[i].size[slot]);
    while (space_tend(space, 0))
        ;
    CU_ASSERT_EQUAL(usage().live_bytes, 0);
    CU_ASSERT(usage().segments_free >= SEGMENTS - 1 - CORES); /* each still has one open */
    tear_down();
}

static const struct unit_test tests[] = {
    {"a new pool is free", new_pool_is_free},
    {"appends are contiguous, each core's its own", appends_are_contiguous},
    {"a full pool keeps a reserve", full_pool_keeps_a_reserve},
    {"an empty segment returns after a grace period", empty_segment_returns_after_grace},
    {"an open segment is not retired", open_segment_is_not_retired},
    {"the victim is the emptiest, and waits", victim_is_the_emptiest_and_waits},
    {"pages do not overlap", pages_do_not_overlap},
    {"a freed page is handed out again", freed_page_is_handed_out_again},
    {"recovery keeps what is reached", recovery_keeps_what_is_reached},
    {"words that disagree are set right", words_that_disagree_are_set_right},
    {"threads share the pool", threads_share_the_pool},
};

UNIT_MAIN("space", tests)
