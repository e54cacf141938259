/* SPDX-License-Identifier: BSD-3-Clause */
/* What world.c (boots, schedule, images) and client.c (what a core does) share. */
#ifndef TESTS_CRASH_WORLD_INTERNAL_H
#define TESTS_CRASH_WORLD_INTERNAL_H

#include "tests/crash/fiber.h"
#include "tests/crash/recovery.h"
#include "tests/crash/world.h"

/* Values are numbered in such steps: an INCR stays below the next one. */
#define NUMBER_STEP 1000

struct world;

struct client {
    struct world *world;
    struct fiber fiber;
    struct core *core;
    unsigned index;
    uint64_t awake_at; /* step */
    struct random random;
};

/* A recovered image, by its hash; and a state that some images came to. */
struct seen_image {
    uint64_t hash; /* 0 = unused */
    uint32_t state;
};
struct seen_state {
    struct state state;
    uint64_t hash, explained_at; /* version of the history that it was checked with */
};

struct world {
    struct plan plan;
    struct random random, image_random;
    struct memory *memory;
    struct machine machine;
    struct history history;
    struct client client[SIM_CORES];
    struct recovery recovery;
    struct outcome *outcome;
    void (*met)(uint64_t hash);
    int64_t next_number;

    /* schedule */
    uint64_t steps;
    struct fiber starter; /* opens the pool */
    bool started;         /* it could */
    unsigned working;     /* clients that have operations left */
    bool effect;          /* something that others can see was just stored */
    bool quiet;           /* no images, no switches: the prefill */
    uint64_t kill_at;     /* step at which the process is killed and another one opens the pool */

    /* images of this boot */
    uint64_t seen_memory, seen_history;
    struct seen_image *image; /* hash table */
    uint64_t images;
    struct seen_state *state;
    uint32_t states, states_room;
    uint8_t *chosen; /* image for the next boot */
    struct state chosen_state;
};

/* The run has gone wrong; what happens after is of no interest. */
void world_violation(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Look at the crash images, if something changed. */
void world_look(struct world *world);

/* Run the client's operations (in a fiber). */
void client_run(void *client);

/* Outside of any boot: put these names there, and delete the first `deleted` again. */
void client_prefill(struct world *world, struct core *core);

#endif
