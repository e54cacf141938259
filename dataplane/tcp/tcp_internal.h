/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of dataplane/tcp share: sequence arithmetic, constants, the steps between files. */
#ifndef DATAPLANE_TCP_INTERNAL_H
#define DATAPLANE_TCP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dataplane/tcp/tcp.h"

#define TCP_DEFAULT_MSS 536u /* RFC 9293 3.7.1: of a peer that names none */
#define TCP_MIN_MSS     216u /* smaller ones only serve to make us send millions of segments (CVE-2019-11479) */
#define TCP_MAX_WSCALE  14u  /* RFC 7323 2.3 */
#define TCP_TS_SIZE     12u  /* the timestamp option with its padding */

#define TCP_RTO_INITIAL_US 1000000u
#define TCP_RTO_MIN_US     200000u /* Linux's; RFC 6298 says 1 s, too long for a data centre */
#define TCP_RTO_MAX_US     60000000u
#define TCP_DELACK_US      40000u
#define TCP_TIME_WAIT_US   10000000u  /* peers' FINs come again within a second; a new SYN need not wait for the end */
#define TCP_LINGER_US      120000000u /* after tcp_close, without progress */
/* Segments that overtake each other (two CPUs of a client on a veth) are not old ones: numbers do not wrap so soon. */
#define TCP_PAWS_REORDER   16u
#define TCP_PAWS_IDLE_US   (24ull * 86400 * 1000000) /* RFC 7323 5.5: older timestamps say nothing */

#define TCP_SYN_RETRIES   5u
#define TCP_RETRIES       10u /* more than 100 s (RFC 1122 4.2.3.5) */
#define TCP_PROBES        10u /* zero-window probes without an answer */
#define TCP_KEEPALIVES    3u  /* as Redis sets TCP_KEEPCNT; a third of the idle time apart */
#define TCP_CHALLENGES    10u /* per second and connection */
#define TCP_DUP_THRESHOLD 3u

static inline bool
seq_lt(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static inline bool
seq_le(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) <= 0;
}

static inline uint32_t
seq_max(uint32_t a, uint32_t b)
{
    return seq_lt(a, b) ? b : a;
}

static inline uint32_t
seq_min(uint32_t a, uint32_t b)
{
    return seq_lt(a, b) ? a : b;
}

/* Clear but for the SACK blocks: in the short way of every segment this is to be seen. */
static inline void
tcp_segment_clear(struct tcp_segment *segment)
{
    memset(segment, 0, offsetof(struct tcp_segment, sack));
}

/* Our timestamp clock: ticks of 1.024 ms. */
static inline uint32_t
tcp_ts_now(const struct tcp_conn *conn, uint64_t now_us)
{
    return (uint32_t)(now_us >> 10) + conn->config->ts_offset;
}

/* The send window as the segment announces it. */
static inline void
tcp_set_window(struct tcp_conn *conn, const struct tcp_segment *segment)
{
    conn->snd_wnd = segment->wnd << conn->snd_wscale;
    conn->snd_wl1 = segment->seq;
    conn->snd_wl2 = segment->ack;
    if (conn->snd_wnd > conn->snd_wnd_max)
        conn->snd_wnd_max = conn->snd_wnd;
}

/* open.c */
void tcp_take_options(struct tcp_conn *conn, const struct tcp_segment *syn, uint64_t now_us);
void tcp_established(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters);
void tcp_time_wait(struct tcp_conn *conn, uint64_t now_us);
void tcp_end(struct tcp_conn *conn, struct tcp_counters *counters); /* -> CLOSED */

/* reassembly.c */
/* Payload inside the window, none of it before rcv_nxt; rcv_nxt moves over what is now without a hole. */
enum tcp_drop tcp_receive(struct tcp_conn *conn, uint32_t seq, const uint8_t *payload, uint32_t len);
/* Payload [seq, end) has arrived: remember what of it had been here before. */
void tcp_note_duplicate(struct tcp_conn *conn, uint32_t seq, uint32_t end);
/* The right edge that the next segment announces. */
uint32_t tcp_window_edge(const struct tcp_conn *conn);
/* Our blocks: a duplicate, then the newest (RFC 2883, 2018 4); returns how many, at most `most`. */
uint8_t tcp_sack_blocks(struct tcp_conn *conn, struct tcp_range *blocks, unsigned most);

/* Ranges: ascending, apart. False: no place for one more. */
bool tcp_range_add(struct tcp_range *ranges, uint8_t *count, uint32_t start, uint32_t end);
void tcp_range_drop_below(struct tcp_range *ranges, uint8_t *count, uint32_t seq);

/* ack.c */
/* Ours was the SYN: it has arrived. */
void tcp_acknowledge_syn(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us);
/* An ACK in (.., snd_nxt]: frees what it covers, takes the window and SACK blocks. */
void tcp_acknowledge(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us,
                     struct tcp_counters *counters);
/* All of ours below `ack` has arrived: the core of the above, used by header prediction too. */
void tcp_advance(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us);
/* When the retransmission timer runs out that is started now. */
uint64_t tcp_rto_at(const struct tcp_conn *conn, uint64_t now_us);

/* recovery.c */
uint32_t tcp_pipe(const struct tcp_conn *conn); /* bytes thought to be in the network (RFC 6675 SetPipe) */
bool tcp_take_sack(struct tcp_conn *conn, const struct tcp_segment *segment); /* true: something new */
void tcp_detect_loss(struct tcp_conn *conn, uint64_t now_us);                 /* after a duplicate ACK */
void tcp_new_ack(struct tcp_conn *conn, const struct tcp_segment *segment, uint32_t acked,
                 bool limited_by_cwnd);                   /* window growth, partial ACKs */
void tcp_timeout(struct tcp_conn *conn, uint64_t now_us); /* all in flight is lost */

#endif
