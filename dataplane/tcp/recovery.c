/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control and loss recovery: RFC 5681 and 6582 (NewReno), 3522 (Eifel), 6675 (SACK; every hole below the
 * highest SACKed byte counts as lost once recovery has begun), 3042 (limited transmit).
 *
 * One picture serves them all. Of what is in flight, [rexmit_nxt, rexmit_end) is taken for lost and not sent again
 * yet, `sacked` has arrived, and the rest is in the network: the pipe. A segment, old or new, may leave while the pipe
 * is below cwnd. Without SACK each duplicate ACK stands for a segment that has left the network.
 */
#include "dataplane/tcp/tcp_internal.h"

#define CWND_MAX (1u << 30)

/* Bytes of [from, to) that are not SACKed. */
static uint32_t
unsacked(const struct tcp_conn *conn, uint32_t from, uint32_t to)
{
    uint32_t bytes = seq_lt(from, to) ? to - from : 0;

    for (unsigned i = 0; i < conn->sacked_ranges; i++) {
        uint32_t start = seq_max(from, conn->sacked[i].start), end = seq_min(to, conn->sacked[i].end);
        if (seq_lt(start, end))
            bytes -= end - start;
    }
    return bytes;
}

uint32_t
tcp_pipe(const struct tcp_conn *conn)
{
    uint32_t pipe = unsacked(conn, conn->snd_una, conn->snd_nxt) - unsacked(conn, conn->rexmit_nxt, conn->rexmit_end);
    uint64_t left = conn->use_sack ? 0 : (uint64_t)conn->dup_acks * conn->mss;

    return left < pipe ? pipe - (uint32_t)left : 0;
}

bool
tcp_take_sack(struct tcp_conn *conn, const struct tcp_segment *segment)
{
    uint32_t before = unsacked(conn, conn->snd_una, conn->snd_nxt);

    for (unsigned i = 0; i < segment->sack_blocks; i++) {
        const struct tcp_range *block = &segment->sack[i];
        uint32_t above = seq_max(segment->ack, conn->snd_una);
        if (seq_lt(above, block->start) && seq_lt(block->start, block->end) && seq_le(block->end, conn->snd_nxt))
            tcp_range_add(conn->sacked, &conn->sacked_ranges, block->start, block->end);
    }
    return unsacked(conn, conn->snd_una, conn->snd_nxt) != before;
}

static uint32_t
half_flight(const struct tcp_conn *conn)
{
    uint32_t half = (conn->snd_nxt - conn->snd_una) / 2, least = 2u * conn->mss;

    return half > least ? half : least;
}

static void
enter_fast_recovery(struct tcp_conn *conn, uint64_t now_us)
{
    uint32_t flight = conn->snd_nxt - conn->snd_una;

    conn->recovery = TCP_FAST;
    conn->recover = conn->snd_nxt;
    conn->ssthresh = conn->cwnd = half_flight(conn);
    conn->rexmit_nxt = conn->snd_una;
    conn->rexmit_end = conn->snd_una + (flight < conn->mss ? flight : conn->mss);
    conn->rexmit_now = true;
    conn->rto_at_us = tcp_rto_at(conn, now_us);
}

void
tcp_detect_loss(struct tcp_conn *conn, uint64_t now_us)
{
    if (conn->recovery == TCP_OPEN) {
        uint32_t flight = conn->snd_nxt - conn->snd_una, sacked = flight - unsacked(conn, conn->snd_una, conn->snd_nxt);
        if (conn->dup_acks >= TCP_DUP_THRESHOLD || sacked > (TCP_DUP_THRESHOLD - 1) * conn->mss)
            enter_fast_recovery(conn, now_us);
    }
    if (conn->recovery == TCP_FAST && conn->sacked_ranges > 0)
        conn->rexmit_end = seq_max(conn->rexmit_end, conn->sacked[conn->sacked_ranges - 1].start);
}

/* The ACK of a part of what was in flight when recovery began: the next hole is at snd_una (RFC 6582 3.2). */
static void
partial_ack(struct tcp_conn *conn, uint32_t acked)
{
    uint32_t flight = conn->snd_nxt - conn->snd_una, left = acked / conn->mss;

    conn->dup_acks -= left < conn->dup_acks ? left : conn->dup_acks;
    if (conn->use_sack && (conn->sacked_ranges > 0 || seq_lt(conn->snd_una, conn->rexmit_nxt)))
        return; /* the blocks tell more, or it has been sent again */
    conn->rexmit_nxt = conn->snd_una;
    conn->rexmit_end = conn->snd_una + (flight < conn->mss ? flight : conn->mss);
    conn->rexmit_now = true;
}

static void
grow_window(struct tcp_conn *conn, uint32_t acked)
{
    if (conn->cwnd >= CWND_MAX)
        return;
    if (conn->cwnd < conn->ssthresh)
        conn->cwnd += acked;
    else
        conn->cwnd += 1 + (uint32_t)((uint64_t)conn->mss * acked / conn->cwnd);
}

/*
 * Eifel (RFC 3522, 4015): the first ACK after a timeout echoes a timestamp from before the retransmission, so what was
 * taken for lost has arrived. Nothing more is sent again, and the windows are as before.
 */
static void
undo_timeout(struct tcp_conn *conn, const struct tcp_segment *segment)
{
    conn->undo_possible = false;
    if (!conn->use_ts || !segment->has_timestamp || segment->ts_echo == 0 || !seq_lt(segment->ts_echo, conn->undo_ts))
        return;
    conn->recovery = TCP_OPEN;
    conn->rexmit_end = conn->rexmit_nxt;
    conn->rexmit_now = false;
    conn->cwnd = conn->undo_cwnd;
    conn->ssthresh = conn->undo_ssthresh;
}

void
tcp_new_ack(struct tcp_conn *conn, const struct tcp_segment *segment, uint32_t acked, bool limited_by_cwnd)
{
    bool fast = conn->recovery == TCP_FAST;

    if (conn->undo_possible)
        undo_timeout(conn, segment);
    if (conn->recovery != TCP_OPEN && seq_le(conn->recover, conn->snd_una)) {
        conn->recovery = TCP_OPEN;
        conn->rexmit_end = conn->rexmit_nxt;
        conn->rexmit_now = false;
    }
    if (conn->recovery == TCP_FAST) {
        partial_ack(conn, acked);
        return;
    }
    conn->dup_acks = 0;
    if (limited_by_cwnd && !fast)
        grow_window(conn, acked);
}

void
tcp_timeout(struct tcp_conn *conn, uint64_t now_us)
{
    bool reneged = conn->sacked_ranges > 0 && conn->sacked[0].start == conn->snd_una;

    if (conn->retries == 0) {
        conn->undo_possible = conn->recovery == TCP_OPEN;
        conn->undo_cwnd = conn->cwnd;
        conn->undo_ssthresh = conn->ssthresh;
        conn->undo_ts = tcp_ts_now(conn, now_us);
        conn->ssthresh = half_flight(conn);
    }
    if (conn->retries > 0 || reneged)
        conn->sacked_ranges = 0; /* the peer may have dropped what it had (RFC 2018 8) */
    conn->recovery = TCP_LOSS;
    conn->recover = conn->snd_nxt;
    conn->cwnd = conn->mss;
    conn->rexmit_nxt = conn->snd_una;
    conn->rexmit_end = conn->snd_nxt;
    conn->rexmit_now = true;
    conn->dup_acks = 0;
}
