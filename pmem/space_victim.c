/* SPDX-License-Identifier: BSD-3-Clause */
/* Which segment to compact, how urgent that is, and what there is in all. */
#include "pmem/space_internal.h"

/* How many segments one search looks at, so that it stays short however large the pool is. */
#define WINDOW 4096u

static int64_t
live_bytes(const struct segment *segment)
{
    return __atomic_load_n(&segment->balance, __ATOMIC_RELAXED) & ~(BALANCE_PIN);
}

uint64_t
segment_garbage(const struct segment *segment)
{
    int64_t garbage = __atomic_load_n(&segment->used, __ATOMIC_RELAXED) - live_bytes(segment);
    return garbage > 0 ? (uint64_t)garbage : 0;
}

/* Would the core find room for all of a victim's live bytes, a wasted tail included? */
static bool
room_for(const struct space *space, unsigned core, int64_t live)
{
    uint64_t largest = 0, victims = relaxed(&space->victims), free_count = relaxed(&space->free_count);
    for (unsigned i = 0; i < space->cores; i++) {
        uint32_t seen = __atomic_load_n(&space->core[i].largest, __ATOMIC_RELAXED);
        largest = seen > largest ? seen : largest;
    }
    const struct stream *cold = &space->core[core].stream[SPACE_COLD];
    uint64_t next = relaxed(&cold->next), end = relaxed(&cold->end);
    uint64_t room = end > next ? end - next : 0;
    if (free_count > 2 * victims) /* others at it may need two each */
        room += (free_count - 2 * victims) * SEGMENT_SIZE;
    return room >= (uint64_t)live + largest;
}

