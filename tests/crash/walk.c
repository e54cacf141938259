/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a crash image by its layout. */
#include "tests/crash/walk.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pmem/crc.h"
#include "pmem/record.h"
#include "pmem/siphash.h"
#include "pmem/word.h"
#include "tests/crash/keys.h"

#define UNITS (WALK_SEGMENTS * (SEGMENT_SIZE / UNIT_SIZE))

struct walk {
    const uint8_t *image;
    uint64_t size;
    struct reached *reached;
    const struct superblock *super;
    const struct root *root;
    unsigned db;
    uint8_t used[UNITS / 8]; /* bit: a record or page lies there */
};

static bool __attribute__((format(printf, 2, 3))) problem(struct walk *walk, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(walk->reached->problem, sizeof(walk->reached->problem), format, arguments);
    va_end(arguments);
    return false;
}

/* Something lies at [offset, offset + bytes): alone, and in a segment whose word says so. */
static bool
occupy(struct walk *walk, uint64_t offset, uint64_t bytes, enum segment_kind kind)
{
    static const char *const kinds[] = {"free", "system", "records", "table"};
    uint64_t segment = offset / SEGMENT_SIZE;
    if (offset < SEGMENT_SIZE || offset > walk->size || bytes > walk->size - offset ||
        (offset + bytes - 1) / SEGMENT_SIZE != segment)
        return problem(walk, "%s at %#lx, which is out of bounds", kinds[kind], offset);
    for (uint64_t unit = offset / UNIT_SIZE; unit < (offset + bytes + UNIT_SIZE - 1) / UNIT_SIZE; unit++) {
        if (walk->used[unit / 8] >> unit % 8 & 1)
            return problem(walk, "%s at %#lx overlaps another", kinds[kind], offset);
        walk->used[unit / 8] |= (uint8_t)(1 << unit % 8);
    }
    uint64_t word;
    memcpy(&word, walk->image + SEGMENTS_OFFSET + segment * sizeof(word), sizeof(word));
    if (word != word_seal(kind))
        return problem(walk, "%s at %#lx, in a segment whose word is %#lx", kinds[kind], offset, word);
    walk->reached->kind[segment] = (uint8_t)kind;
    return true;
}

static bool
occupied(const struct walk *walk, uint64_t offset)
{
    return offset < walk->size && walk->used[offset / UNIT_SIZE / 8] >> offset / UNIT_SIZE % 8 & 1;
}

static bool
whole(const struct superblock *super)
{
    return super->magic == SUPERBLOCK_MAGIC && crc64(super, offsetof(struct superblock, crc)) == super->crc;
}

static bool
find_superblock(struct walk *walk)
{
    for (unsigned copy = 0; copy < 2; copy++) {
        const struct superblock *super = (const void *)(walk->image + copy * SUPERBLOCK_COPY);
        if (whole(super) && (!walk->super || super->generation > walk->super->generation))
            walk->super = super;
    }
    return walk->super || problem(walk, "no superblock is whole");
}

/* ---- records ---- */

static const struct record *
record_at(struct walk *walk, uint64_t word)
{
    uint64_t offset = word_offset(word);
    const struct record *record = (const void *)(walk->image + offset);
    if (offset >= walk->size || !record_fits(record, SEGMENT_SIZE - offset % SEGMENT_SIZE) || !record_good(record)) {
        problem(walk, "a word names no good record, at %#lx", offset);
        return NULL;
    }
    if (!occupy(walk, offset, record_total(record), SEGMENT_RECORDS))
        return NULL;
    walk->reached->live_bytes += record_total(record);
    return record;
}

static unsigned
home_of(uint64_t hash, uint32_t depth)
{
    return (unsigned)((unsigned __int128)(hash << depth) * PAGE_HOMES >> 64);
}

static bool
take_word(struct walk *walk, const struct page_header *header, unsigned home, uint64_t word)
{
    if (!word_good(word))
        return problem(walk, "a bad word, %#lx", word);
    if (!(word & WORD_PRESENT) || word & WORD_TENT)
        return true;
    const struct record *record = record_at(walk, word);
    if (!record)
        return false;
    uint64_t hash = siphash13(walk->super->hash_key, record_key(record), record->klen);
    bool prefix_right = header->depth == 0 || (hash ^ header->prefix) >> (64 - header->depth) == 0;
    unsigned name = name_find(record_key(record), record->klen);
    int64_t number = value_number(record_value(record), record->vlen);
    if (name == NAMES || number < 0 || record->owner != walk->root->id)
        return problem(walk, "a record that nobody wrote, at %#lx", word_offset(word));
    if (!word_tag_is(word, hash) || !prefix_right || home_of(hash, header->depth) != home)
        return problem(walk, "k%u in a bucket that is not its own", name);
    if (((number & EXPIRES) != 0) != record_has_expiry(record))
        return problem(walk, "k%u with another one's expiry", name);
    if (walk->reached->state.cell[name].number[walk->db])
        return problem(walk, "k%u twice in db %u", name, walk->db);
    walk->reached->state.cell[name].number[walk->db] = number;
    walk->reached->keys[walk->db]++;
    return true;
}

/* ---- pages ---- */

