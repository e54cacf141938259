/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeded random numbers (splitmix64): the same seed always gives the same run. */
#ifndef TESTS_CRASH_RANDOM_H
#define TESTS_CRASH_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t
mix64(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline uint64_t
random_next(struct random *random)
{
    return mix64(random->state += 0x9e3779b97f4a7c15ull);
}

/* 0 .. limit - 1 */
static inline unsigned
random_below(struct random *random, unsigned limit)
{
    return (unsigned)(random_next(random) % limit);
}

/* True in per_mille of 1000 cases. */
static inline bool
random_chance(struct random *random, unsigned per_mille)
{
    return random_below(random, 1000) < per_mille;
}

#endif
