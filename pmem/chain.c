/* SPDX-License-Identifier: BSD-3-Clause */
/* Room in a chain: a free slot, or a stash bucket more; where a page runs out of them it is split. */
#include "pmem/chain.h"

#include "pmem/split.h"

#define ALL_STASHES ((PAGE_STASHES < 64 ? 1ull << PAGE_STASHES : 0) - 1)
#define SPLIT_AT    (PAGE_STASHES * 2 / 3) /* early: uniform keys fill all pages at about the same time */

int
stash_take(struct page_state *state)
{
    uint64_t used = atomic_load(&state->stash);
    while (used != ALL_STASHES) {
        int line = __builtin_ctzll(~used);
        if (atomic_compare_exchange_weak(&state->stash, &used, used | 1ull << line))
            return line;
    }
    return -1;
}

/* The page has no stash line left: its split must come first, if it can. */
static int
page_full(struct core *core, const struct place *at, struct page_state *state)
{
    struct space *space = core->engine->space;
    int outlook = atomic_exchange(&state->outlook, SPLIT_POSSIBLE); /* as of the last try, maybe long ago */
    split_request(core, at);
    if (outlook == SPLIT_AT_LIMIT)
        return -ENOSPC;
    uint64_t page = outlook == SPLIT_NO_PAGES ? space_pages_alloc(space, 1, false) : 0;
    if (outlook == SPLIT_NO_PAGES && !page)
        return no_room(core);
    if (page)
        space_pages_free(space, page, 1);
    count(&core->counts.deferred, 1);
    return -EAGAIN;
}

/* Link one more stash bucket, durably zeroed first, behind the last of the chain. */
static int
chain_extend(struct core *core, const struct place *at, struct room *room)
{
    struct page_state *state = page_state(core->engine, at->page);
    if (atomic_load(&state->filling)) {
        count(&core->counts.deferred, 1);
        return -EAGAIN;
    }
    int line = stash_take(state);
    if (line < 0)
        return page_full(core, at, state);
    if ((unsigned)__builtin_popcountll(atomic_load(&state->stash)) > SPLIT_AT)
        split_request(core, at);
    const struct bucket *stash = &at->page->stash[line];
    persist_copy(stash, NULL, sizeof(*stash));
    persist_flush(stash, sizeof(*stash), SITE_FLUSH_STASH);
    uint64_t control = word_load(&room->last->control);
    uint64_t link = (uint64_t)(stash - (const struct bucket *)at->page);
    persist_cas(&room->last->control, control, word_with(control, link)); /* ours alone: the latch */
    *room = (struct room){.slot = &stash->slot[0], .word = 0, .last = stash};
    return 0;
}

int
chain_room(struct core *core, const struct place *at, struct room *room)
{
    *room = (struct room){0};
    for (const struct bucket *b = at->home; b; b = chain_next(at->page, b)) {
        bool flush = false;
        room->last = b;
        if (!word_good(word_load(&b->control)))
            return record_damaged(core);
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            uint64_t word = word_load(&b->slot[i]);
            if (!word_good(word))
                return record_damaged(core);
            bool empty = !(word & WORD_PRESENT);
            flush |= empty && word && non_durable(core->engine, word_stamp(word));
            if (!room->slot && (empty || word & WORD_TENT)) {
                room->slot = &b->slot[i];
                room->word = word;
            }
        }
        if (flush)
            persist_flush(b, sizeof(*b), SITE_FLUSH_EMPTY);
    }
    return room->slot ? 0 : chain_extend(core, at, room);
}
