/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What space.c, space_pages.c and space_victim.c share: the DRAM state of the segments.
 *
 *     FREE -> OPEN -> CLOSED <-> VICTIM        records
 *               CLOSED -> WAITING -> FREE      empty, until its grace period is over
 *     FREE -> TABLE -> WAITING -> FREE         pages
 *
 * Whoever brings a segment's balance to 0 has emptied it, and is the only one to see that: the balance is BIAS while
 * the segment is open, so it reaches 0 only after it was closed; and a victim carries a pin, so it is not given back
 * under the one who reads it. An emptied segment is put into a set, from which space_tend takes it.
 */
#ifndef PMEM_SPACE_INTERNAL_H
#define PMEM_SPACE_INTERNAL_H

#include "pmem/space.h"

#define PAGES_PER_SEGMENT (SEGMENT_SIZE / PAGE_SIZE_TABLE)
static_assert(PAGES_PER_SEGMENT <= 128, "two words say which pages of a segment are used");

enum segment_state {
    STATE_UNKNOWN,
    STATE_SYSTEM,
    STATE_FREE,
    STATE_OPEN,
    STATE_CLOSED,
    STATE_VICTIM,
    STATE_WAITING,
    STATE_TABLE
};

#define BALANCE_BIAS (1ll << 40) /* while open; sizes are multiples of UNIT_SIZE and stay far below */
#define BALANCE_PIN  1ll

struct segment {
    int64_t balance;   /* live bytes (+ BIAS - used while open) (+ PIN); atomic */
    uint64_t token;    /* grace period since it was closed, or since it waits */
    uint64_t pages[2]; /* bit set: that page is used, or the segment holds no pages at all; atomic */
    uint32_t used;     /* bytes appended when it was closed */
    uint32_t next;     /* in the list of those that wait */
    uint8_t state;     /* atomic */
} __attribute__((aligned(LINE_SIZE)));

/* A set of segments: bits in words, each changed by one atomic instruction. */
struct segment_set {
    uint64_t *words;
    uint64_t count; /* of words */
};

struct stream {
    uint64_t next, end; /* room in the open segment; both 0 = none is open */
};

struct space_core {
    struct stream stream[SPACE_STREAMS];
    uint32_t largest; /* record appended so far: what a segment's tail may waste */
} __attribute__((aligned(LINE_SIZE)));

struct space {
    struct pool *pool;
    struct grace *grace;
    unsigned cores;
    struct segment *segment;
    uint64_t reserve;                        /* segments kept for compaction and urgent writes */
    struct segment_set free, emptied, roomy; /* roomy: table segments that may have free pages */
    struct space_core *core;
    uint64_t free_count;    /* atomic; not above the bits in free */
    uint64_t emptied_count; /* atomic */
    uint64_t victims;       /* claimed ones; atomic */
    uint64_t victim_cursor;
    uint8_t tending; /* try-lock over the list of those that wait */
    uint32_t waiting_head, waiting_tail;
    uint64_t waiting; /* atomic for readers */
    uint64_t tends;   /* how often space_tend looked; what space_hopeful found is kept until the next time */
    uint64_t hope;    /* tends << 1 | answer */
};

static inline uint64_t
relaxed(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint64_t
segment_token(const struct segment *segment)
{
    return __atomic_load_n(&segment->token, __ATOMIC_RELAXED);
}

static inline enum segment_state
segment_state(const struct segment *segment)
{
    return (enum segment_state)__atomic_load_n(&segment->state, __ATOMIC_ACQUIRE);
}

static inline void
segment_become(struct segment *segment, enum segment_state state)
{
    __atomic_store_n(&segment->state, (uint8_t)state, __ATOMIC_RELEASE);
}

static inline void
set_add(struct segment_set *set, uint64_t index)
{
    __atomic_fetch_or(&set->words[index / 64], 1ull << index % 64, __ATOMIC_ACQ_REL);
}

/* True if it was in. */
static inline bool
set_remove(struct segment_set *set, uint64_t index)
{
    uint64_t bit = 1ull << index % 64;
    return __atomic_fetch_and(&set->words[index / 64], ~bit, __ATOMIC_ACQ_REL) & bit;
}

/* A segment out of the free ones, or 0; not below the reserve unless urgent. */
uint64_t segment_take(struct space *space, bool urgent);

/* Nothing in it is live any more. */
void segment_emptied(struct space *space, uint64_t index);

/* Store and flush the segment's word. */
void segment_mark(struct space *space, uint64_t index, enum segment_kind kind);

/* Bytes that compaction would win back. */
uint64_t segment_garbage(const struct segment *segment);

/* Below this a segment is not worth compacting, even for a writer in need. */
#define GARBAGE_MIN (SEGMENT_SIZE / 32)

#endif
