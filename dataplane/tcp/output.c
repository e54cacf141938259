/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next segment that may leave: lost data first, then new data, then what else is owed (probes, ACKs). Every
 * segment carries the current acknowledgement and window, so ACKs ride on replies.
 */
#include "dataplane/tcp/tcp_internal.h"

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t
data_end(const struct tcp_conn *conn)
{
    return conn->snd_una + conn->stream.out.len;
}

/* At most len bytes from seq on, and our FIN if it was sent right behind them. */
static void
fill(const struct tcp_conn *conn, struct tcp_segment *segment, uint32_t seq, uint32_t len)
{
    segment->seq = seq;
    segment->len = smaller(len, data_end(conn) - seq);
    segment->payload = bytes_data(&conn->stream.out) + (seq - conn->snd_una);
    if (seq + segment->len == data_end(conn))
        segment->flags |= conn->fin_sent ? TCP_FIN | TCP_PSH : TCP_PSH;
}

static bool
output_syn(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us)
{
    bool first = conn->snd_nxt == conn->iss;

    if (!first && !conn->rexmit_now && conn->acks_now == 0)
        return false;
    segment->seq = conn->iss;
    segment->flags = TCP_SYN;
    segment->mss = conn->config->mss;
    segment->sack_permitted = conn->use_sack;
    segment->has_wscale = conn->use_wscale;
    segment->wscale = conn->rcv_wscale;
    conn->rexmit_now = false;
    conn->snd_nxt = conn->iss + 1;
    conn->rtt_pending = first;
    conn->rtt_seq = conn->iss;
    conn->rtt_start_us = now_us;
    return true;
}

/* The next piece of [rexmit_nxt, rexmit_end) that the peer has not SACKed. */
static bool
output_lost(struct tcp_conn *conn, struct tcp_segment *segment, struct tcp_counters *counters)
{
    uint32_t end = conn->rexmit_end, edge = conn->snd_una + conn->snd_wnd;

    if (conn->rexmit_nxt == end || conn->snd_wnd == 0)
        return false;
    for (unsigned i = 0; i < conn->sacked_ranges && seq_lt(conn->sacked[i].start, end); i++) {
        if (seq_lt(conn->rexmit_nxt, conn->sacked[i].start))
            end = conn->sacked[i].start;
        else
            conn->rexmit_nxt = seq_max(conn->rexmit_nxt, conn->sacked[i].end);
    }
    if (!seq_lt(conn->rexmit_nxt, end)) {
        conn->rexmit_nxt = conn->rexmit_end;
        return false;
    }
    if (seq_lt(edge, data_end(conn))) /* the peer may have shrunk its window */
        end = seq_min(end, edge);
    if (!seq_lt(conn->rexmit_nxt, end))
        return false;
    uint32_t len = smaller(end - conn->rexmit_nxt, conn->mss), pipe = tcp_pipe(conn);
    if (!conn->rexmit_now && pipe != 0 && pipe + len > conn->cwnd)
        return false;
    fill(conn, segment, conn->rexmit_nxt, len);
    conn->rexmit_nxt = seq_min(conn->rexmit_end, conn->rexmit_nxt + segment->len + !!(segment->flags & TCP_FIN));
    conn->rexmit_now = false;
    conn->rtt_pending = false;
    counters->retransmits++;
    return true;
}

static void
send_fin(struct tcp_conn *conn)
{
    conn->fin_sent = true;
    conn->state = conn->state == TCP_ESTABLISHED ? TCP_FIN_WAIT_1 : TCP_LAST_ACK;
    conn->snd_nxt++;
}

static bool
output_new(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us)
{
    uint32_t flight = conn->snd_nxt - conn->snd_una, unsent = conn->stream.out.len - flight;
    uint32_t usable = flight < conn->snd_wnd ? conn->snd_wnd - flight : 0;
    uint32_t len = smaller(smaller(unsent, usable), conn->mss);

    if (conn->fin_sent || (unsent == 0 && !conn->fin_queued))
        return false;
    if (len < unsent && len < conn->mss) { /* cut by the window: no silly small segments (RFC 9293 3.8.6.2.1) */
        if (flight == 0 && len == 0 && conn->persist_at_us == 0)
            conn->persist_at_us = tcp_rto_at(conn, now_us);
        if (len == 0 || (flight != 0 && len < conn->snd_wnd_max / 2))
            return false;
    }
    uint32_t pipe = flight == 0 ? 0 : tcp_pipe(conn);
    if (pipe != 0 && pipe + len > conn->cwnd)
        return false;
    if (!conn->rtt_pending && conn->recovery == TCP_OPEN) {
        conn->rtt_pending = true;
        conn->rtt_seq = conn->snd_nxt;
        conn->rtt_start_us = now_us;
    }
    uint32_t seq = conn->snd_nxt;
    conn->snd_nxt += len;
    if (conn->fin_queued && len == unsent)
        send_fin(conn);
    fill(conn, segment, seq, len);
    return true;
}

