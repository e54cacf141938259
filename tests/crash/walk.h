/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second opinion on a crash image: a reader of pmem/layout.h that shares no code with the engine but that of words,
 * records and the hash. It follows every tree and checks all that must hold in any image.
 */
#ifndef TESTS_CRASH_WALK_H
#define TESTS_CRASH_WALK_H

#include "pmem/layout.h"
#include "tests/crash/history.h"

#define WALK_SEGMENTS 64u

struct reached {
    struct state state;
    uint64_t keys[DBS], live_bytes, pages;
    uint8_t kind[WALK_SEGMENTS]; /* enum segment_kind of what was reached in it, or FREE */
    char problem[160];
};

/* False: problem says what must not be. */
bool walk_image(const uint8_t *image, uint64_t size, struct reached *reached);

#endif
