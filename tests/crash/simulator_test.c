/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator itself: what its memory forgets in a power cut, and what its oracle accepts. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "pmem/word.h"
#include "tests/crash/history.h"
#include "tests/crash/image.h"

#define SIZE (4ull * SEGMENT_SIZE)
#define AT   (2ull * SEGMENT_SIZE)

/* ---- memory ---- */

static struct memory *memory;
static const uint64_t *words; /* at AT */

static void
fresh_memory(void)
{
    static uint8_t zeros[SIZE];
    if (!memory)
        memory = memory_new(SIZE);
    memory_fill(memory, zeros, true);
    persist_listener = (struct persist_listener){.memory = memory};
    words = (const void *)(memory->view + AT);
}

/* Which values of words[0] and words[8] (the next line) the images have: bit 4 * a + b for values a, b below 4. */
static unsigned met;

static void
meet(const struct memory *m, const struct patch *patch, uint64_t hash, void *arg)
{
    static uint8_t image[SIZE];
    (void)hash;
    (void)arg;
    patch_apply(m, patch, image);
    const uint64_t *w = (const void *)(image + AT);
    met |= 1u << (4 * (w[0] & 3) + (w[8] & 3));
}

static unsigned
images(void)
{
    static const struct image_plan plan = {.exhaustive = 4096, .seeded = 64, .limit = 4096};
    struct random random = {1};
    met = 0;
    images_make(memory, &plan, &random, meet, NULL);
    return met;
}

#define PAIR(a, b) (1u << (4 * (a) + (b)))

static void
unflushed_stores_may_be_lost(void)
{
    fresh_memory();
    CU_ASSERT_EQUAL(images(), PAIR(0, 0));
    persist_store(&words[0], 1);
    persist_store(&words[0], 2);
    CU_ASSERT_EQUAL(words[0], 2);
    CU_ASSERT_EQUAL(images(), PAIR(0, 0) | PAIR(1, 0) | PAIR(2, 0));
    persist_store(&words[8], 1);
    CU_ASSERT_EQUAL(images(),
                    PAIR(0, 0) | PAIR(1, 0) | PAIR(2, 0) | PAIR(0, 1) | PAIR(1, 1) | PAIR(2, 1)); /* no order */
}

static void
fence_settles_what_its_core_flushed(void)
{
    fresh_memory();
    persist_store(&words[0], 1);
    persist_flush(&words[0], 8, SITE_FLUSH_DEPS);
    persist_store(&words[0], 2); /* after the flush */
    CU_ASSERT_EQUAL(images(), PAIR(0, 0) | PAIR(1, 0) | PAIR(2, 0));
    persist_listener.core = 1;
    persist_fence(SITE_FENCE_COMMIT); /* another core's */
    CU_ASSERT_EQUAL(images(), PAIR(0, 0) | PAIR(1, 0) | PAIR(2, 0));
    persist_listener.core = 0;
    persist_fence(SITE_FENCE_COMMIT);
    CU_ASSERT_EQUAL(images(), PAIR(1, 0) | PAIR(2, 0));
}

static void
cas_settles_too(void)
{
    for (uint64_t expected = 0; expected < 2; expected++) { /* successful or not */
        fresh_memory();
        persist_store(&words[0], 1);
        persist_flush(&words[0], 8, SITE_FLUSH_DEPS);
        CU_ASSERT_EQUAL(persist_cas(&words[8], expected, 3), expected == 0);
        CU_ASSERT_EQUAL(images(), expected == 0 ? PAIR(1, 0) | PAIR(1, 3) : PAIR(1, 0));
    }
}

static void
removed_site_does_nothing(void)
{
    fresh_memory();
    persist_removed = SITE_FLUSH_DEPS;
    persist_store(&words[0], 1);
    persist_flush(&words[0], 8, SITE_FLUSH_DEPS);
    persist_fence(SITE_FENCE_COMMIT);
    CU_ASSERT_EQUAL(images(), PAIR(0, 0) | PAIR(1, 0));
    persist_removed = SITE_FENCE_COMMIT;
    persist_flush(&words[0], 8, SITE_FLUSH_DEPS);
    persist_fence(SITE_FENCE_COMMIT);
    CU_ASSERT_EQUAL(images(), PAIR(0, 0) | PAIR(1, 0));
    persist_removed = SITES;
    persist_fence(SITE_FENCE_COMMIT);
    CU_ASSERT_EQUAL(images(), PAIR(1, 0));
}

static unsigned torn;

static void
meet_torn(const struct memory *m, const struct patch *patch, uint64_t hash, void *arg)
{
    static uint8_t image[SIZE];
    (void)hash;
    (void)arg;
    patch_apply(m, patch, image);
    const uint64_t *w = (const void *)(image + AT);
    unsigned there = 0;
    for (unsigned i = 0; i < 8; i++)
        there += w[i] != 0;
    torn += there > 0 && there < 8;
}

static void
bulk_copy_may_be_torn(void)
{
    static const struct image_plan plan = {.exhaustive = 4, .seeded = 8, .limit = 64};
    uint64_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct random random = {1};
    fresh_memory();
    persist_copy(words, ones, sizeof(ones));
    torn = 0;
    for (unsigned i = 0; i < 8; i++)
        images_make(memory, &plan, &random, meet_torn, NULL);
    CU_ASSERT(torn > 0);
    persist_flush(words, sizeof(ones), SITE_FLUSH_RECORD);
    persist_fence(SITE_FENCE_COMMIT);
    torn = 0;
    images_make(memory, &plan, &random, meet_torn, NULL);
    CU_ASSERT_EQUAL(torn, 0);
}

