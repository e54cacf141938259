/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SPLIT: move the words of a table page, bucket by bucket, into two pages of one more hash bit.
 *
 *   begin   two pages with their headers; then their offsets, durably, in the header of the old one
 *   fill    some buckets a slice: latch, hold each word, copy to the child, FENCE, control word = MOVED, unlatch
 *   settle  all are MOVED; a FENCE 2 of this core makes them durably so
 *   then    directory.c: the directory names the children, and the old page is freed after a grace period
 *
 * A bucket falls apart into two neighbours of one child, so a copy never needs more stash lines than its source has:
 * that is why a page that is being filled gives none to inserts.
 */
#include "pmem/split.h"

#include "pmem/chain.h"
#include "pmem/roots.h"

#define GROUP       8u /* buckets a FENCE */
#define GROUPS      4u /* a slice */
#define CHAIN_WORDS ((1 + PAGE_STASHES) * BUCKET_SLOTS)

static void
enqueue(struct core *core, const struct page *page, uint32_t id)
{
    atomic_fetch_add(&core->engine->table[id % TABLES].splits, 1);
    page_state(core->engine, page)->owner = id;
    page_queue_push(core->engine, &core->splits, page_number(core->engine, page));
}

void
split_request(struct core *core, const struct place *at)
{
    if (!atomic_exchange(&page_state(core->engine, at->page)->splitting, 1))
        enqueue(core, at->page, at->id);
}

void
split_resume(struct core *core, const struct page *page, uint32_t id)
{
    atomic_store(&page_state(core->engine, page)->splitting, 1);
    enqueue(core, page, id);
}

void
split_end(struct core *core, bool keep)
{
    struct split *s = &core->split;
    if (!keep)
        atomic_store(&page_state(core->engine, s->page)->splitting, 0);
    atomic_fetch_sub(&s->table->splits, 1);
    s->phase = SPLIT_IDLE;
}

/* ---- begin ---- */

/* The table is not in ROOTS any more; whoever emptied the database reaps it. */
static bool
table_dead(struct core *core, uint32_t id)
{
    return roots_load(core) != 0 || roots_find(core, id) < 0;
}

static const struct page *
child_create(struct core *core, unsigned half)
{
    struct split *s = &core->split;
    uint64_t offset = space_pages_alloc(core->engine->space, 1, false);
    if (!offset)
        return NULL;
    const struct page *page = page_at(core->engine, offset);
    *page_state(core->engine, page) = (struct page_state){.filling = 1};
    page_header_write(page, s->id, s->depth + 1, s->prefix | (uint64_t)half << (63 - s->depth),
                      SITE_FLUSH_CHILD_HEADER);
    return page;
}

/* Two pages, and their offsets in the header of the old one. False: there is no room for them. */
static bool
children_create(struct core *core)
{
    struct split *s = &core->split;
    struct engine *engine = core->engine;
    s->child[0] = child_create(core, 0);
    s->child[1] = s->child[0] ? child_create(core, 1) : NULL;
    if (!s->child[1]) {
        if (s->child[0])
            space_pages_free(engine->space, pool_offset(engine->pool, s->child[0]), 1);
        return false;
    }
    persist_fence(SITE_FENCE_CHILD_HEADER);
    const struct page_header *header = &s->page->header;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t word = page_word(pool_offset(engine->pool, s->child[half]), s->depth + 1);
        persist_store(&header[0].child[half], word);
        persist_store(&header[1].child[half], word);
    }
    persist_flush(header, 2 * sizeof(*header), SITE_FLUSH_CHILDREN);
    persist_fence(SITE_FENCE_CHILDREN);
    return true;
}

/* Take the next page of the queue. False: there is none, or it could not begin. */
static bool
begin(struct core *core)
{
    struct engine *engine = core->engine;
    struct split *s = &core->split;
    uint32_t number = page_queue_pop(engine, &core->splits);
    if (!number)
        return false;
    const struct page *page = page_at(engine, (uint64_t)number * PAGE_SIZE_TABLE);
    const struct page_header *header = page_header(page);
    *s = (struct split){.phase = SPLIT_FILL, .page = page};
    s->id = page_state(engine, page)->owner;
    s->table = &engine->table[s->id % TABLES];
    bool resumed = page_children(engine, page, s->child);
    if (!header || (!resumed && table_dead(core, s->id))) {
        split_end(core, true);
        return false;
    }
    s->depth = header->depth;
    s->prefix = header->prefix;
    if (resumed)
        return true;
    const struct root *root = &core->roots->db[roots_find(core, s->id)];
    enum split_outlook outlook = SPLIT_POSSIBLE;
    if (root->depth == s->depth && sizeof(uint64_t) << (s->depth + 1) > SEGMENT_SIZE)
        outlook = SPLIT_AT_LIMIT;
    else if (!children_create(core))
        outlook = SPLIT_NO_PAGES;
    if (outlook == SPLIT_POSSIBLE)
        return true;
    atomic_store(&page_state(engine, page)->outlook, outlook);
    split_end(core, false);
    return false;
}

/* ---- fill ---- */

/* Words on their way into the two buckets that their home falls apart into. */
struct halves {
    uint64_t word[2][CHAIN_WORDS];
    unsigned used[2];
};