/* Pin it, unless it is empty already, and make it a victim. */
static bool
claim(struct space *space, uint64_t index)
{
    struct segment *segment = &space->segment[index];
    int64_t balance = __atomic_load_n(&segment->balance, __ATOMIC_RELAXED);
    do {
        if (balance <= 0)
            return false;
    } while (!__atomic_compare_exchange_n(&segment->balance, &balance, balance + BALANCE_PIN, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    uint8_t closed = STATE_CLOSED;
    if (__atomic_compare_exchange_n(&segment->state, &closed, STATE_VICTIM, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true;
    if (__atomic_sub_fetch(&segment->balance, BALANCE_PIN, __ATOMIC_ACQ_REL) == 0)
        segment_emptied(space, index);
    return false;
}

/* The segment of the window with most garbage, at least `least`; 0 if there is none. */
static uint64_t
best_in_window(struct space *space, unsigned core, uint64_t least)
{
    uint64_t segments = space->pool->segments, best = 0;
    uint64_t window = segments < WINDOW ? segments : WINDOW;
    uint64_t from = __atomic_fetch_add(&space->victim_cursor, window < segments ? window : 0, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < window; i++) {
        uint64_t index = (from + i) % segments;
        const struct segment *segment = &space->segment[index];
        if (segment_state(segment) != STATE_CLOSED)
            continue;
        uint64_t garbage = segment_garbage(segment);
        if (garbage < least || live_bytes(segment) == 0 || !grace_over(space->grace, segment_token(segment)) ||
            !room_for(space, core, live_bytes(segment)))
            continue;
        best = index;
        least = garbage + 1;
    }
    return best;
}

int64_t
space_claim_victim(struct space *space, unsigned core, bool pressure)
{
    uint64_t best = best_in_window(space, core, pressure ? GARBAGE_MIN : SEGMENT_SIZE / 4);
    if (!best || !claim(space, best))
        return -1;
    __atomic_fetch_add(&space->victims, 1, __ATOMIC_RELAXED);
    /* It may have been given back, opened and closed since it was looked at. */
    if (grace_over(space->grace, segment_token(&space->segment[best])))
        return (int64_t)best;
    space_release(space, (int64_t)best, false);
    return -1;
}

void
space_release(struct space *space, int64_t victim, bool done)
{
    struct segment *segment = &space->segment[victim];
    if (done) /* a segment that is not emptied by this has no garbage that could be had */
        __atomic_store_n(&segment->used, (uint32_t)live_bytes(segment), __ATOMIC_RELAXED);
    segment_become(segment, STATE_CLOSED);
    __atomic_fetch_sub(&space->victims, 1, __ATOMIC_RELAXED);
    if (__atomic_sub_fetch(&segment->balance, BALANCE_PIN, __ATOMIC_ACQ_REL) == 0)
        segment_emptied(space, (uint64_t)victim);
}

int
space_pressure(const struct space *space)
{
    uint64_t count = relaxed(&space->free_count), soon = space->pool->segments / 32;
    uint64_t usable = count > space->reserve ? count - space->reserve : 0;
    if (usable <= space->cores)
        return 2;
    if (soon < 2 * space->cores + 1)
        soon = 2 * space->cores + 1;
    return usable <= soon;
}

/* Is there a closed segment that some core could compact? */
static bool
victim_exists(const struct space *space)
{
    for (uint64_t i = space->pool->system_segments; i < space->pool->segments; i++) {
        const struct segment *segment = &space->segment[i];
        enum segment_state state = segment_state(segment);
        if (state == STATE_VICTIM)
            return true;
        if (state != STATE_CLOSED || segment_garbage(segment) < GARBAGE_MIN)
            continue;
        for (unsigned core = 0; core < space->cores; core++)
            if (room_for(space, core, live_bytes(segment)))
                return true;
    }
    return false;
}

bool
space_hopeful(struct space *space)
{
    if (relaxed(&space->emptied_count) || relaxed(&space->waiting))
        return true;
    if (space->pool->segments <= WINDOW)
        return victim_exists(space);
    uint64_t tends = relaxed(&space->tends), known = relaxed(&space->hope);
    if (known >> 1 == tends)
        return known & 1;
    bool exists = victim_exists(space);
    __atomic_store_n(&space->hope, tends << 1 | exists, __ATOMIC_RELAXED);
    return exists;
}

static void
add_open(const struct space *space, struct space_usage *usage)
{
    for (unsigned core = 0; core < space->cores; core++) {
        for (unsigned i = 0; i < SPACE_STREAMS; i++) {
            uint64_t next = relaxed(&space->core[core].stream[i].next), end = relaxed(&space->core[core].stream[i].end);
            if (!next || next > end) /* none, or being changed */
                continue;
            uint64_t index = (end - 1) / SEGMENT_SIZE, used = next - index * SEGMENT_SIZE;
            int64_t dead = BALANCE_BIAS - live_bytes(&space->segment[index]);
            uint64_t garbage = dead > 0 && dead < BALANCE_BIAS / 2 ? (uint64_t)dead : 0;
            usage->garbage_bytes += garbage;
            usage->live_bytes += used > garbage ? used - garbage : 0;
            usage->writable_bytes += i == SPACE_HOT ? end - next : 0;
        }
    }
}

static void
add_pages(const struct segment *segment, struct space_usage *usage)
{
    usage->segments_table++;
    usage->pages += PAGES_PER_SEGMENT;
    for (unsigned page = 0; page < PAGES_PER_SEGMENT; page++)
        usage->pages_used += relaxed(&segment->pages[page / 64]) >> page % 64 & 1;
}

void
space_usage(const struct space *space, struct space_usage *usage)
{
    *usage = (struct space_usage){.segments = space->pool->segments};
    for (uint64_t i = 0; i < space->pool->segments; i++) {
        const struct segment *segment = &space->segment[i];
        switch (segment_state(segment)) {
        case STATE_FREE:
            usage->segments_free++;
            break;
        case STATE_OPEN:
            usage->segments_records++;
            break;
        case STATE_CLOSED:
        case STATE_VICTIM:
            usage->segments_records++;
            usage->live_bytes += (uint64_t)live_bytes(segment);
            usage->garbage_bytes += segment_garbage(segment);
            if (segment_garbage(segment) >= GARBAGE_MIN)
                usage->writable_bytes += segment_garbage(segment);
            break;
        case STATE_WAITING:
            usage->segments_waiting++;
            usage->writable_bytes += SEGMENT_SIZE;
            break;
        case STATE_TABLE:
            add_pages(segment, usage);
            break;
        case STATE_UNKNOWN:
        case STATE_SYSTEM:
            break;
        }
    }
    add_open(space, usage);
    if (usage->segments_free > space->reserve)
        usage->writable_bytes += (usage->segments_free - space->reserve) * SEGMENT_SIZE;
}
