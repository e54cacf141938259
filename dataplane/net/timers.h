/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer wheel: one level of slots, 4 ms apart, a good half minute around. A timer that is further off waits in the
 * last slot and is looked at again then. Arming is lazy: one that is asked to fire later than it is set stays where
 * it is; whoever takes it out finds that nothing is due yet and arms it anew. So a connection that works pays a
 * comparison a batch, not a list operation.
 * Threads: the owning core's.
 */
#ifndef DATAPLANE_NET_TIMERS_H
#define DATAPLANE_NET_TIMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define TIMER_TICK_SHIFT 12u /* 4096 us */
#define TIMER_SLOTS      8192u

struct timer {
    LIST_ENTRY(timer) link;
    uint64_t tick; /* 0 = not armed */
};
LIST_HEAD(timer_list, timer);

struct timers {
    uint64_t tick; /* all earlier slots are done */
    unsigned armed;
    uint64_t occupied[TIMER_SLOTS / 64];
    struct timer_list slot[TIMER_SLOTS];
};

void timers_init(struct timers *timers, uint64_t now_us);

/* Fire no later than a tick after at_us (UINT64_MAX: no wish). Leaves an earlier setting in place. */
void timer_arm(struct timers *timers, struct timer *timer, uint64_t at_us);
void timer_cancel(struct timers *timers, struct timer *timer);

/* The next timer whose slot's time has come, taken out of the wheel; NULL: none. */
struct timer *timers_take(struct timers *timers, uint64_t now_us);

/* When the next slot with a timer in it comes up; UINT64_MAX: never. */
uint64_t timers_next(const struct timers *timers);

#endif
