/* SPDX-License-Identifier: BSD-3-Clause */
/* Recover a crash image by the engine's own code, and compare with what the walk of the image found. */
#ifndef TESTS_CRASH_RECOVERY_H
#define TESTS_CRASH_RECOVERY_H

#include "pmem/engine.h"
#include "pmem/pool.h"
#include "tests/crash/image.h"
#include "tests/crash/walk.h"

/* An engine on a simulated memory. */
struct machine {
    struct pool pool;
    struct engine *engine;
};

/* Open what `memory` holds, as an engine of so many cores; persist calls go there from now on. */
bool machine_start(struct machine *machine, struct memory *memory, unsigned cores, char *error, size_t error_size);
void machine_stop(struct machine *machine);

enum recovery_depth {
    RECOVER_ONCE,
    RECOVER_TWICE,       /* recover(recover(x)) == recover(x) */
    RECOVER_INTERRUPTED, /* a crash at each fence of the recovery, and recovered again */
};

/* All that a boot needs to look at its crash images; memories are made once. */
struct recovery {
    struct memory *scratch, *nested;
    uint8_t *image, *nested_image;
    uint64_t nested_images; /* recovered so far */
    struct random random;
    char problem[256];
};

void recovery_init(struct recovery *recovery, uint64_t size, uint64_t seed);

/* Recover the image in recovery->image. False: recovery->problem says what is wrong. */
bool recovery_check(struct recovery *recovery, enum recovery_depth depth, struct state *state);

#endif
