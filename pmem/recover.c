/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RECOVER: nothing is repaired, because nothing is half done: a word is old or new, and what no word reaches is
 * garbage. The trees are walked to learn which records and pages are in use, how many keys there are, and which
 * splits a crash interrupted; those go on in batch_tend. Stores nothing but FREE in the words of segments that
 * nothing reaches, so it may itself be interrupted and done again.
 */
#include "pmem/split.h"
#include "pmem/table.h"

#include <stdio.h>

#define AHEAD 12u /* homes whose records are on their way to the cache */

/* One walk; core 0 stands in for all, since no thread uses the engine yet. */
struct recovery {
    struct engine *engine;
    struct core *core;
    const struct root *root;
    unsigned splits;
    char *error;
    size_t error_size;
};

static int
refuse(struct recovery *r, const char *what, uint64_t offset)
{
    snprintf(r->error, r->error_size, "%s at offset %llu of the pool is damaged; the pool was left as it is", what,
             (unsigned long long)offset);
    return -EBADMSG;
}

static void
damaged(struct recovery *r)
{
    r->engine->damaged++;
}

/*
 * After a kill -9 without a power cut the caches still hold words that nobody has flushed, and all that is met here
 * will count as durable. (Records are durable before a word names them.)
 */
static void
settle(struct recovery *r, const void *p, size_t len)
{
    if (!r->engine->pool->was_clean)
        persist_flush(p, len, SITE_FLUSH_MET);
}

/* ---- words ---- */

static void
adopt_word(struct recovery *r, uint64_t word)
{
    struct engine *engine = r->engine;
    if (!word_good(word)) {
        damaged(r);
        return;
    }
    if (!(word & WORD_PRESENT) || word & WORD_TENT)
        return;
    uint64_t offset = word_offset(word);
    if (offset < engine->pool->system_segments * SEGMENT_SIZE || offset >= engine->pool->size) {
        damaged(r);
        return;
    }
    if (!word_names_record(r->core, word)) {
        damaged(r);
        space_adopt(engine->space, offset, UNIT_SIZE); /* keeps the segment, so that the key never reads as another */
        return;
    }
    const struct record *record = record_of(r->core, word);
    space_adopt(engine->space, offset, record_total(record));
    tally(r->core, r->root->id, 1, record_has_expiry(record));
    engine->walked_keys++;
}

static void
prefetch_records(const struct recovery *r, const struct bucket *b)
{
    for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
        uint64_t word = word_load(&b->slot[i]);
        if (word & WORD_PRESENT)
            __builtin_prefetch(r->core->base + word_offset(word));
    }
}

/* The chain of a home that is not MOVED. */
static void
adopt_chain(struct recovery *r, const struct page *page, unsigned home)
{
    struct page_state *state = page_state(r->engine, page);
    unsigned lines = 0;
    for (const struct bucket *b = &page->home[home]; b && lines <= PAGE_STASHES; lines++) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++)
            adopt_word(r, word_load(&b->slot[i]));
        if (!word_good(word_load(&b->control))) {
            damaged(r);
            return;
        }
        b = chain_next(page, b);
        if (b && b >= page->stash)
            atomic_fetch_or(&state->stash, 1ull << (b - page->stash));
    }
}

/* ---- pages ---- */

/* Meet a page: its header must say what led here. 1: met before. */
static int
meet(struct recovery *r, const struct page *page, uint32_t depth)
{
    struct engine *engine = r->engine;
    uint64_t offset = pool_offset(engine->pool, page);
    if (offset % PAGE_SIZE_TABLE || offset < engine->pool->system_segments * SEGMENT_SIZE ||
        offset >= engine->pool->size)
        return refuse(r, "a word that names a table page, or the page", offset);
    const struct page_header *header = page_header(page);
    if (!header || header->owner != r->root->id || header->depth != depth)
        return refuse(r, "the header of the table page", offset);
    struct page_state *state = page_state(engine, page);
    if (state->met)
        return 1;
    state->met = true;
    space_adopt_pages(engine->space, offset, 1);
    settle(r, page, sizeof(*page));
    return 0;
}

/* A page, where a split got as far as naming its children: MOVED homes count there, the others here. */
static int
adopt_page(struct recovery *r, const struct page *page, uint32_t depth)
{
    int rc = meet(r, page, depth);
    if (rc)
        return rc < 0 ? rc : 0;
    const struct page *child[2];
    bool splitting = page_children(r->engine, page, child);
    bool in_child[2] = {false, false}; /* its homes are to be walked from here */
    for (unsigned half = 0; splitting && half < 2; half++) {
        rc = meet(r, child[half], depth + 1);
        if (rc < 0)
            return rc;
        in_child[half] = rc == 0;
        atomic_store(&page_state(r->engine, child[half])->filling, 1);
    }
    for (unsigned home = 0; home < PAGE_HOMES; home++) {
        if (home + AHEAD < PAGE_HOMES)
            prefetch_records(r, &page->home[home + AHEAD]);
        unsigned half = home / (PAGE_HOMES / 2), first = home % (PAGE_HOMES / 2) * 2;
        if (!(word_load(&page->home[home].control) & WORD_MOVED)) {
            adopt_chain(r, page, home);
        } else if (!splitting) {
            return refuse(r, "the header of the table page", pool_offset(r->engine->pool, page));
        } else if (in_child[half]) {
            adopt_chain(r, child[half], first);
            adopt_chain(r, child[half], first + 1);
        }
    }
    if (splitting)
        split_resume(r->engine->core[r->splits++ % r->engine->cores], page, r->root->id);
    return 0;
}

/* ---- trees ---- */

static int
adopt_table(struct recovery *r)
{
    struct engine *engine = r->engine;
    const struct root *root = r->root;
    uint64_t bytes = sizeof(uint64_t) << (root->depth & 63);
    if (root->depth >= 48 || root->directory % PAGE_SIZE_TABLE || root->directory >= engine->pool->size ||
        bytes > engine->pool->size - root->directory)
        return refuse(r, "the directory", root->directory);
    atomic_store(&engine->table[root->id % TABLES].id, root->id);
    space_adopt_pages(engine->space, root->directory, directory_pages(root->depth));
    const uint64_t *entry = pool_at(engine->pool, root->directory);
    settle(r, entry, bytes);
    for (uint64_t i = 0; i >> root->depth == 0; i++) {
        uint64_t word = word_load(&entry[i]);
        if (!word || !word_good(word))
            return refuse(r, "a directory entry", pool_offset(engine->pool, &entry[i]));
        int rc = adopt_page(r, page_at(engine, word_offset(word)), page_word_depth(word));
        if (rc)
            return rc;
    }
    return 0;
}

int
recover(struct engine *engine, char *error, size_t error_size)
{
    struct recovery r = {.engine = engine, .core = engine->core[0], .error = error, .error_size = error_size};
    uint64_t word = word_load(engine->pool->roots_word);
    if (roots_check(r.core, word) != 0)
        return refuse(&r, "the ROOTS word, or its record", word_offset(word));
    settle(&r, engine->pool->roots_word, sizeof(word));
    if (word)
        space_adopt(engine->space, word_offset(word), record_total(record_of(r.core, word)));
    for (unsigned db = 0; db < DATABASES; db++) {
        r.root = &r.core->roots->db[db];
        int rc = r.root->id ? adopt_table(&r) : 0;
        if (rc)
            return rc;
    }
    if (!engine->pool->was_clean)
        persist_fence(SITE_FENCE_MET);
    space_recovered(engine->space);
    return 0;
}
