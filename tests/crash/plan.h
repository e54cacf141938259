/* SPDX-License-Identifier: BSD-3-Clause */
/* What one seed does: how many cores, which keys, which commands, how they are interleaved. All drawn from the seed. */
#ifndef TESTS_CRASH_PLAN_H
#define TESTS_CRASH_PLAN_H

#include "tests/crash/history.h"
#include "tests/crash/image.h"

#define SIM_CORES   3u
#define CONNECTIONS 2u /* a core */

enum theme {
    THEME_HOT,    /* one to three keys, few slots */
    THEME_CHAIN,  /* full buckets: stash lines, places of deleted keys used again */
    THEME_GROWTH, /* pages split and the directory doubles */
    THEME_SPACE,  /* large values in a small pool: segments are compacted, freed, used again */
    THEME_WIDE,   /* databases are emptied and swapped, and made anew */
    THEMES,
};
extern const char *const theme_names[THEMES];

struct plan {
    enum theme theme;
    unsigned cores, segments, boots;
    unsigned hot[NAMES], hots;         /* names that commands are about */
    unsigned prefill[NAMES], prefills; /* names that are there at the start */
    unsigned prefill_deleted;          /* of them, deleted again */
    unsigned weight[COMMANDS];
    unsigned operations;        /* of all cores */
    unsigned busy;              /* per mille of the operations: those that core 0 gets beside its share */
    unsigned batch;             /* operations a batch, at most */
    uint32_t shortest, longest; /* values */
    unsigned late, expiring;    /* per mille: batches with a late clock, values with an expiry */
    unsigned switching,
        after_effect; /* per mille: another core goes on, before a persist call; after a visible store */
    struct image_plan images;
    bool orderly; /* the last boot ends with a close */
};

/* Draw a plan. A theme below THEMES is taken as given. */
void plan_draw(struct plan *plan, struct random *random, enum theme theme);

/* Draw one operation. */
void plan_operation(const struct plan *plan, struct random *random, struct operation *operation, int64_t number);

#endif
