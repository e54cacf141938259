/* SPDX-License-Identifier: BSD-3-Clause */
/* Words keep what they are given, and a flipped bit always shows. */
#include "tests/unit/unit.h"

#include "pmem/word.h"

#define OFFSET_MAX (WORD_OFFSET_MASK * UNIT_SIZE)

static uint64_t
next_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15ull;
    uint64_t x = *seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 29;
}

static bool
every_flip_shows(uint64_t word)
{
    for (unsigned bit = 0; bit < 64; bit++)
        if (word_good(word ^ 1ull << bit))
            return false;
    return true;
}

static void
present_keeps_offset_and_tag(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        uint64_t hash = next_random(&seed), offset = next_random(&seed) % (OFFSET_MAX + 1) / UNIT_SIZE * UNIT_SIZE;
        uint64_t word = word_present(offset, hash);
        CU_ASSERT((word & WORD_PRESENT) != 0);
        CU_ASSERT(!(word & (WORD_HELD | WORD_TENT)));
        CU_ASSERT(word_good(word));
        CU_ASSERT_EQUAL(word_offset(word), offset);
        CU_ASSERT(word_tag_is(word, hash));
        CU_ASSERT(!word_tag_is(word, hash ^ 1));
    }
    CU_ASSERT_EQUAL(word_offset(word_present(OFFSET_MAX, 0)), OFFSET_MAX);
}

static void
empty_keeps_stamp(void)
{
    uint64_t seed = 2;
    for (int i = 0; i < 10000; i++) {
        uint64_t stamp = next_random(&seed) & ((1ull << STAMP_BITS) - 1);
        uint64_t word = word_empty(stamp);
        CU_ASSERT(!(word & WORD_PRESENT));
        CU_ASSERT(word_good(word));
        CU_ASSERT_EQUAL(word_stamp(word), stamp);
    }
    CU_ASSERT_EQUAL(word_empty(0), 0);
    CU_ASSERT_EQUAL(word_stamp(0), 0);
}

static void
flags_come_and_go(void)
{
    uint64_t word = word_present(123 * UNIT_SIZE, 0xbeef), held = word_with(word, WORD_HELD);
    CU_ASSERT((held & WORD_HELD) != 0);
    CU_ASSERT(word_good(held));
    CU_ASSERT_EQUAL(word_offset(held), word_offset(word));
    CU_ASSERT_EQUAL(word_without(held, WORD_HELD), word);
}

static void
single_flips_show(void)
{
    uint64_t seed = 3;
    CU_ASSERT(every_flip_shows(0));
    for (int i = 0; i < 1000; i++) {
        uint64_t x = next_random(&seed);
        CU_ASSERT(every_flip_shows(word_present(x % OFFSET_MAX, x >> 7)));
        CU_ASSERT(every_flip_shows(word_empty(x >> 8)));
        CU_ASSERT(every_flip_shows(word_seal(WORD_MOVED | (x & WORD_LINK_MASK))));
    }
}

static const struct unit_test tests[] = {
    {"a present word keeps offset and tag", present_keeps_offset_and_tag},
    {"an empty word keeps its stamp", empty_keeps_stamp},
    {"flags come and go", flags_come_and_go},
    {"every single flipped bit shows", single_flips_show},
};

UNIT_MAIN("word", tests)
