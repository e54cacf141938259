/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP-lite, the pure core: segments and time in, segments out. No I/O, no clock, no packet buffers: a segment is a
 * parsed header and a pointer to its payload; what the connection wants to send is asked for by tcp_output and
 * written into memory of the caller. So it is unit-tested and run in virtual time without DPDK.
 *
 * Names and states: RFC 9293. Times: microseconds of a monotonic clock. Sequence numbers: modulo 2^32.
 * Threads: the owning core's.
 */
#ifndef DATAPLANE_TCP_TCP_H
#define DATAPLANE_TCP_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/stream.h"

enum tcp_state {
    TCP_CLOSED, TCP_LISTEN, TCP_SYN_SENT, TCP_SYN_RECEIVED, TCP_ESTABLISHED, TCP_FIN_WAIT_1, TCP_FIN_WAIT_2,
    TCP_CLOSE_WAIT, TCP_CLOSING, TCP_LAST_ACK, TCP_TIME_WAIT,
};

#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define TCP_PSH 0x08u
#define TCP_ACK 0x10u

#define TCP_MAX_SACK_BLOCKS 4
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
    uint8_t sack_blocks;
    struct tcp_range sack[TCP_MAX_SACK_BLOCKS];
    const uint8_t *payload;
    uint32_t len;
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
    uint32_t receive_window; /* bytes of `in` a connection may hold, reassembly included */
    uint32_t keepalive_us;   /* idle time before the first probe; 0 = off */
    bool checksum_offload;
};

#define TCP_MAX_HOLES 16 /* ranges of out-of-order data kept */

struct tcp_conn {
    struct stream stream; /* first: a stream of this transport is its tcp_conn */
    enum tcp_state state;
    /* the remaining members belong to dataplane/tcp: see tcp.c's reading order. Kept in the header so that a table
     * of connections is one block of memory. */
    uint32_t snd_una, snd_nxt, snd_max, snd_wnd, snd_wl1, snd_wl2, iss;
    uint32_t rcv_nxt, rcv_wnd, rcv_adv, irs;
    uint32_t cwnd, ssthresh, recover;
    uint32_t srtt_us, rttvar_us, rto_us;
    uint32_t ts_recent, ts_offset, last_ack_sent;
    uint16_t mss;
    uint8_t snd_wscale, rcv_wscale, dup_acks, retries, probes;
    bool use_ts, use_sack, in_recovery, fin_queued, fin_sent, ack_now, ack_delayed, rtt_pending;
    uint32_t rtt_seq;
    uint64_t rtt_start_us, ts_recent_us;
    uint64_t last_heard_us;
    uint64_t rto_at_us, delack_at_us, persist_at_us, keepalive_at_us, linger_at_us; /* 0 = not set */
    uint8_t holes, sacked_ranges;
    struct tcp_range hole[TCP_MAX_HOLES];     /* received beyond rcv_nxt, ascending, apart */
    struct tcp_range sacked[TCP_MAX_HOLES];   /* peer has these beyond snd_una, ascending, apart */
    const struct tcp_config *config;
};

struct tcp_counters { /* single writer; read by statistics */
    uint64_t segments_in, segments_out, bytes_in, bytes_out, retransmits, timeouts, dup_acks, out_of_order, opened, closed, resets;
    uint64_t drops[TCP_DROPS];
};

/* A SYN for a listening port: set up conn (zeroed but for stream addresses) in SYN_RECEIVED. iss: from tcp_isn. */
void tcp_accept(struct tcp_conn *conn, const struct tcp_config *config, const struct tcp_segment *syn, uint32_t iss, uint64_t now_us);

/* One segment for this connection. In-order payload is appended to stream.in; what must be sent later is remembered.
 * The connection has ended when state is TCP_CLOSED. */
enum tcp_drop tcp_input(struct tcp_conn *conn, const struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters);

/* The next segment that may leave now; payload points into stream.out. False: nothing (more) to send. */
bool tcp_output(struct tcp_conn *conn, struct tcp_segment *segment, uint64_t now_us, struct tcp_counters *counters);

/* Let timers that are due take effect (then ask tcp_output). */
void tcp_timers(struct tcp_conn *conn, uint64_t now_us, struct tcp_counters *counters);
/* The earliest timer, UINT64_MAX = none. */
uint64_t tcp_deadline(const struct tcp_conn *conn);

/* The protocol is done with the connection: FIN after stream.out; or RST at once. */
void tcp_close(struct tcp_conn *conn, uint64_t now_us);
bool tcp_abort(struct tcp_conn *conn, struct tcp_segment *rst); /* true: send rst */

/* Input was consumed: the window may have to be announced anew. */
void tcp_window_update(struct tcp_conn *conn, uint64_t now_us);

/* The RST that answers a segment for which there is no connection (RFC 9293 3.5.2); false: none is due. */
bool tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *rst);

/* RFC 6528: keyed hash of the 4-tuple + clock. */
uint32_t tcp_isn(const uint8_t key[16], const uint8_t local_ip[4], uint16_t local_port, const uint8_t peer_ip[4], uint16_t peer_port, uint64_t now_us);

#endif
