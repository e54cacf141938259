/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables: extendible hash from a key to the one word that points to its record.
 *
 *     ROOTS word -> roots record -> directory[leading hash bits] -> page -> home bucket -> stash bucket -> ...
 *
 * A directory entry is a word whose tag holds the page's depth, so that the way to a bucket touches no page header.
 * The bits right below the directory's choose the home bucket, the low 16 are the tag: a bucket that splits falls
 * apart into exactly two, and SCAN can walk hash prefixes.
 *
 * Inline: this is the path of every command.
 */
#ifndef PMEM_TABLE_H
#define PMEM_TABLE_H

#include <errno.h>
#include <string.h>

#include "pmem/engine_internal.h"

/* A key's home. */
struct place {
    const struct page *page;
    const struct bucket *home;
    uint32_t id;    /* of the table */
    uint32_t depth; /* of the page */
};

/* A word in a chain, and the record that it names. */
struct hit {
    const struct bucket *bucket;
    const uint64_t *slot;
    uint64_t word;
    const struct record *record;
};

/* ---- words that name pages ---- */

static inline uint64_t
page_word(uint64_t offset, uint32_t depth)
{
    return word_present(offset, depth);
}

static inline uint32_t
page_word_depth(uint64_t w)
{
    return (uint32_t)((w & WORD_TAG_MASK) >> WORD_TAG_SHIFT);
}

/* The pages for the lower and the upper half of one that is being split. False: no split was begun. */
static inline bool
page_children(const struct engine *engine, const struct page *page, const struct page *child[2])
{
    bool both = true;
    for (unsigned half = 0; half < 2; half++) {
        uint64_t word = word_load(&page->header.child[half]);
        child[half] = page_at(engine, word_offset(word));
        both = both && word && word_good(word);
    }
    return both;
}

static inline uint64_t
directory_index(uint64_t hash, uint32_t depth)
{
    return depth ? hash >> (64 - depth) : 0;
}

/* The home of a hash in a page: the fraction below the page's prefix, times PAGE_HOMES, exactly. */
static inline unsigned
home_index(uint64_t hash, uint32_t depth)
{
    return (unsigned)((unsigned __int128)(hash << depth) * PAGE_HOMES >> 64);
}

/* ---- ROOTS ---- */

/* Check what a ROOTS word names, which this core has not met before. 0 or -EBADMSG. */
int roots_check(struct core *core, uint64_t word);

/* The roots as of now: one load of the ROOTS word. 0 or -EBADMSG. */
static inline int
roots_load(struct core *core)
{
    uint64_t word = word_load(core->roots_word);
    return __builtin_expect(word == core->roots_seen, 1) ? 0 : roots_check(core, word);
}

/* ROOTS may not be durable yet: what is told of it must wait for its line. */
static inline void
roots_depend(struct core *core)
{
    uint64_t stamp = atomic_load_explicit(&core->engine->roots_stamp, memory_order_acquire);
    if (non_durable(core->engine, stamp))
        depend(core, core->roots_word);
}

/*
 * Before a word is published: the ROOTS that led to it is durable first (the CAS is the fence). Else a crash could
 * undo a SWAPDB, but not a write that came after it, which would then show in the other database.
 */
static inline void
roots_settle(struct core *core)
{
    uint64_t stamp = atomic_load_explicit(&core->engine->roots_stamp, memory_order_acquire);
    if (__builtin_expect(!non_durable(core->engine, stamp), 1) ||
        (core->settled_word == core->roots_seen && core->settled_stamp == stamp))
        return;
    persist_flush(core->roots_word, sizeof(*core->roots_word), SITE_FLUSH_ROOTS_WORD);
    core->settled_word = core->roots_seen;
    core->settled_stamp = stamp;
}

/* ---- the way down ---- */

/* A damaged link ends the chain, so that no walk goes in a circle; whoever says that a key is absent sees it too. */
static inline const struct bucket *
chain_next(const struct page *page, const struct bucket *bucket)
{
    uint64_t control = word_load(&bucket->control), link = control & WORD_LINK_MASK;
    return link && link < PAGE_LINES && word_good(control) ? (const struct bucket *)page + link : NULL;
}

/* From a home that a split has MOVED to the child's. 0 or -EBADMSG. */
static inline int
place_follow(struct core *core, uint64_t hash, struct place *at)
{
    uint64_t control;
    while ((control = word_load(&at->home->control)) & WORD_MOVED) {
        depend(core, at->home);
        uint64_t child = word_load(&at->page->header.child[hash << at->depth >> 63]);
        if (!child || !word_good(child) || !word_good(control))
            return -EBADMSG;
        at->page = (const struct page *)(const void *)(core->base + word_offset(child));
        at->depth = page_word_depth(child);
        at->home = &at->page->home[home_index(hash, at->depth)];
    }
    return 0;
}

/* The home of a hash in the table of a root. 0; -ENOENT: there is no table; -EBADMSG. */
static inline int
root_walk(struct core *core, const struct root *root, uint64_t hash, struct place *at)
{
    if (!root->id)
        return -ENOENT;
    const uint64_t *entry = (const uint64_t *)(const void *)(core->base + root->directory);
    uint64_t word = word_load(&entry[directory_index(hash, root->depth)]);
    if (!word || !word_good(word))
        return -EBADMSG;
    at->id = root->id;
    at->depth = page_word_depth(word);
    at->page = (const struct page *)(const void *)(core->base + word_offset(word));
    at->home = &at->page->home[home_index(hash, at->depth)];
    return place_follow(core, hash, at);
}