static void
opened_segment_is_poisoned(void)
{
    fresh_memory();
    persist_store(&words[0], 1);
    const uint64_t *word = (const void *)(memory->view + SEGMENTS_OFFSET + AT / SEGMENT_SIZE * sizeof(uint64_t));
    persist_store(word, word_seal(SEGMENT_RECORDS));
    CU_ASSERT_NOT_EQUAL(words[0], 1);
    CU_ASSERT_NOT_EQUAL(words[0], 0);
    CU_ASSERT(memory_shadow_agrees(memory));
    memory->live[AT + 77] ^= 1; /* a store that is no persist call */
    CU_ASSERT(!memory_shadow_agrees(memory));
}

/* ---- oracle ---- */

static struct history history;

static void
fresh_history(int64_t number)
{
    struct state initial;
    memset(&initial, 0, sizeof(initial));
    initial.cell[0].number[0] = number;
    history_start(&history, &initial);
}

static struct operation *
begin(enum command command, int64_t number)
{
    struct operation *op = &history.operation[history.used++];
    *op = (struct operation){.command = command, .number = number};
    history_begin(&history, op);
    return op;
}

static void
end(struct operation *op, int64_t result, bool acknowledged)
{
    op->result = result;
    history_end(&history, op);
    if (acknowledged)
        history_acknowledge(&history, op);
}

static bool
explains(int64_t number)
{
    struct state state;
    unsigned name;
    memset(&state, 0, sizeof(state));
    state.cell[0].number[0] = number;
    return history_explains(&history, &state, &name);
}

static void
acknowledged_writes_stay(void)
{
    fresh_history(5);
    CU_ASSERT(explains(5) && !explains(0) && !explains(6));
    struct operation *set = begin(SET, 7);
    CU_ASSERT(explains(5) && explains(7));
    end(set, 1, false);
    CU_ASSERT(explains(5) && explains(7));
    history_acknowledge(&history, set);
    CU_ASSERT(!explains(5) && explains(7));
}

static void
replies_must_fit(void)
{
    fresh_history(5);
    end(begin(SET, 7), 1, false); /* no reply ... */
    end(begin(GET, 0), 7, true);  /* ... but somebody was told */
    CU_ASSERT(!explains(5) && explains(7));
    end(begin(DEL, 0), 0, true); /* it said that there was nothing to delete */
    CU_ASSERT(!explains(5) && !explains(7) && !explains(0));
}

static void
order_in_time_holds(void)
{
    fresh_history(0);
    struct operation *one = begin(SET, 1), *two = begin(SET, 2); /* at the same time */
    end(one, 1, true);
    end(two, 1, true);
    CU_ASSERT(explains(1) && explains(2) && !explains(0));
    end(begin(SET, 3), 1, true); /* after both */
    CU_ASSERT(!explains(1) && !explains(2) && explains(3));
}

static void
unacknowledged_ones_may_be_any_subset(void)
{
    fresh_history(0);
    end(begin(INCR, 0), 1, false);
    end(begin(INCR, 0), 2, false);
    CU_ASSERT(explains(0) && explains(1) && explains(2) && !explains(3));
    history_kill(&history);
    CU_ASSERT(explains(0) && explains(1) && explains(2) && !explains(3));
    end(begin(INCR, 0), 2, true);
    CU_ASSERT(!explains(0) && !explains(1) && explains(2) && !explains(3));
}

static void
long_histories_are_settled(void)
{
    fresh_history(0);
    for (int64_t i = 1; i < (int64_t)OPERATIONS; i++) {
        end(begin(INCR, 0), i, true);
        CU_ASSERT(explains(i) && !explains(i - 1) && !explains(i + 1));
    }
}

static void
flush_and_swap_take_all_keys(void)
{
    struct state state;
    unsigned name;
    memset(&state, 0, sizeof(state));
    state.cell[0].number[0] = 1;
    state.cell[1].number[0] = 2;
    history_start(&history, &state);
    end(begin(FLUSH, 1), 1, false);
    CU_ASSERT(history_explains(&history, &state, &name));
    state.cell[0].number[0] = 0; /* half a FLUSH */
    CU_ASSERT(!history_explains(&history, &state, &name));
    state.cell[1].number[0] = 0;
    CU_ASSERT(history_explains(&history, &state, &name));
}

static void
expired_keys_go_when_a_clock_is_late(void)
{
    fresh_history(5 | EXPIRES);
    CU_ASSERT(!explains(0));
    struct operation *get = begin(GET, 0);
    get->late = true;
    history.late_seen = true;
    CU_ASSERT(explains(0) && explains(5 | EXPIRES));
    end(get, 0, true); /* it said so: an earlier clock after the crash must not bring it back */
    CU_ASSERT(explains(0) && !explains(5 | EXPIRES));
}

static const struct unit_test tests[] = {
    {"stores that are not flushed may be lost", unflushed_stores_may_be_lost},
    {"a fence settles what its core flushed", fence_settles_what_its_core_flushed},
    {"a compare-and-swap settles too", cas_settles_too},
    {"a removed site does nothing", removed_site_does_nothing},
    {"a bulk copy may be torn", bulk_copy_may_be_torn},
    {"an opened segment is poisoned", opened_segment_is_poisoned},
    {"acknowledged writes stay", acknowledged_writes_stay},
    {"replies must fit", replies_must_fit},
    {"order in time holds", order_in_time_holds},
    {"unacknowledged ones may be any subset", unacknowledged_ones_may_be_any_subset},
    {"long histories are settled", long_histories_are_settled},
    {"FLUSH and SWAP take all keys", flush_and_swap_take_all_keys},
    {"expired keys go when a clock is late", expired_keys_go_when_a_clock_is_late},
};

UNIT_MAIN("crash simulator", tests)