/* Zero window: one byte beyond it, because Linux does not answer less. Keepalive: a byte's place before it, empty. */
static bool
output_probe(struct tcp_conn *conn, struct tcp_segment *segment)
{
    if (conn->probe_now) {
        conn->probe_now = false;
        fill(conn, segment, conn->snd_una, 1);
        conn->snd_nxt = seq_max(conn->snd_nxt, conn->snd_una + segment->len);
        return true;
    }
    if (conn->keepalive_now) {
        conn->keepalive_now = false;
        segment->seq = conn->snd_una - 1;
        return true;
    }
    return false;
}

/* A lone ACK: when it may not wait, for every second full segment, or after 40 ms (RFC 9293 3.8.6.3). */
static bool
output_ack(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us)
{
    uint32_t edge = conn->snd_una + conn->snd_wnd;

    if (conn->acks_now == 0) {
        if (conn->rcv_nxt == conn->last_ack_sent)
            return false;
        if (conn->rcv_nxt - conn->last_ack_sent <= conn->config->mss) {
            if (conn->delack_at_us == 0)
                conn->delack_at_us = now_us + TCP_DELACK_US;
            return false;
        }
    }
    /* beyond a closed window the peer would not look at it, but answer with an ACK of its own */
    segment->seq = seq_min(conn->snd_nxt, edge);
    if (conn->acks_now > 0)
        conn->acks_now--;
    return true;
}

static bool
has_blocks(const struct tcp_conn *conn)
{
    return conn->received_ranges != 0 || conn->duplicate.start != conn->duplicate.end;
}

/* Acknowledgement, window and options, which every segment carries. */
static void
finish(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    bool syn = segment->flags & TCP_SYN, payload = segment->len != 0;
    uint8_t scale = syn ? 0 : conn->rcv_wscale;

    segment->src_port = conn->stream.local_port;
    segment->dst_port = conn->stream.peer_port;
    segment->has_timestamp = conn->use_ts;
    segment->ts_value = tcp_ts_now(conn, now_us);
    segment->wnd = smaller((tcp_window_edge(conn) - conn->rcv_nxt) >> scale, UINT16_MAX);
    if (conn->state != TCP_SYN_SENT) {
        segment->flags |= TCP_ACK;
        segment->ack = conn->last_ack_sent = conn->rcv_nxt;
        segment->ts_echo = conn->ts_recent;
        conn->rcv_adv = seq_max(conn->rcv_adv, conn->rcv_nxt + (segment->wnd << scale));
    }
    if (conn->use_sack && has_blocks(conn) && (!payload || segment->len + 12u <= conn->mss))
        segment->sack_blocks = tcp_sack_blocks(conn, segment->sack, payload ? 1 : conn->use_ts ? 3 : 4);
    if (payload || syn || (segment->flags & TCP_FIN)) {
        conn->acks_now = 0;
        if (conn->rto_at_us == 0 && conn->persist_at_us == 0)
            conn->rto_at_us = tcp_rto_at(conn, now_us);
    }
    conn->delack_at_us = 0;
    counters->segments_out++;
    counters->bytes_out += segment->len;
}

bool
tcp_output(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters)
{
    bool due;

    tcp_segment_clear(segment);
    if (conn->state <= TCP_LISTEN)
        return false;
    if (conn->state <= TCP_SYN_RECEIVED)
        due = output_syn(conn, segment, now_us);
    else
        due = output_lost(conn, segment, counters) || output_new(conn, segment, now_us) ||
              output_probe(conn, segment) || output_ack(conn, segment, now_us);
    if (due)
        finish(conn, segment, now_us, counters);
    return due;
}