/* The same, but for the cache only: NULL where it is not obvious. */
static inline const struct bucket *
root_home(const struct core *core, const struct root *root, uint64_t hash)
{
    if (!root->id)
        return NULL;
    const uint64_t *entry = (const uint64_t *)(const void *)(core->base + root->directory);
    uint64_t word = word_load(&entry[directory_index(hash, root->depth)]);
    const struct page *page = (const struct page *)(const void *)(core->base + word_offset(word));
    return word_good(word) ? &page->home[home_index(hash, page_word_depth(word))] : NULL;
}

/* The home of a hash in a database, by the roots as of now. 0; -ENOENT: the database is empty; -EBADMSG. */
static inline int
table_walk(struct core *core, unsigned db, uint64_t hash, struct place *at)
{
    int rc = roots_load(core);
    if (rc)
        return rc;
    roots_depend(core);
    return root_walk(core, &core->roots->db[db], hash, at);
}

/* ---- chains ---- */

static inline const struct record *
record_of(const struct core *core, uint64_t word)
{
    return (const struct record *)(const void *)(core->base + word_offset(word));
}

/* A record may be where this word points: it lies in the pool, its lengths in its segment. */
static inline bool
word_names_record(const struct core *core, uint64_t word)
{
    uint64_t offset = word_offset(word);
    return offset + sizeof(struct record) <= core->engine->pool->size &&
           record_fits(record_of(core, word), SEGMENT_SIZE - offset % SEGMENT_SIZE);
}

/*
 * The hash of the key that a present word of this home names. False: EMPTY or TENT, or so damaged that the key cannot
 * be told (its hash would not lead here).
 */
bool chain_hash(const struct core *core, uint64_t word, uint32_t depth, unsigned home, uint64_t *hash);

uint32_t page_header_crc(const struct page_header *header);

/* The header, or its copy, whichever is whole; NULL if neither. */
const struct page_header *page_header(const struct page *page);

/* A present word with this tag, not TENT. */
#define TAG_MASK (WORD_PRESENT | WORD_TENT | WORD_TAG_MASK)

static inline uint64_t
tag_wanted(uint64_t hash)
{
    return WORD_PRESENT | (hash & 0xffff) << WORD_TAG_SHIFT;
}

/* Bit per slot whose word has the tag; without a branch that depends on which. */
static inline unsigned
bucket_match(const struct bucket *bucket, uint64_t wanted)
{
    unsigned match = 0;
#pragma GCC unroll 7
    for (unsigned i = 0; i < BUCKET_SLOTS; i++)
        match |= (unsigned)((word_load(&bucket->slot[i]) & TAG_MASK) == wanted) << i;
    return match;
}

/* What is wrong with a word that matches by its tag but whose record has another key. */
bool chain_damaged(struct core *core, uint64_t word);

/*
 * The key's word in the chain of its home. 0 and *hit; -ENOENT; -EBADMSG: a word that may be the key's is damaged.
 * TENT words do not count. The value's CRC is not checked here.
 */
static inline int
chain_find(struct core *core, const struct place *at, const struct key *key, struct hit *hit)
{
    const uint64_t wanted = tag_wanted(key->hash);
    int rc = -ENOENT;
    for (const struct bucket *b = at->home; b; b = chain_next(at->page, b)) {
        persist_yield();
        for (unsigned match = bucket_match(b, wanted); match; match &= match - 1) {
            const uint64_t *slot = &b->slot[__builtin_ctz(match)];
            uint64_t word = word_load(slot);
            if ((word & TAG_MASK) != wanted)
                continue; /* displaced this moment */
            const struct record *record = record_of(core, word);
            if (__builtin_expect(word_good(word) && word_names_record(core, word), 1) && record->klen == key->len &&
                memcmp(record_key(record), key->data, key->len) == 0) {
                *hit = (struct hit){.bucket = b, .slot = slot, .word = word, .record = record};
                return 0;
            }
            if (chain_damaged(core, word))
                rc = -EBADMSG;
        }
    }
    return rc;
}

/* DEPS += the lines of the chain up to a bucket of it */
static inline void
chain_depend(struct core *core, const struct place *at, const struct bucket *last)
{
    for (const struct bucket *b = at->home; b; b = b == last ? NULL : chain_next(at->page, b))
        depend(core, b);
}

/*
 * The key is not in its chain: DEPS += the line of every NON-DURABLE EMPTY. -ENOENT, or -EBADMSG if a word of the
 * chain is damaged, since that one may have been the key's.
 */
int chain_absent(struct core *core, const struct place *at);

/* A record's key is expired: absent, and to be deleted by whoever says so. */
static inline bool
record_expired(const struct core *core, const struct record *record)
{
    int64_t expire_ms = record_expire_ms(record);
    return expire_ms && (int64_t)core->now_ms > expire_ms;
}

/* DELETE of a word that is not HELD. False: another core changed it first; nothing happened. */
bool chain_delete(struct core *core, const struct place *at, const struct hit *hit);

/* The same for one whose time is over. 0; -EAGAIN: HELD; 1: lost, look again. */
int chain_expire(struct core *core, const struct place *at, const struct hit *hit);

/* What a record holds, for those who ask. */
static inline void
entry_of(const struct record *record, struct entry *entry)
{
    entry->value = record_value(record);
    entry->len = record->vlen;
    entry->type = record_type(record);
    entry->flags = record_flags(record) & RECORD_RAW;
    entry->expire_ms = record_expire_ms(record);
}

/* A record met by a command fails its CRC: counted. */
int record_damaged(struct core *core);

#endif