static bool
take_chain(struct walk *walk, const struct page *page, unsigned home)
{
    const struct bucket *lines = (const void *)page, *bucket = &page->home[home];
    for (unsigned n = 0; n <= PAGE_STASHES; n++) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++)
            if (!take_word(walk, &page->header, home, bucket->slot[i]))
                return false;
        uint64_t link = bucket->control & WORD_LINK_MASK;
        if (!word_good(bucket->control))
            return problem(walk, "a bad control word, %#lx", bucket->control);
        if (!link)
            return true;
        bucket = lines + link;
        if (link >= PAGE_LINES || bucket < page->stash)
            return problem(walk, "a link that leads to line %lu", link);
    }
    return problem(walk, "a chain without end");
}

static const struct page *
page_at(struct walk *walk, uint64_t word, uint32_t depth)
{
    uint64_t offset = word_offset(word);
    if (!word || !word_good(word) || offset % PAGE_SIZE_TABLE || offset >= walk->size) {
        problem(walk, "a bad word for a page, %#lx", word);
        return NULL;
    }
    const struct page *page = (const void *)(walk->image + offset);
    const struct page_header *header = &page->header;
    uint32_t crc = crc32c_more(CRC32C_BEGIN, header, offsetof(struct page_header, crc));
    crc = crc32c_end(crc32c_more(crc, &header->prefix, sizeof(header->prefix)));
    if (header->magic != PAGE_MAGIC || header->crc != crc || header->owner != walk->root->id ||
        header->depth != depth || (word & WORD_TAG_MASK) >> WORD_TAG_SHIFT != depth) {
        problem(walk, "the header of the page at %#lx is not that of db %u, depth %u", offset, walk->db, depth);
        return NULL;
    }
    return page;
}

static bool
occupy_page(struct walk *walk, uint64_t word)
{
    walk->reached->pages++;
    return occupy(walk, word_offset(word), PAGE_SIZE_TABLE, SEGMENT_TABLE);
}

/* A page, and where its split has begun what is in the children. */
static bool
take_page(struct walk *walk, uint64_t word, uint32_t depth)
{
    const struct page *page = page_at(walk, word, depth), *child[2] = {NULL, NULL};
    const uint64_t *name = page ? page->header.child : NULL;
    if (!page || (!occupied(walk, word_offset(word)) && !occupy_page(walk, word)))
        return false;
    bool splitting = name[0] && name[1], fresh[2] = {false, false};
    for (unsigned half = 0; splitting && half < 2; half++) {
        child[half] = page_at(walk, name[half], depth + 1);
        fresh[half] = !occupied(walk, word_offset(name[half]));
        if (!child[half] || (fresh[half] && !occupy_page(walk, name[half])))
            return false;
    }
    for (unsigned home = 0; home < PAGE_HOMES; home++) {
        unsigned half = home / (PAGE_HOMES / 2), first = home % (PAGE_HOMES / 2) * 2;
        if (!(page->home[home].control & WORD_MOVED)) {
            if (!take_chain(walk, page, home))
                return false;
        } else if (!splitting) {
            return problem(walk, "a bucket is MOVED to nowhere");
        } else if (fresh[half] &&
                   (!take_chain(walk, child[half], first) || !take_chain(walk, child[half], first + 1))) {
            return false;
        }
    }
    return true;
}

/* ---- trees ---- */

/* The entries of a page lie side by side; a child that took its place may have only some of them yet. */
static bool
take_directory(struct walk *walk)
{
    const struct root *root = walk->root;
    uint64_t bytes = sizeof(uint64_t) << root->depth, pages = (bytes + PAGE_SIZE_TABLE - 1) / PAGE_SIZE_TABLE;
    if (!occupy(walk, root->directory, pages * PAGE_SIZE_TABLE, SEGMENT_TABLE))
        return false;
    walk->reached->pages += pages;
    const uint64_t *entry = (const void *)(walk->image + root->directory);
    for (uint64_t i = 0; i >> root->depth == 0; i++) {
        uint32_t depth = (uint32_t)((entry[i] & WORD_TAG_MASK) >> WORD_TAG_SHIFT);
        if (!word_good(entry[i]) || depth > root->depth)
            return problem(walk, "a bad directory entry, %#lx", entry[i]);
        bool met = false;
        for (uint64_t j = 0; j < i; j++)
            met |= entry[j] == entry[i];
        const struct page *page = page_at(walk, entry[i], depth);
        if (!page || (depth && (page->header.prefix ^ i << (64 - root->depth)) >> (64 - depth)))
            return problem(walk, "directory entry %lu leads to a page of another prefix", i);
        if (!met && !take_page(walk, entry[i], depth))
            return false;
    }
    return true;
}

static bool
walk_from_superblock(struct walk *walk)
{
    uint64_t word;
    memcpy(&word, walk->image + ROOTS_OFFSET, sizeof(word));
    if (!word_good(word))
        return problem(walk, "a bad ROOTS word, %#lx", word);
    if (!word)
        return true;
    const struct record *record = record_at(walk, word);
    if (!record || record_type(record) != RECORD_ROOTS || record->vlen != sizeof(struct roots))
        return problem(walk, "the ROOTS word names no ROOTS record");
    const struct roots *roots = (const void *)record_value(record);
    for (unsigned db = 0; db < DATABASES; db++) {
        walk->root = &roots->db[db];
        walk->db = db;
        if (!walk->root->id)
            continue;
        if (db >= DBS)
            return problem(walk, "db %u was never used", db);
        if (!take_directory(walk))
            return false;
    }
    return true;
}

bool
walk_image(const uint8_t *image, uint64_t size, struct reached *reached)
{
    struct walk walk = {.image = image, .size = size, .reached = reached};
    memset(reached, 0, sizeof(*reached));
    return find_superblock(&walk) && walk_from_superblock(&walk);
}
