/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP-lite, the pure core: segments and time in, segments out. No I/O, no clock, no packet buffers: a segment is a
 * parsed header and a pointer to its payload; what the connection wants to send is asked for by tcp_output and
 * written into memory of the caller. So it is unit-tested and run in virtual time without DPDK.
 *
 * Names and states: RFC 9293. Times: microseconds of a monotonic clock. Sequence numbers: modulo 2^32.
 * Threads: the owning core's.
 *
 * Reading order: header.c (bytes <-> segments), open.c (how connections begin and end), input.c (a segment arrives),
 * reassembly.c (its payload), ack.c (its acknowledgement), recovery.c (what is lost, how fast to send), output.c (the
 * next segment), timers.c.
 */
#ifndef DATAPLANE_TCP_TCP_H
#define DATAPLANE_TCP_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/stream.h"

enum tcp_state {
    TCP_CLOSED,
    TCP_LISTEN,
    TCP_SYN_SENT,
    TCP_SYN_RECEIVED,
    TCP_ESTABLISHED,
    TCP_FIN_WAIT_1,
    TCP_FIN_WAIT_2,
    TCP_CLOSE_WAIT,
    TCP_CLOSING,
    TCP_LAST_ACK,
    TCP_TIME_WAIT,
};

#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define TCP_PSH 0x08u
#define TCP_ACK 0x10u

#define TCP_MAX_SACK_BLOCKS 4 /* what fits in a header */
struct tcp_range {
    uint32_t start, end; /* [start, end) */
};

/* One segment, host byte order. In: filled by tcp_parse. Out: filled by tcp_output, turned into bytes by tcp_build. */
struct tcp_segment {
    uint32_t seq, ack;
    uint16_t src_port, dst_port;
    uint32_t wnd; /* as in the header, unscaled */
    uint8_t flags;
    bool has_timestamp, has_wscale, sack_permitted;
    uint8_t wscale;
    uint16_t mss; /* 0 = option absent */
    uint32_t ts_value, ts_echo;
    const uint8_t *payload;
    uint32_t len;
    uint8_t sack_blocks;
    struct tcp_range sack[TCP_MAX_SACK_BLOCKS]; /* last: only so many are set */
};

/* Why a segment was dropped; names and texts in tcp_drops.def, which the statistics use too. */
enum tcp_drop {
    TCP_ACCEPTED = 0,
#define TCP_DROP(name, what) TCP_DROP_##name,
#include "dataplane/tcp/tcp_drops.def"
#undef TCP_DROP
    TCP_DROPS
};

/* Header bytes -> segment. data: from the TCP header to the end of the IP payload. TCP_ACCEPTED or the reason. The
 * checksum is the caller's business. */
enum tcp_drop tcp_parse(const uint8_t *data, uint32_t len, struct tcp_segment *segment);

/* Segment -> header bytes (at most TCP_MAX_HEADER); the payload is not copied, the checksum field is zero. Returns
 * the header's length. */
#define TCP_MAX_HEADER 60
uint32_t tcp_build(const struct tcp_segment *segment, uint8_t *header);

struct tcp_config {
    uint16_t mss;            /* largest payload we send and take: MTU - 40 */
    uint32_t receive_window; /* bytes of `in` a connection may hold, reassembly included; stream.want adds to it */
    uint32_t keepalive_us;   /* idle time before the first probe; 0 = off */
    uint32_t ts_offset;      /* added to our timestamps, so that they do not tell the uptime (RFC 7323 5.4) */
};

#define TCP_MAX_RANGES 16 /* ranges of out-of-order data kept, in each direction */

enum tcp_recovery {
    TCP_OPEN, /* nothing is known to be lost */
    TCP_FAST, /* fast recovery: duplicate ACKs or SACK blocks told of a loss */
    TCP_LOSS, /* after a retransmission timeout */
};

/*
 * A connection. Members after `stream` belong to dataplane/tcp; they stand here so that a table of connections is one
 * block of memory. stream.out holds [snd_una, ...): sent and not yet acknowledged, then not yet sent. stream.in ends
 * at rcv_nxt; out-of-order data lies behind it in the same block, where it will be needed (bytes.ahead).
 */
