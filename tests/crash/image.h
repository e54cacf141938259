/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash images: what a power cut at this moment may leave of a tracked memory. */
#ifndef TESTS_CRASH_IMAGE_H
#define TESTS_CRASH_IMAGE_H

#include "tests/crash/persist_sim.h"
#include "tests/crash/random.h"

/* Lines that are not as in memory.durable. */
struct patch {
    const uint32_t *line;
    const uint8_t (*content)[LINE_SIZE];
    uint32_t lines;
};

/* Write the image that a patch stands for to `image`. */
void patch_apply(const struct memory *memory, const struct patch *patch, uint8_t *image);

/* Which of the pending lines are old, new, or in between. */
void patch_print(const struct memory *memory, const struct patch *patch, FILE *file);

/* Told of an image by its hash; may apply the patch. */
typedef void (*image_fn)(const struct memory *memory, const struct patch *patch, uint64_t hash, void *arg);

/*
 * Every image if there are at most `exhaustive`; else the one with nothing and the one with everything, each line
 * alone, each line missing, and `seeded` random ones, or where these are more than `limit`, a sample of them (limit
 * is at least 4).
 */
struct image_plan {
    unsigned exhaustive, seeded, limit;
};
void images_make(const struct memory *memory, const struct image_plan *plan, struct random *random, image_fn tell,
                 void *arg);

#endif
