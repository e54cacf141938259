/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A segment arrives (RFC 9293 3.10.7, with the checks of RFC 5961 and 7323). Most segments are the next in order on an
 * established connection and take the short way at the top of tcp_input; all others go through the checks in the
 * order of the RFC.
 */
#include "dataplane/tcp/tcp_internal.h"

#define CHALLENGE_PERIOD_US 1000000u

static void
ack_soon(struct tcp_conn *conn)
{
    if (conn->acks_now == 0)
        conn->acks_now = 1;
}

/* One ACK per segment for a peer that counts duplicates; with SACK one tells everything. */
static void
ack_each(struct tcp_conn *conn)
{
    if (conn->acks_now == 0 || (!conn->use_sack && conn->acks_now < TCP_CHALLENGES))
        conn->acks_now++;
}

/*
 * The answer to a segment that may be forged, or be one of an endless exchange: an ACK, so many a second. The budget
 * is the connection's own, so that it tells nothing about others (CVE-2016-5696).
 */
static enum tcp_drop
challenge(struct tcp_conn *conn, uint64_t now_us, enum tcp_drop reason)
{
    if (now_us - conn->challenge_us >= CHALLENGE_PERIOD_US) {
        conn->challenge_us = now_us;
        conn->challenges = TCP_CHALLENGES;
    }
    if (conn->challenges > 0) {
        conn->challenges--;
        ack_soon(conn);
    }
    return reason;
}

/* The timestamp of the segment that our next ACK answers is echoed (RFC 7323 4.3). */
static void
take_timestamp(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    if (conn->use_ts && segment->has_timestamp && seq_le(segment->seq, conn->last_ack_sent) &&
        !seq_lt(segment->ts_value, conn->ts_recent)) {
        conn->ts_recent = segment->ts_value;
        conn->ts_recent_us = now_us;
    }
}

static bool
is_old_timestamp(const struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    return conn->use_ts && segment->has_timestamp && seq_lt(segment->ts_value + TCP_PAWS_REORDER, conn->ts_recent) &&
           now_us - conn->ts_recent_us < TCP_PAWS_IDLE_US;
}

/* Header prediction: established, in sequence, nothing lost either way, and it brings data or acknowledges some. */
static bool
is_predicted(const struct tcp_conn *conn, const struct tcp_segment *segment)
{
    return conn->state == TCP_ESTABLISHED && (segment->flags & ~TCP_PSH) == TCP_ACK && segment->seq == conn->rcv_nxt &&
           segment->len <= conn->rcv_adv - conn->rcv_nxt &&
           segment->ack - conn->snd_una <= conn->snd_nxt - conn->snd_una &&
           (segment->len != 0 || segment->ack != conn->snd_una) &&
           (!conn->use_ts || !seq_lt(segment->ts_value, conn->ts_recent)) && conn->recovery == TCP_OPEN &&
           (conn->dup_acks | conn->received_ranges | conn->sacked_ranges | segment->sack_blocks) == 0 &&
           conn->persist_at_us == 0 && !conn->fin_received;
}

static enum tcp_drop
input_predicted(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    take_timestamp(conn, segment, now_us);
    if (segment->ack != conn->snd_una)
        tcp_advance(conn, segment, now_us);
    tcp_set_window(conn, segment);
    conn->last_heard_us = now_us;
    return segment->len == 0 ? TCP_ACCEPTED : tcp_receive(conn, segment->seq, segment->payload, segment->len);
}

static enum tcp_drop
input_syn_sent(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    bool acked = (segment->flags & TCP_ACK) != 0;

    if (acked && segment->ack != conn->snd_nxt)
        return TCP_DROP_ACK;
    if (segment->flags & TCP_RST) {
        if (!acked)
            return TCP_DROP_RST;
        counters->resets++;
        tcp_end(conn, counters);
        return TCP_ACCEPTED;
    }
    if ((segment->flags & TCP_SYN) == 0)
        return TCP_DROP_STATE;
    tcp_take_options(conn, segment, now_us);
    conn->last_heard_us = now_us;
    conn->acks_now = 1; /* in SYN_RECEIVED, after a simultaneous open, it is a SYN-ACK */
    conn->state = TCP_SYN_RECEIVED;
    if (acked) {
        tcp_acknowledge_syn(conn, segment, now_us);
        tcp_established(conn, now_us, counters);
    }
    return TCP_ACCEPTED;
}

