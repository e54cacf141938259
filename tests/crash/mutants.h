/* SPDX-License-Identifier: BSD-3-Clause */
/* Test the test: take each flush, each fence and some rules away in turn, and see that the simulator finds out. */
#ifndef TESTS_CRASH_MUTANTS_H
#define TESTS_CRASH_MUTANTS_H

#include <stdbool.h>
#include <stdint.h>

struct mutants {
    uint64_t seed;
    unsigned seconds;      /* for one mutant, at most */
    unsigned jobs;         /* at a time */
    const char *only;      /* this one; NULL = all */
    const char *redundant; /* file: sites that nothing needs, with the reason */
};

/* Runs seeds from `seed` on until one is violated or the time is up: true, and the seed. Given by main. */
typedef bool (*mutant_run_fn)(uint64_t seed, unsigned seconds, uint64_t *violated_seed);

/* True if each was caught, or is in the list and was not. Prints a line for each. */
bool mutants_run(const struct mutants *mutants, mutant_run_fn run);

#endif
