/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reaping: an emptied database's records are dead at once, but somebody must say so to the space, record by record.
 * It starts after a grace period (commands that hold the old root are over, and the new ROOTS is durable) and when no
 * core has a page of the table in its split queue, so nothing changes the tree while it goes.
 */
#include "pmem/reap.h"

#include "pmem/table.h"

#define REAP_HOMES 48 /* a slice */

void
reap_start(struct core *core, const struct root *root)
{
    struct table *table = &core->engine->table[root->id % TABLES];
    table->reaped = *root;
    table->token = grace_start(&core->engine->grace);
    table->entry = 0;
    table->home = 0;
    atomic_store(&table->reaper, core->index + 1);
    core->reaping++;
}

/* The records of one home; where a split was given up half way, those of its two homes in the child. */
static void
reap_home(struct core *core, const struct page *page, uint32_t depth, unsigned home)
{
    const struct bucket *first = &page->home[home];
    if (word_load(&first->control) & WORD_MOVED) {
        const struct page *child[2];
        for (unsigned i = 0; page_children(core->engine, page, child) && i < 2; i++)
            reap_home(core, child[home / (PAGE_HOMES / 2)], depth + 1, home % (PAGE_HOMES / 2) * 2 + i);
        return;
    }
    for (const struct bucket *b = first; b; b = chain_next(page, b)) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            uint64_t hash, word = word_load(&b->slot[i]);
            if (chain_hash(core, word, depth, home, &hash)) /* else damaged: its segment stays */
                space_dead(core->engine->space, word_offset(word), record_total(record_of(core, word)));
        }
    }
}

static void
page_discard(struct core *core, const struct page *page)
{
    struct space *space = core->engine->space;
    const struct page *child[2];
    for (unsigned i = 0; page_children(core->engine, page, child) && i < 2; i++)
        space_pages_free(space, pool_offset(core->engine->pool, child[i]), 1);
    space_pages_free(space, pool_offset(core->engine->pool, page), 1);
}

/* All is given back: the slot may name a new table. */
static void
reap_end(struct core *core, struct table *table)
{
    struct engine *engine = core->engine;
    space_pages_free(engine->space, table->reaped.directory, directory_pages(table->reaped.depth));
    for (unsigned i = 0; i < engine->cores; i++) {
        struct tally *t = &engine->core[i]->tally[table - engine->table];
        __atomic_store_n(&t->keys, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->expiring, 0, __ATOMIC_RELAXED);
    }
    atomic_store(&table->reaper, 0);
    core->reaping--;
    atomic_store(&table->id, 0);
}

static void
reap_slice(struct core *core, struct table *table)
{
    const uint64_t *directory = pool_at(core->engine->pool, table->reaped.directory);
    uint32_t global = table->reaped.depth;
    for (unsigned n = 0; n < REAP_HOMES; n++) {
        if (table->entry >> global) {
            reap_end(core, table);
            return;
        }
        uint64_t word = directory[table->entry];
        if (!word_good(word) || !word) { /* damaged: what it named stays until the next open */
            table->entry++;
            continue;
        }
        const struct page *page = page_at(core->engine, word_offset(word));
        uint32_t depth = page_word_depth(word);
        reap_home(core, page, depth, table->home++);
        if (table->home < PAGE_HOMES)
            continue;
        page_discard(core, page);
        table->home = 0;
        table->entry += 1ull << (global - depth);
    }
}

bool
reap_tend(struct core *core)
{
    struct engine *engine = core->engine;
    for (unsigned i = 0; core->reaping && i < TABLES; i++) {
        struct table *table = &engine->table[i];
        if (atomic_load(&table->reaper) != core->index + 1)
            continue;
        if (atomic_load(&table->splits) == 0 && grace_over(&engine->grace, table->token)) {
            reap_slice(core, table);
            break;
        }
    }
    return core->reaping != 0;
}
