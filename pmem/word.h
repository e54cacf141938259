/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words: the aligned 8-byte cells that are changed in place, by CAS, each with check bits.
 *
 *     63      62    61    60..45  44..40  39..0
 *     PRESENT HELD  TENT  tag     check   offset / 16          a key's record
 *     0       HELD  0     \ stamp's high 16 bits / check / low 40 bits      EMPTY, with the deleter's stamp
 *     control: 0 MOVED 0 | ... | check | line of the next bucket
 *
 * The check is such that XOR of all twelve 5-bit groups and the last 4 bits of a good word is 0: every flipped bit
 * lies in one group and shows. The all-zero word is a good EMPTY with stamp 0, so zeroed pages are empty buckets.
 */
#ifndef PMEM_WORD_H
#define PMEM_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "pmem/layout.h"

#define WORD_PRESENT (1ull << 63)
#define WORD_HELD    (1ull << 62)
#define WORD_TENT    (1ull << 61)
#define WORD_MOVED   WORD_HELD /* in control words */

#define WORD_OFFSET_BITS 40u
#define WORD_OFFSET_MASK ((1ull << WORD_OFFSET_BITS) - 1)
#define WORD_CHECK_SHIFT 40u
#define WORD_CHECK_MASK  (31ull << WORD_CHECK_SHIFT)
#define WORD_TAG_SHIFT   45u
#define WORD_TAG_MASK    (0xffffull << WORD_TAG_SHIFT)
#define WORD_LINK_MASK   0xffffull

static inline uint64_t
word_fold(uint64_t w)
{
    w ^= w >> 30;
    w ^= w >> 60; /* the last four bits */
    w = (w & 0x3fffffffull);
    w ^= w >> 15;
    return (w ^ w >> 5 ^ w >> 10) & 31;
}

static inline bool
word_good(uint64_t w)
{
    return word_fold(w) == 0;
}

static inline uint64_t
word_seal(uint64_t w)
{
    w &= ~WORD_CHECK_MASK;
    return w | word_fold(w) << WORD_CHECK_SHIFT;
}

static inline uint64_t
word_present(uint64_t offset, uint64_t hash)
{
    return word_seal(WORD_PRESENT | (hash & 0xffff) << WORD_TAG_SHIFT | offset / UNIT_SIZE);
}

static inline uint64_t
word_empty(uint64_t stamp)
{
    return word_seal((stamp & WORD_OFFSET_MASK) | (stamp >> WORD_OFFSET_BITS) << WORD_TAG_SHIFT);
}

static inline uint64_t
word_with(uint64_t w, uint64_t flags)
{
    return word_seal(w | flags);
}

static inline uint64_t
word_without(uint64_t w, uint64_t flags)
{
    return word_seal(w & ~flags);
}

static inline uint64_t
word_offset(uint64_t w)
{
    return (w & WORD_OFFSET_MASK) * UNIT_SIZE;
}

static inline uint64_t
word_stamp(uint64_t empty)
{
    return (empty & WORD_OFFSET_MASK) | ((empty & WORD_TAG_MASK) >> WORD_TAG_SHIFT) << WORD_OFFSET_BITS;
}

static inline bool
word_tag_is(uint64_t w, uint64_t hash)
{
    return (w & (WORD_PRESENT | WORD_TAG_MASK)) == (WORD_PRESENT | (hash & 0xffff) << WORD_TAG_SHIFT);
}

static inline uint64_t
word_load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

#endif
