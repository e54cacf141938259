/* SPDX-License-Identifier: BSD-3-Clause */
/* Table pages: runs of bits in the segments that are set aside for them. */
#include "pmem/space_internal.h"

#include "pmem/persist.h"

#define NO_RUN 64u

/* Bits of the pages that word w of a segment stands for. */
static uint64_t
valid(unsigned w)
{
    unsigned pages = PAGES_PER_SEGMENT > w * 64 ? PAGES_PER_SEGMENT - w * 64 : 0;
    return pages >= 64 ? UINT64_MAX : (1ull << pages) - 1;
}

static uint64_t
run_mask(unsigned first, unsigned count)
{
    return (count >= 64 ? UINT64_MAX : (1ull << count) - 1) << first;
}

/* First of count set bits in a row, or NO_RUN. */
static unsigned
find_run(uint64_t bits, unsigned count)
{
    for (unsigned i = 1; i < count && bits; i++)
        bits &= bits >> 1;
    return bits ? (unsigned)__builtin_ctzll(bits) : NO_RUN;
}

/* Take count <= 64 pages in a row out of one word of the segment; the first page's number, or -1. */
static int
claim_run(struct segment *segment, unsigned count)
{
    for (unsigned w = 0; w < 2 && valid(w); w++) {
        uint64_t used = relaxed(&segment->pages[w]);
        for (unsigned first; (first = find_run(~used & valid(w), count)) != NO_RUN;)
            if (__atomic_compare_exchange_n(&segment->pages[w], &used, used | run_mask(first, count), false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return (int)(w * 64 + first);
    }
    return -1;
}

static bool
segment_full(const struct segment *segment)
{
    return !(~relaxed(&segment->pages[0]) & valid(0)) && !(~relaxed(&segment->pages[1]) & valid(1));
}

/* Pages out of a segment that has some left; 0 if none has so many in a row. */
static uint64_t
alloc_from_roomy(struct space *space, unsigned count)
{
    for (uint64_t i = 0; i < space->roomy.count; i++) {
        for (uint64_t word = relaxed(&space->roomy.words[i]); word; word &= word - 1) {
            uint64_t index = i * 64 + (uint64_t)__builtin_ctzll(word);
            struct segment *segment = &space->segment[index];
            int page = claim_run(segment, count);
            if (segment_full(segment)) {
                set_remove(&space->roomy, index);
                if (!segment_full(segment)) /* freed in between */
                    set_add(&space->roomy, index);
            }
            if (page >= 0) {
                /* Another core may have opened it and not fenced yet. */
                segment_mark(space, index, SEGMENT_TABLE);
                return index * SEGMENT_SIZE + (uint64_t)page * PAGE_SIZE_TABLE;
            }
        }
    }
    return 0;
}

uint64_t
space_pages_alloc(struct space *space, unsigned count, bool urgent)
{
    if (!count || count > PAGES_PER_SEGMENT)
        return 0;
    uint64_t offset = count <= 64 ? alloc_from_roomy(space, count) : 0;
    if (offset)
        return offset;
    uint64_t index = segment_take(space, urgent);
    if (!index)
        return 0;
    segment_mark(space, index, SEGMENT_TABLE);
    struct segment *segment = &space->segment[index];
    segment_become(segment, STATE_TABLE);
    __atomic_store_n(&segment->pages[1], count > 64 ? run_mask(0, count - 64) : 0, __ATOMIC_RELEASE);
    __atomic_store_n(&segment->pages[0], run_mask(0, count), __ATOMIC_RELEASE);
    if (count < PAGES_PER_SEGMENT)
        set_add(&space->roomy, index);
    return index * SEGMENT_SIZE;
}

/* If no page is used, claim them all, so that nobody can take one, and give the segment back. */
static void
reclaim_if_unused(struct space *space, uint64_t index)
{
    struct segment *segment = &space->segment[index];
    for (unsigned w = 0; w < 2; w++) {
        uint64_t unused = 0;
        if (!__atomic_compare_exchange_n(&segment->pages[w], &unused, UINT64_MAX, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED)) {
            if (w == 1)
                __atomic_store_n(&segment->pages[0], 0, __ATOMIC_RELEASE);
            return;
        }
    }
    set_remove(&space->roomy, index);
    segment_emptied(space, index);
}

void
space_pages_free(struct space *space, uint64_t offset, unsigned count)
{
    uint64_t index = offset / SEGMENT_SIZE;
    struct segment *segment = &space->segment[index];
    unsigned first = (unsigned)(offset % SEGMENT_SIZE / PAGE_SIZE_TABLE);
    for (unsigned page = first; page < first + count;) {
        unsigned bit = page % 64, run = first + count - page < 64 - bit ? first + count - page : 64 - bit;
        __atomic_fetch_and(&segment->pages[page / 64], ~run_mask(bit, run), __ATOMIC_ACQ_REL);
        page += run;
    }
    set_add(&space->roomy, index);
    reclaim_if_unused(space, index);
}

void
space_adopt_pages(struct space *space, uint64_t offset, unsigned count)
{
    uint64_t index = offset / SEGMENT_SIZE;
    struct segment *segment = &space->segment[index];
    if (segment->state != STATE_TABLE) {
        segment->state = STATE_TABLE;
        segment->pages[0] = segment->pages[1] = 0;
        set_add(&space->roomy, index);
    }
    unsigned first = (unsigned)(offset % SEGMENT_SIZE / PAGE_SIZE_TABLE);
    for (unsigned page = first; page < first + count; page++)
        segment->pages[page / 64] |= 1ull << page % 64;
}
