/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables: the paths that are taken seldom. */
#include "pmem/table.h"

#include <stddef.h>

#include "pmem/crc.h"
#include "pmem/siphash.h"

static const struct roots no_roots = {.next_id = 1};

int
record_damaged(struct core *core)
{
    count(&core->crc_errors, 1);
    return -EBADMSG;
}

int
roots_check(struct core *core, uint64_t word)
{
    const struct roots *roots = &no_roots;
    if (word) {
        const struct record *record = record_of(core, word);
        if (!word_good(word) || !word_names_record(core, word) || record_type(record) != RECORD_ROOTS ||
            record->vlen != sizeof(struct roots) || !record_good(record))
            return record_damaged(core);
        roots = (const struct roots *)(const void *)record_value(record);
    }
    core->roots = roots;
    core->roots_seen = word;
    return 0;
}

bool
chain_hash(const struct core *core, uint64_t word, uint32_t depth, unsigned home, uint64_t *hash)
{
    if (!(word & WORD_PRESENT) || word & WORD_TENT || !word_good(word) || !word_names_record(core, word))
        return false;
    const struct record *record = record_of(core, word);
    *hash = siphash13(core->engine->pool->super.hash_key, record_key(record), record->klen);
    return word_tag_is(word, *hash) && home_index(*hash, depth) == home;
}

uint32_t
page_header_crc(const struct page_header *header)
{
    uint32_t crc = crc32c_more(CRC32C_BEGIN, header, offsetof(struct page_header, crc));
    return crc32c_end(crc32c_more(crc, &header->prefix, sizeof(header->prefix)));
}

const struct page_header *
page_header(const struct page *page)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct page_header *header = &page->header + i;
        if (header->magic == PAGE_MAGIC && header->crc == page_header_crc(header))
            return header;
    }
    return NULL;
}

bool
chain_damaged(struct core *core, uint64_t word)
{
    if (word_good(word) && word_names_record(core, word) && record_good(record_of(core, word)))
        return false; /* another key with the same tag */
    record_damaged(core);
    return true;
}

int
chain_absent(struct core *core, const struct place *at)
{
    int rc = -ENOENT;
    for (const struct bucket *b = at->home; b; b = chain_next(at->page, b)) {
        if (!word_good(word_load(&b->control)))
            rc = record_damaged(core);
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            uint64_t word = word_load(&b->slot[i]);
            if (!word)
                continue;
            if (!word_good(word))
                rc = record_damaged(core);
            else if (!(word & WORD_PRESENT) && non_durable(core->engine, word_stamp(word)))
                depend(core, b);
        }
    }
    return rc;
}

bool
chain_delete(struct core *core, const struct place *at, const struct hit *hit)
{
    uint32_t size = record_total(hit->record);
    bool expiring = record_has_expiry(hit->record);
    roots_settle(core);
    if (!persist_cas(hit->slot, hit->word, word_empty(core_stamp(core)))) {
        count(&core->counts.lost_cas, 1);
        return false;
    }
    chain_depend(core, at, hit->bucket);
    space_dead(core->engine->space, word_offset(hit->word), size);
    tally(core, at->id, -1, -(int64_t)expiring);
    return true;
}

int
chain_expire(struct core *core, const struct place *at, const struct hit *hit)
{
    if (hit->word & WORD_HELD) {
        count(&core->counts.deferred, 1);
        return -EAGAIN;
    }
    if (!chain_delete(core, at, hit))
        return 1;
    count(&core->counts.expired, 1);
    return 0;
}
