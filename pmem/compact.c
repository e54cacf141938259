/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COMPACT: copy what lives out of a segment that is mostly garbage, so that the segment can be freed.
 *
 * A record lives if its key's word names it. It is copied as it is (stamp and CRC too), and once the copies are
 * durable each word is swung by CAS, unless it changed meanwhile. The segment is freed when its last record is dead
 * and a grace period is over, never because its end was reached: a damaged record keeps its segment.
 */
#include "pmem/roots.h"
#include "pmem/siphash.h"
#include "pmem/table.h"

#define GROUP       32u         /* records a FENCE */
#define GROUP_BYTES (64u << 10) /* copied bytes after which a group ends */
#define HURRY       4u          /* groups a slice when writers are about to fail */

struct candidate {
    const struct record *record;
    uint64_t hash;
    const struct root *root; /* NULL: the ROOTS record, or its table is gone */
    const uint64_t *slot;    /* the word that names it, NULL = dead or HELD */
    bool held;
    uint64_t word, to;
};

struct group {
    struct candidate of[GROUP];
    unsigned used;
    bool end; /* of the segment's records */
};

/* The next records of the victim, with their homes on the way to the cache. */
static void
gather(struct core *core, struct group *group)
{
    struct engine *engine = core->engine;
    struct compaction *c = &core->compaction;
    uint64_t end = ((uint64_t)c->segment + 1) * SEGMENT_SIZE;
    for (group->used = 0; group->used < GROUP; group->used++) {
        const struct record *record = pool_at(engine->pool, c->offset);
        group->end = c->offset == end || !record_fits(record, end - c->offset) || !record_good(record);
        if (group->end)
            return;
        struct candidate *n = &group->of[group->used];
        *n = (struct candidate){.record = record};
        int db = roots_find(core, record->owner);
        if (db >= 0) {
            n->root = &core->roots->db[db];
            n->hash = siphash13(engine->pool->super.hash_key, record_key(record), record->klen);
            __builtin_prefetch(root_home(core, n->root, n->hash));
        }
        c->offset += record_total(record);
    }
}

/* The word that names the record, if one does and no split has it in hand. */
static void
find_word(struct core *core, struct candidate *n)
{
    struct place at;
    uint64_t offset = pool_offset(core->engine->pool, n->record);
    if (record_type(n->record) == RECORD_ROOTS) {
        n->word = word_load(core->roots_word);
        n->slot = n->word && word_offset(n->word) == offset ? core->roots_word : NULL;
        return;
    }
    if (!n->root || root_walk(core, n->root, n->hash, &at) != 0)
        return;
    for (const struct bucket *b = at.home; b; b = chain_next(at.page, b)) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            n->word = word_load(&b->slot[i]);
            if (!word_tag_is(n->word, n->hash) || word_offset(n->word) != offset)
                continue;
            n->held = n->word & (WORD_HELD | WORD_TENT);
            if (!n->held && word_good(n->word))
                n->slot = &b->slot[i];
            return;
        }
    }
}

/* Copy what lives, up to the group's bytes. False: no room for copies. */
static bool
copy(struct core *core, struct group *group)
{
    struct engine *engine = core->engine;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < group->used; i++) {
        struct candidate *n = &group->of[i];
        find_word(core, n);
        core->compaction.held |= n->held;
        if (!n->slot)
            continue;
        uint32_t size = record_total(n->record);
        n->to = bytes < GROUP_BYTES ? space_append(engine->space, core->index, SPACE_COLD, size, true) : 0;
        if (!n->to) { /* the next group begins here */
            core->compaction.offset = pool_offset(engine->pool, n->record);
            group->used = i;
            group->end = false;
            return bytes != 0;
        }
        persist_copy(pool_at(engine->pool, n->to), n->record, size);
        persist_flush(pool_at(engine->pool, n->to), size, SITE_FLUSH_MOVE);
        bytes += size;
    }
    if (bytes)
        persist_fence(SITE_FENCE_MOVE);
    return true;
}

static void
swing(struct core *core, const struct group *group)
{
    struct space *space = core->engine->space;
    for (unsigned i = 0; i < group->used; i++) {
        const struct candidate *n = &group->of[i];
        if (!n->slot)
            continue;
        uint32_t size = record_total(n->record);
        uint64_t tag = (n->word & WORD_TAG_MASK) >> WORD_TAG_SHIFT;
        persist_yield();
        if (!persist_cas(n->slot, n->word, word_present(n->to, tag))) {
            space_dead(space, n->to, size);
            continue;
        }
        depend(core, n->slot);
        space_dead(space, word_offset(n->word), size);
        count(&core->compacted_bytes, size);
    }
}

/* False: the victim is done with, or given back for now. */
static bool
compact_group(struct core *core)
{
    struct group group;
    if (roots_load(core) != 0)
        return false;
    gather(core, &group);
    bool room = copy(core, &group);
    swing(core, &group);
    if (room && !group.end)
        return true;
    space_release(core->engine->space, core->compaction.segment, room && !core->compaction.held);
    core->compaction.segment = -1;
    return false;
}

bool
compact_tend(struct core *core)
{
    struct compaction *c = &core->compaction;
    struct space *space = core->engine->space;
    int pressure = space_pressure(space);
    if (c->segment < 0 && pressure) {
        c->segment = space_claim_victim(space, core->index, pressure > 1);
        c->offset = (uint64_t)c->segment * SEGMENT_SIZE;
        c->held = false;
    }
    if (c->segment < 0)
        return false;
    for (unsigned n = 0; n < (pressure > 1 ? HURRY : 1); n++) {
        if (!compact_group(core))
            break;
    }
    return true;
}
