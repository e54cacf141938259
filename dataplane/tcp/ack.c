/* SPDX-License-Identifier: BSD-3-Clause */
/* What an acknowledgement does: frees sent bytes, measures the round trip, moves the send window. */
#include "dataplane/tcp/tcp_internal.h"

uint64_t
tcp_rto_at(const struct tcp_conn *conn, uint64_t now_us)
{
    uint64_t rto = (uint64_t)conn->rto_us << conn->retries;

    return now_us + (rto < TCP_RTO_MAX_US ? rto : TCP_RTO_MAX_US);
}

/* RFC 6298 2, with Linux's floor for the variance term: a peer may delay its ACK by 200 ms. */
static void
measure(struct tcp_conn *conn, uint64_t rtt_us)
{
    uint32_t rtt = rtt_us < 1 ? 1 : rtt_us > TCP_RTO_MAX_US ? TCP_RTO_MAX_US : (uint32_t)rtt_us;

    if (conn->srtt_us == 0) {
        conn->srtt_us = rtt;
        conn->rttvar_us = rtt / 2;
    } else {
        uint32_t error = conn->srtt_us > rtt ? conn->srtt_us - rtt : rtt - conn->srtt_us;
        conn->rttvar_us = (3 * conn->rttvar_us + error) / 4;
        conn->srtt_us = (7 * conn->srtt_us + rtt + 7) / 8;
    }
    uint32_t variance = 4 * conn->rttvar_us, rto;
    rto = conn->srtt_us + (variance > TCP_RTO_MIN_US ? variance : TCP_RTO_MIN_US);
    conn->rto_us = rto < TCP_RTO_MAX_US ? rto : TCP_RTO_MAX_US;
}

/* One segment is timed at a time; a retransmission voids it (Karn), and then only timestamps tell. */
static void
measure_from(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    if (conn->rtt_pending) {
        if (seq_lt(conn->rtt_seq, segment->ack)) {
            measure(conn, now_us - conn->rtt_start_us);
            conn->rtt_pending = false;
        }
    } else if (conn->use_ts && segment->has_timestamp && segment->ts_echo != 0) {
        uint64_t rtt_us = (uint64_t)(tcp_ts_now(conn, now_us) - segment->ts_echo) << 10;
        /* it includes the wait for our timer when it was the ACK that got lost: believed up to twice the RTO */
        if (rtt_us < TCP_RTO_MAX_US)
            measure(conn, rtt_us < 2ull * conn->rto_us ? rtt_us : 2ull * conn->rto_us);
    }
}

void
tcp_acknowledge_syn(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    measure_from(conn, segment, now_us);
    conn->snd_una = conn->rexmit_nxt = conn->rexmit_end = segment->ack;
    conn->rto_at_us = 0;
    conn->retries = 0;
    conn->rexmit_now = false;
}

void
tcp_advance(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    uint32_t acked = segment->ack - conn->snd_una;
    bool limited_by_cwnd = (conn->snd_nxt - conn->snd_una) * 2ull >= conn->cwnd;

    measure_from(conn, segment, now_us);
    bytes_consume(&conn->stream.out, acked < conn->stream.out.len ? acked : conn->stream.out.len); /* not the FIN */
    conn->snd_una = segment->ack;
    conn->rexmit_nxt = seq_max(conn->rexmit_nxt, segment->ack);
    conn->rexmit_end = seq_max(conn->rexmit_end, segment->ack);
    if (conn->sacked_ranges > 0)
        tcp_range_drop_below(conn->sacked, &conn->sacked_ranges, segment->ack);
    tcp_new_ack(conn, segment, acked, limited_by_cwnd);
    conn->retries = 0;
    if (conn->persist_at_us == 0)
        conn->rto_at_us = conn->snd_una == conn->snd_nxt ? 0 : tcp_rto_at(conn, now_us);
    if (conn->discard)
        conn->linger_at_us = now_us + TCP_LINGER_US;
}

/* The window has opened after probes: what was in flight met a closed window and is sent again. */
static void
leave_persist(struct tcp_conn *conn, uint64_t now_us)
{
    conn->persist_at_us = 0;
    conn->probe_now = false;
    conn->probes = 0;
    if (conn->snd_una == conn->snd_nxt)
        return;
    conn->rexmit_nxt = conn->snd_una;
    conn->rexmit_end = conn->snd_nxt;
    conn->rtt_pending = false;
    conn->rto_at_us = tcp_rto_at(conn, now_us);
}

static void
take_window(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    if (!seq_lt(conn->snd_wl1, segment->seq) && !(conn->snd_wl1 == segment->seq && seq_le(conn->snd_wl2, segment->ack)))
        return;
    tcp_set_window(conn, segment);
    if (conn->persist_at_us != 0 && conn->snd_wnd != 0)
        leave_persist(conn, now_us);
}

/* Does an ACK that acknowledges nothing new say that something arrived out of order? (RFC 5681 2, RFC 6675 2) */
static bool
is_duplicate(const struct tcp_conn *conn, const struct tcp_segment *segment, bool new_sack)
{
    if (segment->ack != conn->snd_una || conn->snd_una == conn->snd_nxt || conn->persist_at_us != 0)
        return false;
    if (conn->use_sack)
        return new_sack;
    return segment->len == 0 && (segment->flags & TCP_FIN) == 0 && segment->wnd << conn->snd_wscale == conn->snd_wnd;
}

void
tcp_acknowledge(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us,
                struct tcp_counters *counters)
{
    bool new_sack = conn->use_sack && segment->sack_blocks > 0 && tcp_take_sack(conn, segment);

    if (conn->persist_at_us != 0)
        conn->retries = 0; /* the peer answers */
    if (seq_lt(conn->snd_una, segment->ack)) {
        tcp_advance(conn, segment, now_us);
    } else if (is_duplicate(conn, segment, new_sack)) {
        conn->dup_acks++;
        counters->dup_acks++;
    }
    take_window(conn, segment, now_us);
    if (conn->dup_acks > 0 || conn->sacked_ranges > 0)
        tcp_detect_loss(conn, now_us);
}
