/* SPDX-License-Identifier: BSD-3-Clause */
/* Out-of-order data: one consistent stream whatever arrives, in bounded memory; and the window we announce. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct peer peer;

static void
open_connection(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
}

static enum tcp_drop
send_fill(uint32_t seq, uint32_t len, uint8_t fill)
{
    uint8_t payload[64];
    struct tcp_segment segment = {.flags = TCP_ACK, .seq = seq, .ack = 1, .wnd = 1000, .payload = payload, .len = len};

    memset(payload, fill, sizeof(payload));
    return peer_send_segment(&peer, segment);
}

static bool
input_is(const char *text)
{
    const struct bytes *in = &peer.conn.stream.in;

    return in->len == strlen(text) && memcmp(bytes_data(in), text, in->len) == 0;
}

/* Two copies that differ: the bytes that came first stay (policy). */
static void
test_overlap_keeps_first(void)
{
    open_connection();
    send_fill(3, 4, 'a'); /* ..aaaa */
    send_fill(1, 4, 'b'); /* bb stays before them */
    CU_ASSERT(input_is("bbaaaa"));
    send_fill(1, 10, 'c');
    CU_ASSERT(input_is("bbaaaacccc"));
    send_fill(13, 2, 'd');
    send_fill(16, 2, 'e');
    send_fill(12, 8, 'f'); /* fills around both */
    send_fill(11, 20, 'g');
    CU_ASSERT(input_is("bbaaaaccccgfddfeeffggggggggggg"));
    CU_ASSERT_EQUAL(peer.conn.received_ranges, 0);
    peer_close(&peer);
}

/* A stream cut at random, with other bytes in every copy: equal to a model that keeps the first of each byte. */
static void
test_overlap_model(void)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        char model[400] = {0};
        uint32_t next = 0;

        srand(seed);
        open_connection();
        while (next < 300) {
            uint32_t at = (uint32_t)rand() % 300, len = 1 + (uint32_t)rand() % 40;
            uint8_t fill = (uint8_t)('a' + rand() % 26);
            enum tcp_drop drop = send_fill(at + 1, len, fill);
            for (uint32_t i = at; drop == TCP_ACCEPTED && i < at + len; i++)
                if (model[i] == 0)
                    model[i] = (char)fill;
            while (model[next] != 0)
                next++;
            CU_ASSERT_EQUAL(peer.conn.stream.in.len, next);
        }
        bool same = memcmp(bytes_data(&peer.conn.stream.in), model, next) == 0;
        if (!same)
            fprintf(stderr, "seed %u: the stream differs\n", seed);
        CU_ASSERT(same);
        peer_close(&peer);
    }
}

static void
test_consumed_under_holes(void)
{
    open_connection();
    peer_send(&peer, TCP_ACK, 1, 1, 1000);
    peer_send(&peer, TCP_ACK, 5001, 1, 1000);
    CU_ASSERT(peer_read(&peer, 1, 1000)); /* the queue is empty, yet what waits behind the hole stays */
    peer_send(&peer, TCP_ACK, 1001, 1, 3000);
    CU_ASSERT(peer_read(&peer, 1001, 3000));
    peer_send(&peer, TCP_ACK, 4001, 1, 1000);
    CU_ASSERT(peer_read(&peer, 4001, 2000));
    CU_ASSERT_PTR_NULL(peer.conn.stream.in.block);
}

static void
test_one_byte_holes(void)
{
    unsigned refused = 0;

    open_connection();
    for (uint32_t seq = 2; seq < 60000; seq += 2)
        refused += peer_send(&peer, TCP_ACK, seq, 1, 1) == TCP_DROP_QUEUE;
    CU_ASSERT_EQUAL(peer.conn.received_ranges, TCP_MAX_RANGES);
    CU_ASSERT_EQUAL(refused, 29999 - TCP_MAX_RANGES);
    CU_ASSERT(peer.conn.stream.in.capacity <= 64u << 10);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 1), TCP_ACCEPTED); /* what is next is always taken */
    CU_ASSERT(peer_read(&peer, 1, 2));
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 3, 1, 200), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 3, 200));
    CU_ASSERT_EQUAL(peer.conn.received_ranges, 0);
}

static void
test_one_byte_segments(void)
{
    open_connection();
    for (uint32_t seq = 1; seq <= 30000; seq++) {
        CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, seq, 1, 1), TCP_ACCEPTED);
        peer_drain(&peer);
    }
    CU_ASSERT(peer_read(&peer, 1, 30000));
    CU_ASSERT(peer.counters.segments_out < 30); /* not an ACK for each */
}

static void
test_sack_blocks(void)
{
    open_connection();
    for (uint32_t i = 1; i <= 5; i++)
        peer_send(&peer, TCP_ACK, i * 100, 1, 10);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 1);
    CU_ASSERT_EQUAL(peer.sent.sack_blocks, 4);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 500); /* the newest first */
    CU_ASSERT_EQUAL(peer.sent.sack[0].end, 510);
    CU_ASSERT_EQUAL(peer.sent.sack[1].start, 100);
    peer_send(&peer, TCP_ACK, 210, 1, 10);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 200);
    CU_ASSERT_EQUAL(peer.sent.sack[0].end, 220);
    peer_send(&peer, TCP_ACK, 1, 1, 600);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack_blocks, 0);
    CU_ASSERT_EQUAL(peer.sent.ack, 601);
    peer_close(&peer);
}

