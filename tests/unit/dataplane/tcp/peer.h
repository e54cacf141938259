/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scripted peer of one server connection in virtual time. Sequence numbers are written relative to the initial ones:
 * the first byte of either side is 1.
 */
#ifndef TESTS_UNIT_DATAPLANE_TCP_PEER_H
#define TESTS_UNIT_DATAPLANE_TCP_PEER_H

#include "dataplane/tcp/tcp_internal.h"

#define PEER_ISS 0xffffffc0u /* both wrap soon */
#define OUR_ISS  0xfffffe00u
#define PEER_MSS 1460u
#define SECOND   1000000ull

struct peer {
    struct tcp_conn conn;
    struct tcp_config config;
    struct tcp_counters counters;
    struct tcp_segment syn;  /* changed by a test before peer_open */
    struct tcp_segment sent; /* what the connection sent last */
    uint64_t now_us;
    uint32_t wnd; /* what the peer's segments announce */
    bool use_ts;
    uint32_t ts;
};

void peer_init(struct peer *peer);
void peer_open(struct peer *peer); /* peer_init unless it was called, handshake, ESTABLISHED */
void peer_close(struct peer *peer);

/* One segment from the peer, the payload being `len` bytes of its pattern from seq on. */
enum tcp_drop peer_send(struct peer *peer, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len);
/* Any segment; ports and relative numbers as given. */
enum tcp_drop peer_send_segment(struct peer *peer, struct tcp_segment segment);
/* Our next segment into peer->sent, its numbers made relative. False: none. */
bool peer_next(struct peer *peer);
/* Take all segments; returns how many, the last in peer->sent. */
unsigned peer_drain(struct peer *peer);
/* The application appends n bytes of its pattern. */
void peer_write(struct peer *peer, uint32_t n);
/* The application's input is `from`.. of the peer's pattern, n bytes; consumed. */
bool peer_read(struct peer *peer, uint32_t from, uint32_t n);
/* Time passes; timers that are due take effect. */
void peer_wait(struct peer *peer, uint64_t us);
/* To the next timer. False: there is none. */
bool peer_wait_timer(struct peer *peer);

uint8_t peer_byte(uint32_t seq);

#endif