struct tcp_conn {
    struct stream stream; /* first: a stream of this transport is its tcp_conn */
    const struct tcp_config *config;
    enum tcp_state state;
    uint32_t snd_una, snd_nxt, snd_wnd, snd_wl1, snd_wl2, snd_wnd_max, iss;
    uint32_t rcv_nxt, rcv_adv, last_ack_sent, irs; /* rcv_adv: right edge of the largest window announced */
    uint32_t ts_recent;
    uint16_t mss; /* payload of a full segment we send: the smaller MSS of both, less the timestamp option */
    uint8_t snd_wscale, rcv_wscale;
    bool use_ts, use_sack, use_wscale;
    bool fin_queued, fin_sent;     /* ours */
    bool fin_received;             /* the peer's; processed when rcv_nxt reaches fin_seq */
    bool discard;                  /* tcp_close was called: what still arrives is acknowledged and dropped */
    bool probe_now, keepalive_now; /* a probe is due */
    uint8_t acks_now;              /* ACKs that may not wait for a reply */
    uint8_t retries;               /* timeouts in a row without an answer */
    uint8_t probes, keepalives;    /* zero-window and keepalive probes in a row without an answer */
    uint8_t challenges;            /* ACKs left to answer suspicious segments with, in the current second */
    uint32_t fin_seq;
    /* congestion control and loss recovery */
    enum tcp_recovery recovery;
    bool rexmit_now; /* the next retransmission does not ask the congestion window */
    uint32_t cwnd, ssthresh, recover;
    uint32_t rexmit_nxt, rexmit_end; /* taken for lost and not sent again yet; empty when equal */
    uint32_t dup_acks;
    bool undo_possible; /* the last timeout may turn out to have been too early */
    uint32_t undo_cwnd, undo_ssthresh, undo_ts;
    /* round-trip time: one segment is timed at a time */
    bool rtt_pending;
    uint32_t rtt_seq, srtt_us, rttvar_us, rto_us;
    uint64_t rtt_start_us;
    /* timers; 0 = not set */
    uint64_t rto_at_us, delack_at_us, persist_at_us, keepalive_at_us, linger_at_us;
    uint64_t last_heard_us, ts_recent_us, challenge_us;
    uint8_t received_ranges, sacked_ranges;
    uint32_t received_last;                    /* where the newest out-of-order segment began */
    struct tcp_range duplicate;                /* received twice, to be told (RFC 2883); empty: none */
    struct tcp_range received[TCP_MAX_RANGES]; /* beyond rcv_nxt, ascending, apart */
    struct tcp_range sacked[TCP_MAX_RANGES];   /* the peer has these beyond snd_una, ascending, apart */
};

struct tcp_counters { /* single writer; read by statistics */
    uint64_t segments_in, segments_out, bytes_in, bytes_out, retransmits, timeouts, dup_acks, out_of_order;
    uint64_t opened, closed, resets; /* established; ended after that; ended by an RST of either side */
    uint64_t drops[TCP_DROPS];       /* tcp_input counts here; what tcp_parse refuses is the caller's to count */
};

/* A SYN for a listening port: set up conn (zeroed but for stream addresses) in SYN_RECEIVED. iss: from tcp_isn. The
 * SYN-ACK comes from tcp_output. */
void tcp_accept(struct tcp_conn *conn, const struct tcp_config *config, const struct tcp_segment *syn, uint32_t iss,
                uint64_t now_us);

/* Active open: conn (zeroed but for stream addresses) in SYN_SENT; the SYN comes from tcp_output. */
void tcp_connect(struct tcp_conn *conn, const struct tcp_config *config, uint32_t iss, uint64_t now_us);

/*
 * One segment for this connection. In-order payload is appended to stream.in, the peer's FIN sets stream.end_of_input;
 * what must be sent is remembered for tcp_output. The connection has ended when state is TCP_CLOSED; the owner then
 * frees stream.in and stream.out. TCP_DROP_NO_CONNECTION: it has ended and the segment is to be treated as if there
 * had never been one (a new SYN takes over TIME_WAIT, data for a closed reader gets tcp_refuse).
 */
enum tcp_drop tcp_input(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us,
                        struct tcp_counters *counters);

/* The next segment that may leave now; payload points into stream.out and is good until the next call for this
 * connection. False: nothing (more) to send. Call until false for each connection that had input, output or a timer. */
bool tcp_output(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters);

/* Let timers that are due take effect (then ask tcp_output). The state may become TCP_CLOSED. */
void tcp_timers(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters);
/* The earliest timer, UINT64_MAX = none. */
uint64_t tcp_deadline(const struct tcp_conn *conn);

/* The protocol is done with the connection: FIN after stream.out, what still arrives is dropped. stream.in is freed. */
void tcp_close(struct tcp_conn *conn, uint64_t now_us);
/* Drop the connection now: state TCP_CLOSED. True: send *rst. */
bool tcp_abort(struct tcp_conn *conn, struct tcp_segment *rst);

/* Input was consumed: the window may have to be announced anew. */
void tcp_window_update(struct tcp_conn *conn);

/* The RST that answers a segment for which there is no connection (RFC 9293 3.10.7.1); false: none is due. */
bool tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *rst);

/* RFC 6528: keyed hash of the 4-tuple + a clock of 4 us. */
uint32_t tcp_isn(const uint8_t key[16], const uint8_t local_ip[4], uint16_t local_port, const uint8_t peer_ip[4],
                 uint16_t peer_port, uint64_t now_us);

#endif
