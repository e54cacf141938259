/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SCAN: homes in hash order. A cursor is where the next home begins, in the upper 48 of 64 hash bits; a home is never
 * that narrow, so the home that a cursor lies in begins right there, also after it was split. Pages split but never
 * merge, so no key that stays is left out.
 */
#include "pmem/scan.h"

#include "pmem/siphash.h"

#define CURSOR_SHIFT 16
#define SCAN_HOMES   256u /* homes a call, at least: a page of a small database */
#define RANDOM_TRIES 32u  /* random homes, before the search goes on in order */

/* Where the home behind this one begins, rounded up to a cursor. */
static uint64_t
position_behind(uint64_t position, uint32_t depth, unsigned home)
{
    uint64_t prefix = depth ? position & ~(~0ull >> depth) : 0;
    unsigned __int128 width = (unsigned __int128)1 << (64 - depth);
    unsigned __int128 behind = ((home + 1) * width + PAGE_HOMES - 1) / PAGE_HOMES + prefix;
    return (uint64_t)(((behind >> CURSOR_SHIFT) + ((behind & ((1u << CURSOR_SHIFT) - 1)) != 0)) << CURSOR_SHIFT);
}

/* One word of the chain. */
static void
visit_word(struct core *core, const struct place *at, struct hit *hit, visit_fn visit, void *arg)
{
    hit->record = record_of(core, hit->word);
    if (!word_good(hit->word) || !word_names_record(core, hit->word) || !record_good(hit->record)) {
        record_damaged(core);
        return;
    }
    if (record_expired(core, hit->record)) {
        chain_expire(core, at, hit); /* if another core is at it, it is that core's to tell */
        return;
    }
    if (!visit)
        return;
    if (non_durable(core->engine, record_stamp(hit->record)))
        chain_depend(core, at, hit->bucket);
    const struct slice key = {.data = record_key(hit->record), .len = hit->record->klen};
    struct entry entry;
    entry_of(hit->record, &entry);
    visit(&key, &entry, arg);
}

uint64_t
scan_home(struct core *core, const struct root *root, uint64_t position, visit_fn visit, void *arg)
{
    struct place at;
    if (root_walk(core, root, position, &at) != 0)
        return 0;
    for (const struct bucket *b = at.home; b; b = chain_next(at.page, b)) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            struct hit hit = {.bucket = b, .slot = &b->slot[i], .word = word_load(&b->slot[i])};
            if (hit.word & WORD_PRESENT && !(hit.word & WORD_TENT))
                visit_word(core, &at, &hit, visit, arg);
        }
    }
    if (visit)
        chain_absent(core, &at); /* what is not told is absent */
    return position_behind(position, at.depth, home_index(position, at.depth));
}

/* ---- SCAN ---- */

struct tour {
    visit_fn visit;
    void *arg;
    unsigned visited;
};

static void
tour_visit(const struct slice *key, const struct entry *entry, void *arg)
{
    struct tour *tour = arg;
    tour->visited++;
    tour->visit(key, entry, tour->arg);
}

uint64_t
entry_scan(struct core *core, unsigned db, uint64_t cursor, unsigned count, visit_fn visit, void *arg)
{
    if (roots_load(core) != 0)
        return 0;
    roots_depend(core);
    struct tour tour = {.visit = visit, .arg = arg};
    uint64_t position = cursor << CURSOR_SHIFT;
    uint64_t homes = (uint64_t)count * 10 > SCAN_HOMES ? (uint64_t)count * 10 : SCAN_HOMES;
    do
        position = scan_home(core, &core->roots->db[db], position, tour_visit, &tour);
    while (position && tour.visited < count && --homes);
    return position >> CURSOR_SHIFT;
}

/* ---- RANDOMKEY ---- */

/* One of those met, each with the same chance. */
struct pick {
    uint64_t seed;
    unsigned met;
    struct slice *key;
};

static uint64_t
random_next(uint64_t *seed)
{
    uint64_t x = *seed += 0x9e3779b97f4a7c15ull; /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static void
pick_visit(const struct slice *key, const struct entry *entry, void *arg)
{
    (void)entry;
    struct pick *pick = arg;
    if (random_next(&pick->seed) % ++pick->met == 0)
        *pick->key = *key;
}

int
entry_random(struct core *core, unsigned db, uint64_t seed, struct slice *key)
{
    int rc = roots_load(core);
    if (rc)
        return rc;
    roots_depend(core);
    const struct root *root = &core->roots->db[db];
    struct pick pick = {.seed = seed, .key = key};
    uint64_t position = 0;
    for (unsigned n = 0; n < RANDOM_TRIES && !pick.met; n++) {
        position = random_next(&pick.seed);
        scan_home(core, root, position, pick_visit, &pick);
    }
    for (unsigned turn = 0; turn < 2 && !pick.met; turn++) { /* from there to the end, then once around */
        do
            position = scan_home(core, root, position, pick_visit, &pick);
        while (position && !pick.met);
    }
    return pick.met ? 0 : -ENOENT;
}
