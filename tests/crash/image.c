/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash images: for each line a prefix of its events, and of the bulk copies behind it any subset of words. */
#include "tests/crash/image.h"

#include <stdlib.h>
#include <string.h>

#define SUBSETS 2u /* random ones of bulk words, beside the prefixes, that count as choices of a line */

struct maker {
    const struct memory *memory;
    struct random *random;
    image_fn tell;
    void *arg;
    uint32_t lines;
    uint8_t (*content)[LINE_SIZE];
};

void
patch_apply(const struct memory *memory, const struct patch *patch, uint8_t *image)
{
    memcpy(image, memory->durable, memory->size);
    for (uint32_t i = 0; i < patch->lines; i++)
        memcpy(image + (uint64_t)patch->line[i] * LINE_SIZE, patch->content[i], LINE_SIZE);
}

void
patch_print(const struct memory *memory, const struct patch *patch, FILE *file)
{
    for (uint32_t i = 0; i < patch->lines; i++) {
        uint64_t offset = (uint64_t)patch->line[i] * LINE_SIZE;
        const char *is = memcmp(patch->content[i], memory->view + offset, LINE_SIZE) == 0      ? "new"
                         : memcmp(patch->content[i], memory->durable + offset, LINE_SIZE) == 0 ? "old"
                                                                                               : "in between";
        fprintf(file, "      line %#lx is %s\n", offset, is);
    }
}

static void
apply_words(uint8_t *content, const struct event *event, uint8_t mask)
{
    for (unsigned i = 0; i < LINE_WORDS; i++)
        if (event->mask & mask & 1u << i)
            memcpy(content + i * 8, &event->word[i], 8);
}

/* The line after its first `prefix` events; with subset also random words of the bulk copies right behind them. */
static void
choose(struct maker *maker, uint32_t i, uint32_t prefix, bool subset)
{
    uint32_t index = maker->memory->pending[i];
    const struct line *line = &maker->memory->line[index];
    uint8_t *content = maker->content[i];
    memcpy(content, maker->memory->durable + (uint64_t)index * LINE_SIZE, LINE_SIZE);
    for (uint32_t n = 0; n < prefix; n++)
        apply_words(content, &line->event[n], 0xff);
    for (uint32_t n = prefix; subset && n < line->pending && line->event[n].bulk; n++)
        apply_words(content, &line->event[n], (uint8_t)random_next(maker->random));
}

static void
newest(struct maker *maker, uint32_t i)
{
    choose(maker, i, maker->memory->line[maker->memory->pending[i]].pending, false);
}

static void
oldest(struct maker *maker, uint32_t i)
{
    choose(maker, i, 0, false);
}

static void
anything(struct maker *maker, uint32_t i)
{
    uint32_t pending = maker->memory->line[maker->memory->pending[i]].pending;
    choose(maker, i, random_below(maker->random, pending + 1), random_chance(maker->random, 500));
}

static void
emit(struct maker *maker)
{
    const struct memory *memory = maker->memory;
    uint64_t hash = memory->durable_hash;
    for (uint32_t i = 0; i < maker->lines; i++) {
        uint32_t index = memory->pending[i];
        hash ^= line_hash(index, memory->durable + (uint64_t)index * LINE_SIZE) ^ line_hash(index, maker->content[i]);
    }
    const struct patch patch = {memory->pending, (const uint8_t(*)[LINE_SIZE])maker->content, maker->lines};
    maker->tell(memory, &patch, hash, maker->arg);
}

/* Choices of a line: each prefix, and where bulk copies are pending some subsets of their words. */
static uint32_t
choices(const struct line *line)
{
    bool bulk = false;
    for (uint32_t n = 0; n < line->pending; n++)
        bulk |= line->event[n].bulk;
    return line->pending + 1 + (bulk ? SUBSETS : 0);
}

static bool
few(const struct maker *maker, unsigned bound)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < maker->lines; i++) {
        product *= choices(&maker->memory->line[maker->memory->pending[i]]);
        if (product > bound)
            return false;
    }
    return true;
}

static void
exhaust(struct maker *maker, uint32_t i)
{
    if (i == maker->lines) {
        emit(maker);
        return;
    }
    const struct line *line = &maker->memory->line[maker->memory->pending[i]];
    uint32_t all = choices(line);
    for (uint32_t c = 0; c < all; c++) {
        if (c <= line->pending)
            choose(maker, i, c, false);
        else
            choose(maker, i, random_below(maker->random, line->pending), true);
        exhaust(maker, i + 1);
    }
}

/* Image number n of: nothing, everything, each line alone, each missing, then random ones. */
static void
sample(struct maker *maker, uint32_t n)
{
    static const unsigned ahead[] = {100, 500, 900}; /* few lines ahead, a mix, few behind */
    unsigned per_mille = ahead[random_below(maker->random, 3)];
    for (uint32_t i = 0; i < maker->lines; i++) {
        if (n == 0 || (n >= 2 && n < 2 + maker->lines && n - 2 != i))
            oldest(maker, i);
        else if (n < 2 + maker->lines)
            newest(maker, i);
        else if (n < 2 + 2 * maker->lines)
            n - 2 - maker->lines == i ? oldest(maker, i) : newest(maker, i);
        else if (random_chance(maker->random, per_mille))
            newest(maker, i);
        else
            anything(maker, i);
    }
    emit(maker);
}

/* Everything but the lines that have been pending longest: the suspicious ones, where a fence may be missing. */
static void
longest_pending_missing(struct maker *maker, uint32_t lines)
{
    for (uint32_t i = 0; i < maker->lines; i++) /* in the order in which they became pending */
        i < lines ? oldest(maker, i) : newest(maker, i);
    emit(maker);
}

void
images_make(const struct memory *memory, const struct image_plan *plan, struct random *random, image_fn tell, void *arg)
{
    struct maker maker = {memory, random, tell, arg, memory->pending_used, NULL};
    maker.content = malloc((size_t)(maker.lines + 1) * LINE_SIZE);
    if (!maker.content)
        abort();
    uint32_t all = 2 + 2 * maker.lines + plan->seeded;
    if (few(&maker, plan->exhaustive)) {
        exhaust(&maker, 0);
    } else if (all <= plan->limit) {
        for (uint32_t n = 0; n < all; n++)
            sample(&maker, n);
    } else {
        sample(&maker, 0);
        sample(&maker, 1);
        longest_pending_missing(&maker, 1);
        longest_pending_missing(&maker, 1 + random_below(random, maker.lines));
        for (uint32_t n = 4; n < plan->limit; n++)
            sample(&maker, 2 + random_below(random, all - 2));
    }
    free(maker.content);
}
