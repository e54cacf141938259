/* SPDX-License-Identifier: BSD-3-Clause */
/* One seed: a pool, some boots, cores as fibers, and a look at the crash images at every fence and acknowledgement. */
#ifndef TESTS_CRASH_WORLD_H
#define TESTS_CRASH_WORLD_H

#include <stdio.h>

#include "tests/crash/plan.h"

struct outcome {
    uint64_t images;        /* recovered */
    uint64_t nested_images; /* of interrupted recoveries */
    uint64_t steps, refused, compacted, splits;
    enum theme theme;
    unsigned operations; /* in the boot that went wrong */
    bool violated;
    char what[400];
};

/* Rules of the protocol that can be taken away from outside the engine. */
enum rule {
    RULE_REPLY,     /* replies leave after FENCE 2 */
    RULE_QUIESCENT, /* a core reports quiescent after its FENCE 2 */
    RULE_GRACE,     /* what was displaced waits for a grace period */
    RULE_STAMPS,    /* batch numbers do not repeat across boots */
    RULE_LATCH,     /* inserts and splits take a latch */
    RULE_ABSENT,    /* "absent" waits for the EMPTYs that say so */
    RULES,
};
extern const char *const rule_names[RULES];
extern enum rule rule_removed; /* RULES = none */

/* Run a seed. theme THEMES: any. met is told the hash of each image that was recovered. */
void world_run(uint64_t seed, enum theme theme, void (*met)(uint64_t hash), struct outcome *outcome);

/* The history of the last run, one operation a line. */
void world_print(FILE *file);

#endif