/* What came twice is told first, once (RFC 2883): so a peer learns that it was too eager. */
static void
test_duplicate_sack(void)
{
    open_connection();
    peer_send(&peer, TCP_ACK, 1, 1, 100);
    peer_send(&peer, TCP_ACK, 201, 1, 100);
    peer_send(&peer, TCP_ACK, 401, 1, 100);
    peer_drain(&peer);
    peer_send(&peer, TCP_ACK, 51, 1, 50); /* below the ACK */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack_blocks, 3);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 51);
    CU_ASSERT_EQUAL(peer.sent.sack[0].end, 101);
    peer_send(&peer, TCP_ACK, 211, 1, 20); /* above it: the range that it lies in follows */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack_blocks, 3);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 211);
    CU_ASSERT_EQUAL(peer.sent.sack[0].end, 231);
    CU_ASSERT_EQUAL(peer.sent.sack[1].start, 201);
    CU_ASSERT_EQUAL(peer.sent.sack[2].start, 401);
    peer_send(&peer, TCP_ACK, 1, 1, 50); /* wholly before the window */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 1);
    CU_ASSERT_EQUAL(peer.sent.sack[0].end, 51);
    peer_send(&peer, TCP_ACK, 601, 1, 10);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.sack[0].start, 601);
    peer_close(&peer);
}

static void
test_no_sack_duplicate_acks(void)
{
    peer_init(&peer);
    peer.syn.sack_permitted = false;
    peer_open(&peer);
    for (uint32_t i = 1; i <= 3; i++)
        peer_send(&peer, TCP_ACK, i * 1000, 1, 1000);
    CU_ASSERT_EQUAL(peer_drain(&peer), 3); /* one a segment: the peer counts them */
    CU_ASSERT_EQUAL(peer.sent.sack_blocks, 0);
    CU_ASSERT_EQUAL(peer.sent.ack, 1);
    peer_close(&peer);
}

/* The reader stops: the window closes and its right edge never moves back; the reader goes on: it opens at once. */
static void
test_window_closes_and_opens(void)
{
    uint32_t seq = 1, edge = 0;

    open_connection();
    while (seq < 65536) {
        uint32_t len = 65537 - seq < 1000 ? 65537 - seq : 1000;
        CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, seq, 1, len), TCP_ACCEPTED);
        seq += len;
        if (peer_drain(&peer) > 0) {
            uint32_t now = peer.sent.ack + (peer.sent.wnd << peer.conn.rcv_wscale);
            CU_ASSERT(now + 1 >= edge); /* scaling may round by less than 1 << 1 */
            edge = now > edge ? now : edge;
        }
    }
    peer_send(&peer, TCP_ACK, seq, 1, 1); /* a probe of the closed window: answered, not taken */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.wnd, 0);
    CU_ASSERT_EQUAL(peer.sent.ack, 65537);
    bytes_consume(&peer.conn.stream.in, 1000); /* less than a segment: silly to tell */
    tcp_window_update(&peer.conn);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    peer_send(&peer, TCP_ACK, seq, 1, 1); /* even when asked */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.wnd, 0);
    bytes_consume(&peer.conn.stream.in, 2000);
    tcp_window_update(&peer.conn);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.wnd << peer.conn.rcv_wscale, 3000);
    peer_close(&peer);
}

static void
test_window_grows_by_want(void)
{
    open_connection();
    peer_send(&peer, TCP_ACK, 1, 1, 60000);
    peer_drain(&peer);
    peer.conn.stream.want = 1u << 20;
    tcp_window_update(&peer.conn);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.wnd << peer.conn.rcv_wscale, 131070); /* as much as the scale can say */
    peer.conn.stream.want = 0;                                      /* what was promised stays promised */
    peer_send(&peer, TCP_ACK, 60001, 1, 2000);
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer.sent.wnd << peer.conn.rcv_wscale, 131070 - 2000);
    peer_close(&peer);
}

static void
test_window_update_lost(void)
{
    open_connection();
    peer_send(&peer, TCP_ACK, 1, 1, 65535);
    peer_drain(&peer);
    bytes_consume(&peer.conn.stream.in, 65535);
    tcp_window_update(&peer.conn);
    peer_drain(&peer); /* lost; the peer's probe gets it told again */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 65535, 1, 0), TCP_DROP_WINDOW);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT(peer.sent.wnd > 1000);
}

static const struct unit_test tests[] = {
    {"overlap keeps the first bytes", test_overlap_keeps_first},
    {"overlap against a model", test_overlap_model},
    {"consumed under holes", test_consumed_under_holes},
    {"one-byte holes", test_one_byte_holes},
    {"one-byte segments", test_one_byte_segments},
    {"SACK blocks", test_sack_blocks},
    {"duplicates told by SACK", test_duplicate_sack},
    {"duplicate ACKs without SACK", test_no_sack_duplicate_acks},
    {"window closes and opens", test_window_closes_and_opens},
    {"window grows by the wish", test_window_grows_by_want},
    {"window update lost", test_window_update_lost},
};
UNIT_MAIN("dataplane/tcp/reassembly", tests)
