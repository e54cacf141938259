/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers: what happens when nothing arrives. */
#include "dataplane/tcp/tcp_internal.h"

#define PROBE_BACKOFF_MAX 9u

static bool
due(uint64_t *timer_us, uint64_t now_us)
{
    if (*timer_us == 0 || *timer_us > now_us)
        return false;
    *timer_us = 0;
    return true;
}

static void
on_persist(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters)
{
    if (conn->retries >= TCP_PROBES) {
        tcp_end(conn, counters);
        return;
    }
    uint64_t wait = (uint64_t)conn->rto_us << conn->probes;
    conn->persist_at_us = now_us + (wait < TCP_RTO_MAX_US ? wait : TCP_RTO_MAX_US);
    conn->retries++;
    if (conn->probes < PROBE_BACKOFF_MAX)
        conn->probes++;
    conn->probe_now = true;
}

static void
on_rto(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters)
{
    bool syn = conn->state <= TCP_SYN_RECEIVED;

    counters->timeouts++;
    if (conn->retries >= (syn ? TCP_SYN_RETRIES : TCP_RETRIES)) {
        tcp_end(conn, counters);
        return;
    }
    if (!syn && conn->snd_wnd == 0) { /* not lost, but refused */
        on_persist(conn, now_us, counters);
        return;
    }
    if (syn)
        conn->rexmit_now = true;
    else
        tcp_timeout(conn, now_us);
    conn->retries++;
    conn->rto_at_us = tcp_rto_at(conn, now_us);
}

static void
on_keepalive(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters)
{
    uint64_t idle_us = conn->config->keepalive_us, heard_us = now_us - conn->last_heard_us;

    if (idle_us == 0)
        return;
    if (heard_us < idle_us) {
        conn->keepalives = 0;
        conn->keepalive_at_us = conn->last_heard_us + idle_us;
        return;
    }
    if (conn->snd_una != conn->snd_nxt || conn->persist_at_us != 0) { /* another timer watches the peer */
        conn->keepalive_at_us = now_us + idle_us;
        return;
    }
    if (conn->keepalives >= TCP_KEEPALIVES) {
        tcp_end(conn, counters);
        return;
    }
    conn->keepalives++;
    conn->keepalive_now = true;
    conn->keepalive_at_us = now_us + idle_us / 3 + 1;
}

void
tcp_timers(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters)
{
    if (due(&conn->delack_at_us, now_us) && conn->acks_now == 0)
        conn->acks_now = 1;
    if (due(&conn->rto_at_us, now_us))
        on_rto(conn, now_us, counters);
    if (due(&conn->persist_at_us, now_us))
        on_persist(conn, now_us, counters);
    if (due(&conn->keepalive_at_us, now_us))
        on_keepalive(conn, now_us, counters);
    if (due(&conn->linger_at_us, now_us))
        tcp_end(conn, counters);
}

uint64_t
tcp_deadline(const struct tcp_conn *conn)
{
    const uint64_t timers[] = {conn->rto_at_us, conn->delack_at_us, conn->persist_at_us, conn->keepalive_at_us,
                               conn->linger_at_us};
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < sizeof(timers) / sizeof(timers[0]); i++)
        if (timers[i] - 1 < first - 1) /* 0, not set, is the largest */
            first = timers[i];
    return first;
}
