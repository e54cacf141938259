/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop. */
#include "dataplane/core.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "dataplane/command/session.h"
#include "dataplane/core_stats.h"
#include "dataplane/mailbox.h"

#define SPIN_US       50      /* without work: look again at once for so long, ... */
#define PAUSE_US      500     /* ... then with pauses up to here, ... */
#define SLEEP_US      50      /* ... then sleep, at first so long, ... */
#define LAZY_US       1000000 /* ... and after so long without work ... */
#define LAZY_SLEEP_US 1000    /* ... so long */
#define PAUSES        64
#define GOODBYE_US    200000 /* how long clients have to take their last replies when the server stops */

struct core_loop {
    struct worker *worker;
    struct core_stats stats;
    uint64_t turn_tsc, work_us; /* when this turn began, when work was last found */
    struct batch_requests batch;
};

static uint64_t us_per_tsc; /* 2^64 / cycles a microsecond */

static uint64_t
tsc_to_us(uint64_t tsc)
{
    return (uint64_t)((unsigned __int128)tsc * us_per_tsc >> 64);
}

uint64_t
core_clock_us(void)
{
    if (us_per_tsc == 0)
        us_per_tsc = (uint64_t)(((unsigned __int128)1000000 << 64) / rte_get_tsc_hz());
    return tsc_to_us(rte_rdtsc());
}

uint64_t
core_tsc_hz(void)
{
    return rte_get_tsc_hz();
}

static uint64_t
wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Stages 3 to 6, for the requests of a batch. Nothing of their replies leaves before this returns. */
static void
run_batch(struct core_loop *loop)
{
    struct worker *worker = loop->worker;
    struct batch_requests *batch = &loop->batch;
    /* 3 prefetch */
    session_prefetch(worker, batch);
    /* 4 prepare */
    session_prepare(worker, batch);
    batch_prepared(worker->core);
    /* 5 execute */
    session_execute(worker, batch);
    /* 6 commit */
    uint64_t before = rte_rdtsc();
    batch_commit(worker->core);
    uint64_t after = rte_rdtsc();
    core_stats_commit(&loop->stats, after - before);
    session_finish(worker, batch, core_stats_ns(&loop->stats, after - loop->turn_tsc));
}

/* One turn; true: there was work. */
static bool
turn(struct core_loop *loop)
{
    struct worker *worker = loop->worker;
    struct transport *transport = &worker->transport;
    loop->turn_tsc = rte_rdtsc();
    worker->now_us = tsc_to_us(loop->turn_tsc);
    /* 1 receive */
    unsigned work = transport->poll(transport->context, worker->now_us);
    worker->now_ms = wall_ms();
    batch_begin(worker->core, worker->now_ms); /* without requests too: background expiry goes by its clock */
    /* 2 decode */
    unsigned requests = session_decode(worker, &loop->batch);
    if (requests)
        run_batch(loop);
    /* 7 transmit */
    work += requests + transport->flush(transport->context, worker->now_us);
    /* 8 tend */
    work += mailbox_run(worker);
    work += session_tend(worker);
    work += batch_tend(worker->core);
    core_stats_turn(&loop->stats, worker->now_us);
    return work;
}

/* ---- idle ---- */

static void
sleep_us(struct core_loop *loop, uint64_t us)
{
    struct worker *worker = loop->worker;
    const struct timespec time = {.tv_nsec = (long)(us * 1000)};
    core_offline(worker->core);
    nanosleep(&time, NULL);
    core_online(worker->core);
    worker->stats->counter[COUNTER_sleeps]++;
}

/* Nothing to do: the longer it has been so, the longer the pause, but never past the next timer. */
static void
back_off(struct core_loop *loop)
{
    struct worker *worker = loop->worker;
    uint64_t idle_us = worker->now_us - loop->work_us;
    if (idle_us < SPIN_US)
        return;
    if (idle_us < PAUSE_US) {
        for (unsigned i = 0; i < PAUSES; i++)
            rte_pause();
        return;
    }
    uint64_t until = worker->transport.deadline(worker->transport.context), tend = session_deadline(worker);
    uint64_t us = idle_us < LAZY_US ? SLEEP_US : LAZY_SLEEP_US;
    if (tend < until)
        until = tend;
    if (until <= worker->now_us)
        return;
    if (until - worker->now_us < us)
        us = until - worker->now_us;
    sleep_us(loop, us);
}

static void
take_turn(struct core_loop *loop)
{
    bool work = turn(loop);
    if (work)
        loop->work_us = loop->worker->now_us;
    else
        back_off(loop);
    core_stats_cycles(&loop->stats, rte_rdtsc() - loop->turn_tsc, work);
}

/* ---- the end ---- */

/* No more input; what is in the output goes out, then the connections close. */
static void
say_goodbye(struct core_loop *loop)
{
    struct worker *worker = loop->worker;
    uint64_t until = core_clock_us() + GOODBYE_US;
    for (unsigned i = 0; i < worker->clients_used; i++) {
        struct stream *stream = worker->clients[i]->stream;
        stream->close_after_out = true;
        if (stream->dirty)
            continue;
        stream->dirty = true;
        TAILQ_INSERT_TAIL(worker->transport.dirty, stream, dirty_link);
    }
    while (worker->clients_used > 0 && worker->now_us < until)
        take_turn(loop);
}

int
core_run(struct worker *worker, const struct port *port)
{
    struct core_loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return -ENOMEM;
    loop->worker = worker;
    loop->work_us = core_clock_us();
    core_stats_init(&loop->stats, worker, port);
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul); /* the default, 50 us, would double a short sleep */
    core_online(worker->core);
    while (!atomic_load_explicit(&worker->server->stop, memory_order_relaxed))
        take_turn(loop);
    say_goodbye(loop);
    core_offline(worker->core);
    free(loop);
    return 0;
}
