/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: biased to few keys, few slots and long runs of one core, where races are. */
#include "tests/crash/plan.h"

#include <string.h>

#include "pmem/superblock.h"
#include "tests/crash/keys.h"

const char *const theme_names[THEMES] = {"hot", "chain", "growth", "space", "wide"};

/* Weights of GET, EXISTS, SET, SETNX, INCR, DEL; a seed takes one row. */
static const unsigned mixes[][FLUSH] = {
    {5, 1, 3, 2, 2, 4}, /* all */
    {3, 1, 0, 3, 0, 4}, /* insert and delete */
    {2, 0, 3, 0, 3, 0}, /* update */
    {4, 1, 3, 0, 0, 4}, {1, 1, 4, 1, 1, 1},
};

static unsigned
between(struct random *random, unsigned first, unsigned last)
{
    return first + random_below(random, last - first + 1);
}

static void
draw_names(struct plan *plan, struct random *random, unsigned hots, unsigned prefills, unsigned from)
{
    unsigned order[NAMES];
    for (unsigned i = 0; i < from; i++)
        order[i] = i;
    for (unsigned i = 0; i + 1 < from; i++) {
        unsigned j = i + random_below(random, from - i), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    plan->prefills = prefills < from ? prefills : from;
    memcpy(plan->prefill, order, sizeof(order));
    /* Hot ones from the end of the order: absent at first, unless the prefill reaches that far. */
    plan->hots = hots < from ? hots : from;
    for (unsigned i = 0; i < plan->hots; i++)
        plan->hot[i] = order[from - 1 - i];
    if (random_chance(random, 300) && plan->prefills)
        plan->hot[0] = plan->prefill[0];
}

/* A few splits, or many inserts into a small table, which is split again and again. */
static void
draw_growth(struct plan *plan, struct random *random)
{
    if (random_chance(random, 500)) {
        draw_names(plan, random, between(random, 2, 24), between(random, 8, 44),
                   random_chance(random, 200) ? CROWD : NAMES);
        plan->operations = between(random, 4, 40);
        plan->prefill_deleted = random_below(random, 4);
    } else {
        draw_names(plan, random, 40, between(random, 8, 14), NAMES);
        plan->operations = between(random, 40, 80);
        plan->weight[SET] += 16;
    }
    if (random_chance(random, 700))
        plan->images = (struct image_plan){.exhaustive = 4, .seeded = 8, .limit = 5};
}

static void
draw_theme(struct plan *plan, struct random *random)
{
    plan->operations = between(random, 4, 24);
    switch (plan->theme) {
    case THEME_HOT:
        draw_names(plan, random, between(random, 1, 3), random_below(random, 4), CROWD);
        break;
    case THEME_CHAIN:
        draw_names(plan, random, between(random, 1, 3), between(random, 5, 8), CROWD);
        plan->prefill_deleted = random_below(random, 4);
        break;
    case THEME_GROWTH:
        draw_growth(plan, random);
        break;
    case THEME_SPACE:
        draw_names(plan, random, between(random, 2, 6), between(random, 4, 14), CROWD);
        plan->operations = between(random, 30, 120);
        plan->segments = between(random, POOL_MIN_SEGMENTS + 2, POOL_MIN_SEGMENTS + 8);
        plan->shortest = 300;
        plan->longest = random_chance(random, 500) ? VALUE_MAX : 900;
        plan->images = (struct image_plan){.exhaustive = 6, .seeded = 8, .limit = 6};
        break;
    default:
        draw_names(plan, random, between(random, 1, 3), random_below(random, 4), CROWD);
        plan->operations = between(random, 4, 14);
        plan->weight[FLUSH] = 2;
        plan->weight[SWAP] = plan->cores == 1; /* not linearizable against commands in flight on other cores */
        break;
    }
}

/* Few images of many runs, or many of a few. */
static void
draw_images(struct plan *plan, struct random *random)
{
    unsigned draw = random_below(random, 100);
    if (draw == 0)
        plan->images = (struct image_plan){.exhaustive = 4096, .seeded = 64, .limit = UINT32_MAX};
    else if (draw < 40)
        plan->images = (struct image_plan){.exhaustive = 24, .seeded = 12, .limit = 16};
    else
        plan->images = (struct image_plan){.exhaustive = 4, .seeded = 8, .limit = 6};
}

void
plan_draw(struct plan *plan, struct random *random, enum theme theme)
{
    static const unsigned themes[] = {THEME_HOT,    THEME_HOT,    THEME_CHAIN, THEME_CHAIN, THEME_CHAIN,
                                      THEME_GROWTH, THEME_GROWTH, THEME_SPACE, THEME_SPACE, THEME_WIDE};
    static const unsigned switchings[] = {5, 30, 100, 250};
    memset(plan, 0, sizeof(*plan));
    plan->theme = themes[random_below(random, sizeof(themes) / sizeof(themes[0]))];
    if (theme < THEMES)
        plan->theme = theme;
    plan->cores = between(random, 1, SIM_CORES);
    plan->segments = 16;
    plan->boots = between(random, 1, 3);
    plan->busy = random_chance(random, 400) ? 700 : 0;
    plan->batch = between(random, 1, 4);
    plan->shortest = VALUE_MIN;
    plan->longest = 60;
    plan->late = random_chance(random, 200) ? 300 : 0;
    plan->expiring = plan->late ? 500 : 0;
    plan->switching = switchings[random_below(random, 4)];
    plan->after_effect = random_chance(random, 500) ? 300 : plan->switching;
    draw_images(plan, random);
    plan->orderly = random_chance(random, 300);
    memcpy(plan->weight, mixes[random_below(random, sizeof(mixes) / sizeof(mixes[0]))], sizeof(mixes[0]));
    draw_theme(plan, random);
}

void
plan_operation(const struct plan *plan, struct random *random, struct operation *op, int64_t number)
{
    unsigned total = 0;
    for (unsigned i = 0; i < COMMANDS; i++)
        total += plan->weight[i];
    unsigned draw = random_below(random, total), command = 0;
    while (draw >= plan->weight[command])
        draw -= plan->weight[command++];
    op->command = (enum command)command;
    op->name = plan->hot[random_below(random, plan->hots)];
    op->db = plan->theme == THEME_WIDE ? random_below(random, DBS) : 0;
    op->length = between(random, plan->shortest, plan->longest);
    op->number = number | (random_chance(random, plan->expiring) ? EXPIRES : 0);
    if (command == FLUSH)
        op->number = between(random, 1, 3);
}
