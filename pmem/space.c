/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments: opened, filled, emptied, given back after a grace period. */
#include "pmem/space_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pmem/persist.h"
#include "pmem/word.h"

#define FREED_AT_ONCE 32u /* segments that one space_tend gives back: one fence for all of them */

static void *
zeroed(size_t count, size_t size)
{
    size_t bytes = (count * size + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE;
    void *p = aligned_alloc(LINE_SIZE, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

static bool
set_init(struct segment_set *set, uint64_t segments)
{
    set->count = (segments + 63) / 64;
    set->words = zeroed(set->count, sizeof(uint64_t));
    return set->words;
}

struct space *
space_open(struct pool *pool, struct grace *grace, unsigned cores)
{
    struct space *space = zeroed(1, sizeof(*space));
    if (!space)
        return NULL;
    space->pool = pool;
    space->grace = grace;
    space->cores = cores;
    space->hope = UINT64_MAX; /* never looked */
    /* Two for a compaction that wastes the tail of one, one for pages or ROOTS; more where many cores compact. */
    uint64_t more = pool->segments / 32;
    space->reserve = 3 + (more < cores ? more : cores);
    space->segment = zeroed(pool->segments, sizeof(*space->segment));
    space->core = zeroed(cores, sizeof(*space->core));
    if (!space->segment || !space->core || !set_init(&space->free, pool->segments) ||
        !set_init(&space->emptied, pool->segments) || !set_init(&space->roomy, pool->segments)) {
        space_free(space);
        return NULL;
    }
    for (uint64_t i = 0; i < pool->segments; i++) {
        struct segment *segment = &space->segment[i];
        segment->pages[0] = segment->pages[1] = UINT64_MAX;
        segment->state = i < pool->system_segments ? STATE_SYSTEM : STATE_UNKNOWN;
    }
    return space;
}

void
space_free(struct space *space)
{
    free(space->free.words);
    free(space->emptied.words);
    free(space->roomy.words);
    free(space->segment);
    free(space->core);
    free(space);
}

/* ---- taking and marking ---- */

/* Take one off the count first: then there is a bit for everyone who got through. */
static bool
reserve_one(struct space *space, uint64_t keep)
{
    uint64_t count = relaxed(&space->free_count);
    do {
        if (count <= keep)
            return false;
    } while (
        !__atomic_compare_exchange_n(&space->free_count, &count, count - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return true;
}

uint64_t
segment_take(struct space *space, bool urgent)
{
    if (!reserve_one(space, urgent ? 0 : space->reserve))
        return 0;
    for (uint64_t i = 0;; i = (i + 1) % space->free.count) {
        uint64_t word = relaxed(&space->free.words[i]);
        if (!word) {
            if (i + 1 == space->free.count)
                persist_yield(); /* others took what was seen, and gave back behind the search */
            continue;
        }
        uint64_t index = i * 64 + (uint64_t)__builtin_ctzll(word);
        if (set_remove(&space->free, index))
            return index;
    }
}

void
segment_mark(struct space *space, uint64_t index, enum segment_kind kind)
{
    const uint64_t *word = &space->pool->segment_words[index];
    persist_store(word, word_seal(kind));
    if (kind == SEGMENT_FREE)
        persist_flush(word, sizeof(*word), SITE_FLUSH_SEGMENT_FREE);
    else
        persist_flush(word, sizeof(*word), SITE_FLUSH_SEGMENT_USED);
}

void
segment_emptied(struct space *space, uint64_t index)
{
    set_add(&space->emptied, index);
    __atomic_fetch_add(&space->emptied_count, 1, __ATOMIC_RELEASE);
}

static void
balance_add(struct space *space, uint64_t index, int64_t bytes)
{
    if (__atomic_add_fetch(&space->segment[index].balance, bytes, __ATOMIC_ACQ_REL) == 0)
        segment_emptied(space, index);
}

/* ---- appending ---- */

static void
stream_close(struct space *space, struct stream *stream)
{
    uint64_t index = (stream->end - 1) / SEGMENT_SIZE;
    struct segment *segment = &space->segment[index];
    uint32_t used = (uint32_t)(stream->next - index * SEGMENT_SIZE);
    __atomic_store_n(&segment->used, used, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->token, grace_start(space->grace), __ATOMIC_RELAXED);
    __atomic_store_n(&stream->next, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->end, 0, __ATOMIC_RELAXED);
    segment_become(segment, STATE_CLOSED);
    balance_add(space, index, used - BALANCE_BIAS);
}

/*
 * No new segment is to be had. Keep the open one for smaller records, unless it is as good as full, or holds garbage:
 * a closed one can be compacted.
 */
static void
stream_keep_or_close(struct space *space, struct stream *stream)
{
    if (!stream->end)
        return;
    uint64_t index = (stream->end - 1) / SEGMENT_SIZE;
    int64_t balance = __atomic_load_n(&space->segment[index].balance, __ATOMIC_RELAXED);
    if (stream->end - stream->next < GARBAGE_MIN || BALANCE_BIAS - balance >= (int64_t)GARBAGE_MIN)
        stream_close(space, stream);
}

static bool
stream_open(struct space *space, struct stream *stream, bool urgent)
{
    uint64_t index = segment_take(space, urgent);
    if (!index) {
        stream_keep_or_close(space, stream);
        return false;
    }
    if (stream->end)
        stream_close(space, stream);
    segment_mark(space, index, SEGMENT_RECORDS);
    struct segment *segment = &space->segment[index];
    __atomic_store_n(&segment->balance, BALANCE_BIAS, __ATOMIC_RELAXED);
    segment_become(segment, STATE_OPEN);
    __atomic_store_n(&stream->next, index * SEGMENT_SIZE, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->end, (index + 1) * SEGMENT_SIZE, __ATOMIC_RELAXED);
    return true;
}

uint64_t
space_append(struct space *space, unsigned core, enum space_stream which, uint32_t size, bool urgent)
{
    struct space_core *mine = &space->core[core];
    struct stream *stream = &mine->stream[which];
    size = (size + UNIT_SIZE - 1) / UNIT_SIZE * UNIT_SIZE;
    if (size > mine->largest) {
        if (size > SEGMENT_SIZE)
            return 0;
        __atomic_store_n(&mine->largest, size, __ATOMIC_RELAXED);
    }
    if (stream->end - stream->next < size && !stream_open(space, stream, urgent || which == SPACE_COLD))
        return 0;
    uint64_t offset = stream->next;
    __atomic_store_n(&stream->next, offset + size, __ATOMIC_RELAXED);
    return offset;
}

void
space_dead(struct space *space, uint64_t offset, uint32_t size)
{
    int64_t bytes = (size + UNIT_SIZE - 1) / UNIT_SIZE * UNIT_SIZE;
    balance_add(space, offset / SEGMENT_SIZE, -bytes);
}

/* ---- giving back ---- */

static void
wait_for_grace(struct space *space, uint64_t index, uint64_t token)
{
    struct segment *segment = &space->segment[index];
    __atomic_store_n(&segment->token, token, __ATOMIC_RELAXED);
    segment->next = 0;
    segment_become(segment, STATE_WAITING);
    if (space->waiting_head)
        space->segment[space->waiting_tail].next = (uint32_t)index;
    else
        space->waiting_head = (uint32_t)index;
    space->waiting_tail = (uint32_t)index;
    __atomic_fetch_add(&space->waiting, 1, __ATOMIC_RELAXED);
}

/* Move what was emptied to the list of those that wait: one grace period for all of them. */
static void
collect_emptied(struct space *space)
{
    if (!relaxed(&space->emptied_count))
        return;
    uint64_t token = 0;
    for (uint64_t i = 0; i < space->emptied.count; i++) {
        if (!relaxed(&space->emptied.words[i]))
            continue;
        uint64_t word = __atomic_exchange_n(&space->emptied.words[i], 0, __ATOMIC_ACQ_REL);
        __atomic_fetch_sub(&space->emptied_count, (uint64_t)__builtin_popcountll(word), __ATOMIC_RELAXED);
        token = grace_start(space->grace); /* after the exchange: what was emptied was so before it */
        for (; word; word &= word - 1)
            wait_for_grace(space, i * 64 + (uint64_t)__builtin_ctzll(word), token);
    }
}

/* Those at the head of the list whose grace period is over become FREE, durably, and only then can be taken. */
static void
free_waiting(struct space *space)
{
    uint32_t freed[FREED_AT_ONCE];
    unsigned count = 0;
    while (count < FREED_AT_ONCE && space->waiting_head &&
           grace_over(space->grace, space->segment[space->waiting_head].token)) {
        uint32_t index = space->waiting_head;
        space->waiting_head = space->segment[index].next;
        segment_mark(space, index, SEGMENT_FREE);
        freed[count++] = index;
    }
    if (!count)
        return;
    persist_fence(SITE_FENCE_SEGMENT_FREE);
    for (unsigned i = 0; i < count; i++) {
        segment_become(&space->segment[freed[i]], STATE_FREE);
        set_add(&space->free, freed[i]);
    }
    __atomic_fetch_sub(&space->waiting, count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&space->free_count, count, __ATOMIC_RELEASE);
}

bool
space_tend(struct space *space, unsigned core)
{
    (void)core; /* whoever comes first does it for all */
    __atomic_fetch_add(&space->tends, 1, __ATOMIC_RELAXED);
    if (!relaxed(&space->emptied_count) && !relaxed(&space->waiting))
        return false;
    if (__atomic_exchange_n(&space->tending, 1, __ATOMIC_ACQUIRE))
        return true;
    collect_emptied(space);
    free_waiting(space);
    __atomic_store_n(&space->tending, 0, __ATOMIC_RELEASE);
    return relaxed(&space->emptied_count) || relaxed(&space->waiting);
}

/* ---- recovery ---- */

void
space_adopt(struct space *space, uint64_t offset, uint32_t size)
{
    struct segment *segment = &space->segment[offset / SEGMENT_SIZE];
    segment->state = STATE_CLOSED;
    segment->used = SEGMENT_SIZE; /* how far it was filled is unknown; the rest counts as garbage */
    segment->balance += (size + UNIT_SIZE - 1) / UNIT_SIZE * UNIT_SIZE;
}

static enum segment_kind
adopted_kind(const struct segment *segment)
{
    switch (segment_state(segment)) {
    case STATE_CLOSED:
        return SEGMENT_RECORDS;
    case STATE_TABLE:
        return SEGMENT_TABLE;
    default:
        return SEGMENT_FREE;
    }
}

void
space_recovered(struct space *space)
{
    bool marked = false;
    for (uint64_t i = space->pool->system_segments; i < space->pool->segments; i++) {
        enum segment_kind kind = adopted_kind(&space->segment[i]);
        if (space->pool->segment_words[i] != word_seal(kind)) {
            segment_mark(space, i, kind);
            marked = true;
        }
        if (kind == SEGMENT_FREE) {
            segment_become(&space->segment[i], STATE_FREE);
            set_add(&space->free, i);
            space->free_count++;
        }
    }
    if (marked)
        persist_fence(SITE_FENCE_SEGMENT_FREE);
}