/* A new SYN may take over a connection in TIME_WAIT when it cannot be an old one (RFC 9293 3.10.7.4, RFC 6191). */
static bool
takes_over(const struct tcp_conn *conn, const struct tcp_segment *segment)
{
    if (conn->state != TCP_TIME_WAIT || (segment->flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN)
        return false;
    return seq_lt(conn->rcv_nxt, segment->seq) ||
           (conn->use_ts && segment->has_timestamp && seq_lt(conn->ts_recent, segment->ts_value));
}

/* Not in the window. Data is acknowledged, for the ACK may have been lost; empty segments on a budget. */
static enum tcp_drop
outside(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    if (segment->flags & TCP_RST)
        return TCP_DROP_WINDOW;
    if (segment->len == 0 && (segment->flags & TCP_FIN) == 0)
        return challenge(conn, now_us, TCP_DROP_WINDOW);
    if (segment->len != 0 && seq_lt(segment->seq, conn->rcv_nxt))
        tcp_note_duplicate(conn, segment->seq, segment->seq + segment->len);
    ack_soon(conn);
    return TCP_DROP_WINDOW;
}

static enum tcp_drop
input_rst(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    if (conn->state == TCP_TIME_WAIT) /* RFC 1337 */
        return TCP_DROP_RST;
    if (segment->seq != conn->rcv_nxt)
        return challenge(conn, now_us, TCP_DROP_RST);
    counters->resets++;
    tcp_end(conn, counters);
    return TCP_ACCEPTED;
}

static enum tcp_drop
input_ack(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    if (conn->state == TCP_SYN_RECEIVED) {
        if (segment->ack != conn->snd_nxt || conn->snd_nxt == conn->iss)
            return TCP_DROP_ACK;
        tcp_acknowledge_syn(conn, segment, now_us);
        tcp_set_window(conn, segment);
        tcp_established(conn, now_us, counters);
        return TCP_ACCEPTED;
    }
    if (segment->ack - (conn->snd_una - conn->snd_wnd_max) > conn->snd_nxt - (conn->snd_una - conn->snd_wnd_max))
        return challenge(conn, now_us, TCP_DROP_ACK);
    tcp_acknowledge(conn, segment, now_us, counters);
    if (!conn->fin_sent || conn->snd_una != conn->snd_nxt)
        return TCP_ACCEPTED;
    if (conn->state == TCP_FIN_WAIT_1) /* our FIN is acknowledged */
        conn->state = TCP_FIN_WAIT_2;
    else if (conn->state == TCP_CLOSING)
        tcp_time_wait(conn, now_us);
    else if (conn->state == TCP_LAST_ACK)
        tcp_end(conn, counters);
    return TCP_ACCEPTED;
}

/* The peer's FIN is next in sequence. */
static void
input_fin(struct tcp_conn *conn, uint64_t now_us)
{
    conn->rcv_nxt++;
    conn->rcv_adv = seq_max(conn->rcv_adv, conn->rcv_nxt);
    conn->stream.end_of_input = true;
    ack_soon(conn);
    if (conn->state == TCP_ESTABLISHED)
        conn->state = TCP_CLOSE_WAIT;
    else if (conn->state == TCP_FIN_WAIT_1)
        conn->state = TCP_CLOSING;
    else
        tcp_time_wait(conn, now_us);
}

/* Note a FIN at `seq`, the first one heard of, unless data beyond it has been received. */
static void
note_fin(struct tcp_conn *conn, uint32_t seq)
{
    if (conn->fin_received || seq_lt(seq, conn->rcv_nxt) ||
        (conn->received_ranges > 0 && seq_lt(seq, conn->received[conn->received_ranges - 1].end)))
        return;
    conn->fin_received = true;
    conn->fin_seq = seq;
}

/* Payload and FIN, cut to what is new and inside the window. */
static enum tcp_drop
input_data(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    uint32_t seq = seq_max(segment->seq, conn->rcv_nxt), skip = seq - segment->seq;
    uint32_t end = seq_min(segment->seq + segment->len, conn->rcv_adv);
    bool in_order = segment->seq == conn->rcv_nxt && conn->received_ranges == 0;

    if ((segment->flags & TCP_FIN) && end == segment->seq + segment->len)
        note_fin(conn, end);
    if (conn->fin_received)
        end = seq_min(end, conn->fin_seq);
    if (!in_order && segment->len > 0) {
        tcp_note_duplicate(conn, segment->seq, segment->seq + segment->len);
        ack_each(conn);
    }
    if (seq_lt(seq, end)) {
        enum tcp_drop drop = tcp_receive(conn, seq, segment->payload + skip, end - seq);
        if (seq != conn->rcv_nxt && seq_lt(conn->rcv_nxt, end))
            counters->out_of_order++;
        if (drop != TCP_ACCEPTED)
            return drop;
    } else if (segment->len > 0) {
        ack_soon(conn); /* nothing of it is new or fits: a duplicate, or a probe of a closed window */
    }
    if (conn->fin_received && conn->rcv_nxt == conn->fin_seq)
        input_fin(conn, now_us);
    return TCP_ACCEPTED;
}

static enum tcp_drop
input_syn(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us)
{
    if (conn->state == TCP_SYN_RECEIVED && segment->seq == conn->irs) {
        challenge(conn, now_us, TCP_DROP_SYN); /* our SYN-ACK was lost: the ACK is another */
        return TCP_ACCEPTED;
    }
    return challenge(conn, now_us, TCP_DROP_SYN);
}

static enum tcp_drop
input_checked(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    uint8_t flags = segment->flags;
    uint32_t end = segment->seq + segment->len + !!(flags & TCP_SYN) + !!(flags & TCP_FIN);

    if (takes_over(conn, segment)) {
        tcp_end(conn, counters);
        return TCP_DROP_NO_CONNECTION;
    }
    if (!(flags & TCP_RST) && is_old_timestamp(conn, segment, now_us))
        return challenge(conn, now_us, TCP_DROP_PAWS);
    if (seq_lt(end, conn->rcv_nxt) || seq_lt(conn->rcv_adv, segment->seq))
        return outside(conn, segment, now_us);
    if (flags & TCP_RST)
        return input_rst(conn, segment, now_us, counters);
    if (flags & TCP_SYN)
        return input_syn(conn, segment, now_us);
    if (!(flags & TCP_ACK))
        return TCP_DROP_STATE;
    take_timestamp(conn, segment, now_us);
    conn->last_heard_us = now_us;
    enum tcp_drop drop = input_ack(conn, segment, now_us, counters);
    if (drop != TCP_ACCEPTED || conn->state == TCP_CLOSED || (segment->len == 0 && !(flags & TCP_FIN)))
        return drop;
    if (conn->stream.end_of_input) { /* nothing comes after a FIN, but it may come again */
        ack_soon(conn);
        if (conn->state == TCP_TIME_WAIT)
            tcp_time_wait(conn, now_us);
        return end == conn->rcv_nxt ? TCP_ACCEPTED : TCP_DROP_STATE;
    }
    if (conn->discard && conn->state == TCP_FIN_WAIT_2 && seq_lt(conn->rcv_nxt, segment->seq + segment->len)) {
        tcp_end(conn, counters); /* nobody reads any more, and ours has arrived: say so */
        return TCP_DROP_NO_CONNECTION;
    }
    return input_data(conn, segment, now_us, counters);
}

enum tcp_drop
tcp_input(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    enum tcp_drop drop;

    counters->segments_in++;
    counters->bytes_in += segment->len;
    if (is_predicted(conn, segment))
        drop = input_predicted(conn, segment, now_us);
    else if (conn->state == TCP_SYN_SENT)
        drop = input_syn_sent(conn, segment, now_us, counters);
    else if (conn->state <= TCP_LISTEN)
        drop = TCP_DROP_NO_CONNECTION;
    else
        drop = input_checked(conn, segment, now_us, counters);
    if (drop != TCP_ACCEPTED)
        counters->drops[drop]++;
    return drop;
}
