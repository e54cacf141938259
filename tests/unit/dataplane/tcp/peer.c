/* SPDX-License-Identifier: BSD-3-Clause */
/* The scripted peer: segments by relative numbers. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#define PAYLOAD_MAX (256u << 10)

uint8_t
peer_byte(uint32_t seq)
{
    return (uint8_t)(seq * 167 + (seq >> 8));
}

void
peer_init(struct peer *peer)
{
    memset(peer, 0, sizeof(*peer));
    peer->config = (struct tcp_config){.mss = PEER_MSS, .receive_window = 64u << 10};
    peer->now_us = 100 * SECOND;
    peer->wnd = 60000;
    peer->syn = (struct tcp_segment){.flags = TCP_SYN,
                                     .seq = PEER_ISS,
                                     .src_port = 40000,
                                     .dst_port = 6379,
                                     .wnd = 60000,
                                     .mss = PEER_MSS,
                                     .sack_permitted = true,
                                     .has_wscale = true,
                                     .wscale = 0};
    peer->conn.stream.local_port = 6379;
    peer->conn.stream.peer_port = 40000;
}

void
peer_open(struct peer *peer)
{
    if (peer->config.mss == 0)
        peer_init(peer);
    peer->use_ts = peer->syn.has_timestamp;
    peer->ts = peer->syn.ts_value;
    tcp_accept(&peer->conn, &peer->config, &peer->syn, OUR_ISS, peer->now_us);
    peer_drain(peer);
    peer_send(peer, TCP_ACK, 1, 1, 0);
}

void
peer_close(struct peer *peer)
{
    bytes_free(&peer->conn.stream.in);
    bytes_free(&peer->conn.stream.out);
}

enum tcp_drop
peer_send_segment(struct peer *peer, struct tcp_segment segment)
{
    segment.src_port = 40000;
    segment.dst_port = 6379;
    segment.seq += PEER_ISS;
    segment.ack += OUR_ISS;
    for (unsigned i = 0; i < segment.sack_blocks; i++) {
        segment.sack[i].start += OUR_ISS;
        segment.sack[i].end += OUR_ISS;
    }
    return tcp_input(&peer->conn, &segment, peer->now_us, &peer->counters);
}

enum tcp_drop
peer_send(struct peer *peer, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    static uint8_t payload[PAYLOAD_MAX];
    struct tcp_segment segment = {
        .flags = flags, .seq = seq, .ack = ack, .wnd = peer->wnd, .payload = payload, .len = len};

    for (uint32_t i = 0; i < len; i++)
        payload[i] = peer_byte(seq + i);
    segment.has_timestamp = peer->use_ts;
    segment.ts_value = peer->ts;
    return peer_send_segment(peer, segment);
}

bool
peer_next(struct peer *peer)
{
    struct tcp_segment segment;

    if (!tcp_output(&peer->conn, &segment, peer->now_us, &peer->counters))
        return false;
    segment.seq -= OUR_ISS;
    segment.ack -= PEER_ISS;
    for (unsigned i = 0; i < segment.sack_blocks; i++) {
        segment.sack[i].start -= PEER_ISS;
        segment.sack[i].end -= PEER_ISS;
    }
    peer->sent = segment;
    return true;
}

unsigned
peer_drain(struct peer *peer)
{
    unsigned count = 0;

    while (count < 10000 && peer_next(peer))
        count++;
    return count;
}

void
peer_write(struct peer *peer, uint32_t n)
{
    uint8_t *room = bytes_reserve(&peer->conn.stream.out, n);

    for (uint32_t i = 0; i < n; i++)
        room[i] = peer_byte(peer->conn.stream.out.len + i);
    bytes_commit(&peer->conn.stream.out, n);
}

bool
peer_read(struct peer *peer, uint32_t from, uint32_t n)
{
    struct bytes *in = &peer->conn.stream.in;

    if (in->len != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (bytes_data(in)[i] != peer_byte(from + i))
            return false;
    bytes_consume(in, n);
    tcp_window_update(&peer->conn);
    return true;
}

void
peer_wait(struct peer *peer, uint64_t us)
{
    peer->now_us += us;
    tcp_timers(&peer->conn, peer->now_us, &peer->counters);
}

bool
peer_wait_timer(struct peer *peer)
{
    uint64_t deadline = tcp_deadline(&peer->conn);

    if (deadline == UINT64_MAX)
        return false;
    peer_wait(peer, deadline > peer->now_us ? deadline - peer->now_us : 0);
    return true;
}
