/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin (initial sequence numbers, options of the SYNs) and end (close, abort, TIME_WAIT). */
#include "dataplane/tcp/tcp_internal.h"

#include "pmem/siphash.h"

uint32_t
tcp_isn(const uint8_t key[16], const uint8_t local_ip[4], uint16_t local_port, const uint8_t peer_ip[4],
        uint16_t peer_port, uint64_t now_us)
{
    uint8_t tuple[12];

    memcpy(tuple, local_ip, 4);
    memcpy(tuple + 4, peer_ip, 4);
    memcpy(tuple + 8, &local_port, 2);
    memcpy(tuple + 10, &peer_port, 2);
    return (uint32_t)siphash13(key, tuple, sizeof(tuple)) + (uint32_t)(now_us >> 2);
}

/* The smallest scale with which the header can express the whole window. */
static uint8_t
window_scale(uint32_t window)
{
    uint8_t scale = 0;

    while (scale < TCP_MAX_WSCALE && window >> scale > UINT16_MAX)
        scale++;
    return scale;
}

static void
begin(struct tcp_conn *conn, const struct tcp_config *config, enum tcp_state state, uint32_t iss, uint64_t now_us)
{
    conn->config = config;
    conn->state = state;
    conn->iss = iss;
    conn->snd_una = conn->snd_nxt = conn->rexmit_nxt = conn->rexmit_end = iss;
    conn->mss = config->mss;
    conn->rcv_wscale = window_scale(config->receive_window);
    conn->use_ts = conn->use_sack = conn->use_wscale = true;
    conn->rto_us = TCP_RTO_INITIAL_US;
    conn->ssthresh = UINT32_MAX;
    conn->challenges = TCP_CHALLENGES;
    conn->last_heard_us = conn->challenge_us = now_us;
}

/* What the peer's SYN (or SYN-ACK) says: its MSS, and which options both sides use. */
void
tcp_take_options(struct tcp_conn *conn, const struct tcp_segment *syn, uint64_t now_us)
{
    uint32_t mss = syn->mss == 0 ? TCP_DEFAULT_MSS : syn->mss < TCP_MIN_MSS ? TCP_MIN_MSS : syn->mss;

    conn->irs = syn->seq;
    conn->rcv_nxt = conn->last_ack_sent = conn->rcv_adv = syn->seq + 1;
    conn->use_ts = conn->use_ts && syn->has_timestamp;
    conn->use_sack = conn->use_sack && syn->sack_permitted;
    conn->use_wscale = conn->use_wscale && syn->has_wscale;
    if (conn->use_wscale)
        conn->snd_wscale = syn->wscale > TCP_MAX_WSCALE ? TCP_MAX_WSCALE : syn->wscale;
    else
        conn->rcv_wscale = 0;
    conn->ts_recent = syn->ts_value;
    conn->ts_recent_us = now_us;
    conn->mss = (uint16_t)((mss < conn->config->mss ? mss : conn->config->mss) - (conn->use_ts ? TCP_TS_SIZE : 0));
    conn->cwnd = 10u * conn->mss < 14600 ? 10u * conn->mss : 14600; /* RFC 6928 */
    conn->snd_wnd = conn->snd_wnd_max = syn->wnd;                   /* never scaled in a SYN */
    conn->snd_wl1 = syn->seq;
    conn->snd_wl2 = syn->ack;
}

void
tcp_accept(struct tcp_conn *conn, const struct tcp_config *config, const struct tcp_segment *syn, uint32_t iss,
           uint64_t now_us)
{
    begin(conn, config, TCP_SYN_RECEIVED, iss, now_us);
    tcp_take_options(conn, syn, now_us);
}

void
tcp_connect(struct tcp_conn *conn, const struct tcp_config *config, uint32_t iss, uint64_t now_us)
{
    begin(conn, config, TCP_SYN_SENT, iss, now_us);
}

void
tcp_established(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters)
{
    conn->state = TCP_ESTABLISHED;
    if (conn->config->keepalive_us != 0)
        conn->keepalive_at_us = now_us + conn->config->keepalive_us;
    counters->opened++;
}

static void
stop_timers(struct tcp_conn *conn)
{
    conn->rto_at_us = conn->delack_at_us = conn->persist_at_us = conn->keepalive_at_us = conn->linger_at_us = 0;
}

void
tcp_time_wait(struct tcp_conn *conn, uint64_t now_us)
{
    stop_timers(conn);
    conn->state = TCP_TIME_WAIT;
    conn->linger_at_us = now_us + TCP_TIME_WAIT_US;
}

void
tcp_end(struct tcp_conn *conn, struct tcp_counters *counters)
{
    if (conn->state >= TCP_ESTABLISHED)
        counters->closed++;
    conn->state = TCP_CLOSED;
    stop_timers(conn);
}

void
tcp_close(struct tcp_conn *conn, uint64_t now_us)
{
    if (conn->discard || conn->state < TCP_SYN_RECEIVED)
        return;
    conn->fin_queued = conn->discard = true;
    if (conn->state != TCP_TIME_WAIT)
        conn->linger_at_us = now_us + TCP_LINGER_US;
    conn->received_ranges = 0;
    bytes_free(&conn->stream.in);
}

bool
tcp_abort(struct tcp_conn *conn, struct tcp_segment *rst)
{
    bool tell = conn->state >= TCP_SYN_RECEIVED && conn->state <= TCP_CLOSE_WAIT;

    *rst = (struct tcp_segment){
        .src_port = conn->stream.local_port,
        .dst_port = conn->stream.peer_port,
        .flags = TCP_RST | TCP_ACK,
        .seq = conn->snd_nxt,
        .ack = conn->rcv_nxt,
    };
    conn->state = TCP_CLOSED;
    stop_timers(conn);
    return tell;
}