/* Hold every word of a chain, so that it changes no more, and begin to load the records. */
static void
freeze(const struct core *core, const struct page *page, const struct bucket *home)
{
    for (const struct bucket *b = home; b; b = chain_next(page, b)) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            uint64_t word = word_load(&b->slot[i]);
            while (word & WORD_PRESENT && !(word & WORD_HELD) && word_good(word) &&
                   !persist_cas(&b->slot[i], word, word_with(word, WORD_HELD)))
                word = word_load(&b->slot[i]);
            if (word & WORD_PRESENT)
                __builtin_prefetch(core->base + word_offset(word));
        }
    }
}

/*
 * Share the held words out. One whose key cannot be told goes to both, behind the others: then neither half calls the
 * key absent, and its record, which nobody can displace, is never counted dead.
 */
static void
share(const struct core *core, unsigned home, struct halves *halves)
{
    const struct split *s = &core->split;
    uint64_t lost[CHAIN_WORDS];
    unsigned losses = 0;
    for (const struct bucket *b = &s->page->home[home]; b; b = chain_next(s->page, b)) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            uint64_t hash, word = word_load(&b->slot[i]);
            if (chain_hash(core, word, s->depth, home, &hash)) {
                unsigned half = home_index(hash, s->depth + 1) & 1;
                halves->word[half][halves->used[half]++] = word_without(word, WORD_HELD);
            } else if (!word_good(word)) {
                lost[losses++] = word;
            } else if (word & WORD_PRESENT && !(word & WORD_TENT)) {
                lost[losses++] = word_without(word, WORD_HELD);
            }
        }
    }
    for (unsigned i = 0; i < losses; i++) {
        for (unsigned half = 0; half < 2; half++)
            halves->word[half][halves->used[half]++] = lost[i];
    }
}

/* Write a bucket of the child, and as many stash buckets as it takes: every slot and link of them. */
static void
child_fill(const struct core *core, const struct page *child, unsigned home, const uint64_t *word, unsigned words)
{
    struct page_state *state = page_state(core->engine, child);
    for (const struct bucket *b = &child->home[home]; b;) {
        struct bucket image = {0};
        unsigned n = words < BUCKET_SLOTS ? words : BUCKET_SLOTS;
        memcpy(image.slot, word, n * sizeof(*word));
        word += n;
        words -= n;
        const struct bucket *next = NULL;
        int line = words ? stash_take(state) : -1;
        if (line >= 0) {
            next = &child->stash[line];
            image.control = word_seal((uint64_t)(next - (const struct bucket *)child));
        }
        persist_copy(b, &image, sizeof(image));
        persist_flush(b, sizeof(image), SITE_FLUSH_SPLIT);
        b = next;
    }
}

static void
move_home(struct core *core, unsigned home)
{
    struct split *s = &core->split;
    struct halves halves = {.used = {0, 0}};
    freeze(core, s->page, &s->page->home[home]);
    share(core, home, &halves);
    const struct page *child = s->child[home / (PAGE_HOMES / 2)];
    unsigned first = home % (PAGE_HOMES / 2) * 2;
    for (unsigned half = 0; half < 2; half++)
        child_fill(core, child, first + half, halves.word[half], halves.used[half]);
}

static bool
moved(const struct bucket *home)
{
    return word_load(&home->control) & WORD_MOVED;
}

/* Some buckets, and one FENCE for all of them. False: another core has the latch of the next one. */
static bool
fill_group(struct core *core)
{
    struct split *s = &core->split;
    struct engine *engine = core->engine;
    const struct bucket *latched[GROUP];
    unsigned n = 0;
    bool busy = false;
    for (; n < GROUP && s->next_home < PAGE_HOMES; s->next_home++) {
        const struct bucket *home = &s->page->home[s->next_home];
        if (moved(home))
            continue; /* before a crash */
        busy = !latch_try(engine, home);
        if (busy)
            break;
        move_home(core, s->next_home);
        latched[n++] = home;
    }
    if (n)
        persist_fence(SITE_FENCE_SPLIT);
    for (unsigned i = 0; i < n; i++) {
        persist_store(&latched[i]->control, word_with(word_load(&latched[i]->control), WORD_MOVED));
        depend(core, latched[i]);
        latch_release(engine, latched[i]);
    }
    return !busy;
}

static void
fill(struct core *core)
{
    struct split *s = &core->split;
    while (s->next_home < PAGE_HOMES && moved(&s->page->home[s->next_home]))
        s->next_home++;
    if (s->next_home < PAGE_HOMES && table_dead(core, s->id)) {
        split_end(core, true);
        return;
    }
    for (unsigned n = 0; n < GROUPS && s->next_home < PAGE_HOMES; n++) {
        if (!fill_group(core))
            return;
    }
    if (s->next_home == PAGE_HOMES) {
        s->commits = core->commits;
        s->phase = SPLIT_SETTLE;
    }
}

bool
split_tend(struct core *core)
{
    struct split *s = &core->split;
    if (s->phase == SPLIT_SETTLE && core->commits > s->commits)
        s->phase = SPLIT_LOCK;
    bool more = directory_tend(core);
    if (s->phase == SPLIT_IDLE && more)
        begin(core);
    if (s->phase == SPLIT_FILL)
        fill(core);
    return more && (s->phase != SPLIT_IDLE || core->splits.first);
}
