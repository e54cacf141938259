/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel. */
#include "dataplane/net/timers.h"

#include <string.h>

void
timers_init(struct timers *timers, uint64_t now_us)
{
    memset(timers, 0, sizeof(*timers));
    timers->tick = (now_us >> TIMER_TICK_SHIFT) + 1;
}

static unsigned
slot_of(uint64_t tick)
{
    return (unsigned)(tick % TIMER_SLOTS);
}

static void
take_out(struct timers *timers, struct timer *timer)
{
    unsigned slot = slot_of(timer->tick);
    LIST_REMOVE(timer, link);
    if (LIST_EMPTY(&timers->slot[slot]))
        timers->occupied[slot / 64] &= ~(1ull << slot % 64);
    timer->tick = 0;
    timers->armed--;
}

void
timer_arm(struct timers *timers, struct timer *timer, uint64_t at_us)
{
    if (at_us == UINT64_MAX)
        return;
    uint64_t tick = (at_us + (1u << TIMER_TICK_SHIFT) - 1) >> TIMER_TICK_SHIFT;
    if (timer->tick && timer->tick <= tick)
        return;
    if (timer->tick)
        take_out(timers, timer);
    if (tick < timers->tick)
        tick = timers->tick;
    if (tick >= timers->tick + TIMER_SLOTS)
        tick = timers->tick + TIMER_SLOTS - 1;
    unsigned slot = slot_of(tick);
    timer->tick = tick;
    LIST_INSERT_HEAD(&timers->slot[slot], timer, link);
    timers->occupied[slot / 64] |= 1ull << slot % 64;
    timers->armed++;
}

void
timer_cancel(struct timers *timers, struct timer *timer)
{
    if (timer->tick)
        take_out(timers, timer);
}

/* The first tick from timers->tick on whose slot is occupied; needs armed > 0. */
static uint64_t
next_tick(const struct timers *timers)
{
    unsigned start = slot_of(timers->tick);
    uint64_t bits = timers->occupied[start / 64] >> start % 64;
    if (bits)
        return timers->tick + (unsigned)__builtin_ctzll(bits);
    uint64_t tick = timers->tick + 64 - start % 64;
    while (!(bits = timers->occupied[slot_of(tick) / 64]))
        tick += 64;
    return tick + (unsigned)__builtin_ctzll(bits);
}

struct timer *
timers_take(struct timers *timers, uint64_t now_us)
{
    uint64_t now = now_us >> TIMER_TICK_SHIFT;
    uint64_t next = timers->armed ? next_tick(timers) : UINT64_MAX;
    if (next > now) {
        if (timers->tick <= now)
            timers->tick = now + 1;
        return NULL;
    }
    timers->tick = next;
    struct timer *timer = LIST_FIRST(&timers->slot[slot_of(next)]);
    take_out(timers, timer);
    return timer;
}

uint64_t
timers_next(const struct timers *timers)
{
    return timers->armed ? next_tick(timers) << TIMER_TICK_SHIFT : UINT64_MAX;
}
