/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory's part of growth, under the table's growth lock (a try-lock in DRAM, kept over several slices):
 * double it if the split page has its full depth, then let the entries of that page name the children.
 */
#include "pmem/roots.h"
#include "pmem/split.h"

#define ENTRIES_SLICE 1024u

static void
growth_unlock(struct core *core)
{
    atomic_store(&core->split.table->growing, false);
}

/* Not now: other pages first. */
static bool
put_off(struct core *core)
{
    struct split *s = &core->split;
    growth_unlock(core);
    page_queue_push(core->engine, &core->splits, page_number(core->engine, s->page));
    s->phase = SPLIT_IDLE;
    return false;
}

/* All buckets are durably MOVED. */
static bool
lock_directory(struct core *core)
{
    struct split *s = &core->split;
    struct engine *engine = core->engine;
    if (atomic_exchange(&s->table->growing, true))
        return true;
    int rc = roots_load(core); /* under the lock: another core may have doubled it a moment ago */
    int db = roots_find(core, s->id);
    if (rc || (db < 0 && !atomic_load(&s->table->reaper))) {
        growth_unlock(core);
        return true; /* emptied this moment */
    }
    s->root = db < 0 ? s->table->reaped : core->roots->db[db];
    s->next_entry = 0;
    if (s->root.depth > s->depth) {
        s->phase = SPLIT_ENTRIES; /* also in a dead table, so that no page has entries beside those of its children */
    } else if (db < 0) {
        growth_unlock(core);
        split_end(core, true);
    } else {
        if (sizeof(uint64_t) << (s->root.depth + 1) <= SEGMENT_SIZE)
            s->directory = space_pages_alloc(engine->space, directory_pages(s->root.depth + 1), false);
        if (!s->directory)
            return put_off(core);
        s->phase = SPLIT_DOUBLE;
    }
    return true;
}

/* The doubled directory is whole: ROOTS names it, durably, before any entry of it may change. */
static void
publish(struct core *core)
{
    struct split *s = &core->split;
    struct engine *engine = core->engine;
    struct root root = {.directory = s->directory, .depth = s->root.depth + 1, .id = s->id};
    int rc, db;
    persist_fence(SITE_FENCE_DIRECTORY);
    do {
        if (roots_load(core) != 0)
            return;
        db = roots_find(core, s->id);
        if (db < 0) { /* emptied meanwhile; the reaper goes by the old directory */
            space_pages_free(engine->space, s->directory, directory_pages(root.depth));
            growth_unlock(core);
            split_end(core, true);
            return;
        }
        struct roots roots = *core->roots;
        roots.db[db] = root;
        rc = roots_install(core, &roots);
    } while (rc > 0);
    if (rc)
        return; /* no room for the record now */
    persist_flush(core->roots_word, sizeof(*core->roots_word), SITE_FLUSH_DOUBLED);
    persist_fence(SITE_FENCE_DOUBLED);
    limbo_add(core, s->root.directory, directory_pages(s->root.depth));
    s->root = root;
    s->next_entry = 0;
    s->phase = SPLIT_ENTRIES;
}

static void
double_slice(struct core *core)
{
    struct split *s = &core->split;
    const uint64_t *from = pool_at(core->engine->pool, s->root.directory);
    const uint64_t *to = pool_at(core->engine->pool, s->directory);
    uint64_t all = 1ull << s->root.depth, first = s->next_entry;
    uint64_t end = all - first < ENTRIES_SLICE ? all : first + ENTRIES_SLICE;
    for (uint64_t i = first; i < end; i++) {
        uint64_t word = word_load(&from[i]);
        persist_store(&to[2 * i], word);
        persist_store(&to[2 * i + 1], word);
    }
    if (end > first)
        persist_flush(&to[2 * first], (end - first) * 2 * sizeof(*to), SITE_FLUSH_DIRECTORY);
    s->next_entry = end;
    if (end == all)
        publish(core);
}

static void
entries_slice(struct core *core)
{
    struct split *s = &core->split;
    struct engine *engine = core->engine;
    const uint64_t *entry =
        (const uint64_t *)pool_at(engine->pool, s->root.directory) + directory_index(s->prefix, s->root.depth);
    uint64_t all = 1ull << (s->root.depth - s->depth), first = s->next_entry;
    uint64_t end = all - first < ENTRIES_SLICE ? all : first + ENTRIES_SLICE;
    for (uint64_t i = first; i < end; i++) {
        const struct page *child = s->child[i >= all / 2];
        persist_store(&entry[i], page_word(pool_offset(engine->pool, child), s->depth + 1));
    }
    persist_flush(&entry[first], (end - first) * sizeof(*entry), SITE_FLUSH_ENTRIES);
    s->next_entry = end;
    if (end < all)
        return;
    persist_fence(SITE_FENCE_ENTRIES); /* no entry names the old page any more: it may go */
    growth_unlock(core);
    for (unsigned half = 0; half < 2; half++)
        atomic_store(&page_state(engine, s->child[half])->filling, 0);
    limbo_add(core, pool_offset(engine->pool, s->page), 1);
    count(&core->splits_done, 1);
    split_end(core, true);
}

bool
directory_tend(struct core *core)
{
    struct split *s = &core->split;
    if (s->phase == SPLIT_LOCK && !lock_directory(core))
        return false;
    if (s->phase == SPLIT_DOUBLE)
        double_slice(core);
    else if (s->phase == SPLIT_ENTRIES)
        entries_slice(core);
    return true;
}
