/* SPDX-License-Identifier: BSD-3-Clause */
/* Interrupted creations, and opens of what a killed open left. */
#include "tests/crash/creation.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/superblock.h"
#include "pmem/word.h"
#include "tests/crash/image.h"
#include "tests/crash/keys.h"

#define SEGMENTS POOL_MIN_SEGMENTS
#define SIZE     ((uint64_t)SEGMENTS * SEGMENT_SIZE)

#define OPEN_CALLS 9u /* persist calls of an open, and one more */

struct creation {
    struct memory *memory, *scratch;
    struct random random;
    struct outcome *outcome;
    void (*met)(uint64_t hash);
    bool finished;  /* superblock_format has returned */
    unsigned calls; /* persist calls until the process is killed; 0 = it is not */
    jmp_buf killed;
    uint8_t image[SIZE] __attribute__((aligned(LINE_SIZE)));
};

static void
wrong(struct creation *creation, const char *what)
{
    creation->outcome->violated = true;
    snprintf(creation->outcome->what, sizeof(creation->outcome->what), "creation: %s", what);
}

/* An image with a signature is an empty pool, whatever was there before. */
static void
check_pool(struct creation *creation)
{
    struct persist_listener saved = persist_listener;
    struct pool pool = {.base = creation->scratch->view, .size = SIZE, .lock_fd = -1};
    char error[256];
    memory_fill(creation->scratch, creation->image, false);
    persist_listener = (struct persist_listener){.memory = creation->scratch};
    if (superblock_open(&pool, error, sizeof(error)) != 0) {
        wrong(creation, error);
    } else {
        if (*pool.roots_word)
            wrong(creation, "the ROOTS word of a new pool is not empty");
        for (uint64_t i = 0; i < pool.segments; i++)
            if (pool.segment_words[i] != word_seal(i < pool.system_segments ? SEGMENT_SYSTEM : SEGMENT_FREE))
                wrong(creation, "a segment word of a new pool is not what it should be");
    }
    persist_listener = saved;
}

static void
at_image(const struct memory *memory, const struct patch *patch, uint64_t hash, void *arg)
{
    struct creation *creation = arg;
    if (creation->outcome->violated)
        return;
    patch_apply(memory, patch, creation->image);
    creation->outcome->images++;
    creation->met(hash);
    enum superblock_state state = superblock_look(creation->image);
    if (state == SUPERBLOCK_PRESENT)
        check_pool(creation);
    else if (state == SUPERBLOCK_FOREIGN)
        wrong(creation, "what an interrupted creation left is not recognised");
    else if (creation->finished)
        wrong(creation, "a finished creation is lost");
}

static void
look(void *arg)
{
    static const struct image_plan plan = {.exhaustive = 256, .seeded = 64, .limit = UINT32_MAX};
    struct creation *creation = arg;
    images_make(creation->memory, &plan, &creation->random, at_image, creation);
}

static void
before(void *arg)
{
    struct creation *creation = arg;
    if (creation->calls && --creation->calls == 0)
        longjmp(creation->killed, 1);
}

static void
open_pool(struct creation *creation)
{
    struct pool pool = {.base = creation->memory->view, .size = SIZE, .lock_fd = -1};
    char error[256];
    if (superblock_open(&pool, error, sizeof(error)) != 0)
        wrong(creation, error);
}

/* The process is killed while it opens the pool, with the superblock in its caches; the power goes in the next open. */
static void
open_after_kill(struct creation *creation)
{
    creation->calls = 1 + random_below(&creation->random, OPEN_CALLS);
    if (setjmp(creation->killed) == 0)
        open_pool(creation);
    creation->calls = 0;
    memory_forget_flushes(creation->memory);
    open_pool(creation);
    look(creation);
}

void
creation_run(uint64_t seed, void (*met)(uint64_t hash), struct outcome *outcome)
{
    static struct creation creation;
    memset(outcome, 0, sizeof(*outcome));
    if (!creation.memory) {
        creation.memory = memory_new(SIZE);
        creation.scratch = memory_new(SIZE);
    }
    creation.random.state = mix64(seed);
    creation.outcome = outcome;
    creation.met = met;
    creation.finished = false;
    creation.calls = 0;
    memset(creation.image, 0xdb, SIZE); /* a device that was used before, with its front cleared */
    memset(creation.image, 0, ROOTS_OFFSET);
    memory_fill(creation.memory, creation.image, true);
    persist_listener =
        (struct persist_listener){.memory = creation.memory, .before = before, .ordered = look, .arg = &creation};
    superblock_format(creation.memory->view, SIZE, (const uint8_t *)HASH_KEY, (const uint8_t *)HASH_KEY, seed);
    creation.finished = true;
    look(&creation);
    open_after_kill(&creation);
    persist_listener = (struct persist_listener){0};
}
