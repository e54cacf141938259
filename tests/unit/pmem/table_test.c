/* SPDX-License-Identifier: BSD-3-Clause */
/* Where keys belong, keys that look alike, and chains as long as a page has lines. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/table.h"
#include "tests/unit/pmem/engine_fixture.h"

static uint64_t
random_next(void)
{
    static uint64_t seed = 0x2545f4914f6cdd1dull;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* A home falls apart into two neighbours of one child, for every hash and depth. */
static void
test_homes_split_exactly(void)
{
    unsigned wrong = 0;
    for (unsigned n = 0; n < 1000000; n++) {
        uint64_t hash = n & 1 ? random_next() : random_next() << (n / 2 % 40);
        uint32_t depth = n / 7 % 20;
        unsigned parent = home_index(hash, depth), child = home_index(hash, depth + 1);
        unsigned half = (unsigned)(hash << depth >> 63);
        wrong += parent >= PAGE_HOMES || half != parent / (PAGE_HOMES / 2);
        wrong += child / 2 != parent % (PAGE_HOMES / 2);
        wrong += directory_index(hash, depth + 1) != 2 * directory_index(hash, depth) + half;
    }
    CU_ASSERT(wrong == 0);
    CU_ASSERT(home_index(0, 0) == 0);
    CU_ASSERT(home_index(~0ull, 0) == PAGE_HOMES - 1);
    CU_ASSERT(directory_index(~0ull, 0) == 0);
}

/* The 16 tag bits and the home are the same, the keys are not. */
static void
test_keys_that_look_alike(void)
{
    enum { TAGS = 1 << 16 };
    static uint32_t first[TAGS]; /* 1 + number of the first key with that tag, in home 0 */
    char name[32], other[32];
    struct key key;
    unsigned pairs = 0;
    fixture_create(16 * MIB, 1);
    for (unsigned k = 0; pairs < 20; k++) {
        key_name(name, "key", k);
        key_init(engine, &key, name, strlen(name));
        if (home_index(key.hash, 0) != 0)
            continue;
        uint32_t *seen = &first[key.hash & 0xffff];
        if (!*seen) {
            *seen = k + 1;
            continue;
        }
        key_name(other, "key", *seen - 1);
        CU_ASSERT(set(0, other, "one") == 0);
        CU_ASSERT(holds(0, name, NULL));
        CU_ASSERT(unset(0, name) == 0);
        CU_ASSERT(set(0, name, "two") == 0);
        CU_ASSERT(holds(0, other, "one"));
        CU_ASSERT(holds(0, name, "two"));
        CU_ASSERT(unset(0, other) == 1);
        CU_ASSERT(holds(0, other, NULL));
        CU_ASSERT(holds(0, name, "two"));
        CU_ASSERT(unset(0, name) == 1);
        pairs++;
    }
    fixture_destroy();
}

/* Keys that share the home in pages of depth 0, 1 and 2: the worst a split can meet. */
static void
test_longest_chain(void)
{
    enum { MOST = (1 + PAGE_STASHES) * BUCKET_SLOTS + 1 };
    static char name[MOST][32];
    unsigned keys = 0, wrong = 0, stored = 0;
    fixture_create(16 * MIB, 1);
    for (unsigned k = 0; keys < MOST; k++) {
        struct key key;
        key_name(name[keys], "key", k);
        key_init(engine, &key, name[keys], strlen(name[keys]));
        keys += key.hash >> 32 < (1ull << 32) / PAGE_HOMES / 4;
    }
    batch_begin(core, fixture_now); /* no batch_tend: no split gets under way */
    while (stored < MOST && put(0, name[stored], "v", 1, 0) == 0)
        stored++;
    CU_ASSERT(stored == MOST - 1);
    bool deleted;
    CU_ASSERT(del(0, name[100], &deleted) == 0 && deleted);
    CU_ASSERT(put(0, name[MOST - 1], "v", 1, 0) == 0); /* into the gap, at once */
    CU_ASSERT(put(0, name[100], "v", 1, 0) == -EAGAIN);
    batch_commit(core);
    for (unsigned i = 0; i < MOST; i++)
        wrong += !holds(0, name[i], i == 100 ? NULL : "v"); /* each a batch: the splits go on meanwhile */
    CU_ASSERT(wrong == 0);
    CU_ASSERT(set(0, name[100], "v") == 0);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < MOST; i++)
            wrong += !holds(0, name[i], "v");
        CU_ASSERT(wrong == 0);
        CU_ASSERT(engine_keys(engine, 0, NULL) == MOST);
        fixture_reopen(1);
    }
    fixture_destroy();
}

/* Deletes leave room that inserts take again: the table of 500 keys stays small, whatever came and went. */
static void
test_slots_are_used_again(void)
{
    char name[32];
    struct engine_info info;
    fixture_create(16 * MIB, 1);
    for (unsigned k = 0; k < 50000; k++) {
        CU_ASSERT_FATAL(set(0, key_name(name, "key", k), "v") == 0);
        if (k >= 500)
            CU_ASSERT_FATAL(unset(0, key_name(name, "key", k - 500)) == 1);
    }
    engine_info(engine, &info);
    CU_ASSERT(info.splits <= 3);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"homes split exactly", test_homes_split_exactly},
    {"keys that look alike", test_keys_that_look_alike},
    {"longest chain", test_longest_chain},
    {"slots are used again", test_slots_are_used_again},
};
UNIT_MAIN("pmem/table", tests)
