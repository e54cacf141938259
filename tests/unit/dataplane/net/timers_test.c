/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel against a plain array of wishes. */
#include "dataplane/net/timers.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

#define TICK_US (1ull << TIMER_TICK_SHIFT)

static struct timers timers;

static void
fires_on_time(void)
{
    struct timer timer = {0};
    timers_init(&timers, 1000000);
    CU_ASSERT_EQUAL(timers_next(&timers), UINT64_MAX);
    CU_ASSERT_PTR_NULL(timers_take(&timers, 5000000));
    timer_arm(&timers, &timer, 6000000);
    uint64_t next = timers_next(&timers);
    CU_ASSERT(next >= 6000000 && next < 6000000 + TICK_US);
    CU_ASSERT_PTR_NULL(timers_take(&timers, next - 1));
    CU_ASSERT_PTR_EQUAL(timers_take(&timers, next), &timer);
    CU_ASSERT_EQUAL(timer.tick, 0);
    CU_ASSERT_PTR_NULL(timers_take(&timers, next + 10000000));
}

static void
an_earlier_wish_moves_it_a_later_one_does_not(void)
{
    struct timer timer = {0};
    timers_init(&timers, 1000000);
    timer_arm(&timers, &timer, 9000000);
    timer_arm(&timers, &timer, UINT64_MAX);
    timer_arm(&timers, &timer, 5000000);
    CU_ASSERT(timers_next(&timers) < 5000000 + TICK_US);
    timer_arm(&timers, &timer, 9000000);
    CU_ASSERT(timers_next(&timers) < 5000000 + TICK_US);
    timer_cancel(&timers, &timer);
    CU_ASSERT_EQUAL(timers_next(&timers), UINT64_MAX);
    timer_cancel(&timers, &timer);
    CU_ASSERT_EQUAL(timers.armed, 0);
}

static void
a_time_already_past_fires_at_once(void)
{
    struct timer timer = {0};
    timers_init(&timers, 1000000);
    CU_ASSERT_PTR_NULL(timers_take(&timers, 2000000));
    timer_arm(&timers, &timer, 1);
    CU_ASSERT_PTR_EQUAL(timers_take(&timers, 2000000 + TICK_US), &timer);
}

static void
beyond_the_horizon_it_is_looked_at_again(void)
{
    struct timer timer = {0};
    const uint64_t start = 1000000, at = start + 300000000;
    uint64_t now = start;
    unsigned looks = 0;
    timers_init(&timers, start);
    timer_arm(&timers, &timer, at);
    for (;;) {
        now = timers_next(&timers);
        CU_ASSERT_PTR_EQUAL_FATAL(timers_take(&timers, now), &timer);
        if (now >= at)
            break;
        timer_arm(&timers, &timer, at);
        looks++;
    }
    CU_ASSERT(now < at + TICK_US);
    CU_ASSERT(looks >= 1 && looks <= 300000000 / (TIMER_SLOTS * TICK_US) + 1);
}

/* Random wishes, cancellations and steps of time. Nothing fires early, late or twice. */
#define COUNT 500u
static void
random_walk(void)
{
    static struct timer timer[COUNT];
    static uint64_t wish[COUNT]; /* 0 = none */
    unsigned seed = 20261;
    uint64_t now = 1u << 30;
    printf(" seed %u ", seed);
    srand(seed);
    timers_init(&timers, now);
    for (unsigned step = 0; step < 200000; step++) {
        unsigned i = (unsigned)rand() % COUNT;
        if (rand() % 8 == 0) {
            timer_cancel(&timers, &timer[i]);
            wish[i] = 0;
        } else {
            uint64_t at = now + (uint64_t)(rand() % 3 ? rand() % 100000 : rand() % 40000000);
            timer_arm(&timers, &timer[i], at);
            if (wish[i] == 0 || at < wish[i])
                wish[i] = at;
        }
        now += (uint64_t)(rand() % 5000);
        struct timer *fired;
        while ((fired = timers_take(&timers, now)) != NULL) {
            unsigned k = (unsigned)(fired - timer);
            CU_ASSERT_FATAL(wish[k] != 0);
            if (wish[k] > now)
                timer_arm(&timers, fired, wish[k]); /* from beyond the horizon */
            else
                wish[k] = 0;
        }
        for (unsigned k = 0; step % 64 == 0 && k < COUNT; k++)
            CU_ASSERT_FATAL(wish[k] == 0 || wish[k] + TICK_US > now);
    }
}

static const struct unit_test tests[] = {
    {"fires on time", fires_on_time},
    {"an earlier wish moves it, a later one does not", an_earlier_wish_moves_it_a_later_one_does_not},
    {"a time already past fires at once", a_time_already_past_fires_at_once},
    {"beyond the horizon it is looked at again", beyond_the_horizon_it_is_looked_at_again},
    {"random walk", random_walk},
};
UNIT_MAIN("timers", tests)
