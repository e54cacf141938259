/* SPDX-License-Identifier: BSD-3-Clause */
/* What a hostile or confused peer may send to a connection (RFC 5961, 7323), and the states it goes through. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#include "tests/unit/unit.h"

static struct peer peer;

static void
open_connection(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
}

static void
open_with_timestamps(uint32_t ts)
{
    peer_init(&peer);
    peer.syn.has_timestamp = true;
    peer.syn.ts_value = ts;
    peer_open(&peer);
}

static void
test_rst(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 2, 1, 0), TCP_DROP_RST); /* in the window, not exact: challenged */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_ACK);
    CU_ASSERT_EQUAL(peer.sent.ack, 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 0, 1, 0), TCP_DROP_WINDOW); /* outside: silence */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 100000, 1, 0), TCP_DROP_WINDOW);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 1, 1, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    CU_ASSERT_EQUAL(peer.counters.resets, 1);
    CU_ASSERT_EQUAL(peer.counters.closed, 1);
    CU_ASSERT_FALSE(peer_next(&peer));
}

static void
test_syn_on_established(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_SYN, 10, 0, 0), TCP_DROP_SYN);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_SYN | TCP_ACK, 0, 1, 0), TCP_DROP_SYN);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_SYN, 900000, 0, 0), TCP_DROP_WINDOW);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 1, 10));
}

static void
test_ack_out_of_range(void)
{
    open_connection();
    peer_write(&peer, 100);
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 102, 5), TCP_DROP_ACK); /* never sent */
    CU_ASSERT_EQUAL(peer.conn.stream.in.len, 0);                         /* its data is not taken either */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 0x80000000u, 5), TCP_DROP_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 0u - 60001, 5), TCP_DROP_ACK); /* older than any window */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 0u - 50000, 5), TCP_ACCEPTED); /* merely old */
    CU_ASSERT(peer_read(&peer, 1, 5));
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 6, 101, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.stream.out.len, 0);
}

static void
test_challenge_budget(void)
{
    unsigned answered = 0;

    open_connection();
    for (unsigned i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 2, 1, 0), TCP_DROP_RST);
        answered += peer_drain(&peer);
    }
    CU_ASSERT_EQUAL(answered, TCP_CHALLENGES);
    peer_wait(&peer, SECOND);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 2, 1, 0), TCP_DROP_RST);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
}

/* Stale empty segments are answered a few times a second, so two ends never answer each other for ever. */
static void
test_no_ack_storm(void)
{
    unsigned answered = 0;

    open_connection();
    peer_send(&peer, TCP_ACK, 1, 1, 100);
    peer_drain(&peer);
    for (unsigned i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 50, 1, 0), TCP_DROP_WINDOW);
        answered += peer_drain(&peer);
    }
    CU_ASSERT(answered <= TCP_CHALLENGES + 1);
    CU_ASSERT(answered >= 1); /* a keepalive probe looks like this */
    peer_close(&peer);
}

static void
test_keepalive_probe_answered(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 0, 1, 0), TCP_DROP_WINDOW);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 0, 1, 1), TCP_ACCEPTED); /* with a byte of garbage */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.conn.stream.in.len, 0);
}

static void
test_no_ack_flag(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_PSH, 1, 1, 10), TCP_DROP_STATE);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_FIN, 1, 1, 10), TCP_DROP_STATE);
    CU_ASSERT_EQUAL(peer.conn.stream.in.len, 0);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
}

static void
test_paws(void)
{
    open_with_timestamps(1000);
    peer.ts = 1001;
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.ts_recent, 1001);
    peer_drain(&peer);
    peer.ts = 999 - TCP_PAWS_REORDER; /* from an earlier turn of the sequence numbers */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 11, 1, 10), TCP_DROP_PAWS);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ts_echo, 1001);
    CU_ASSERT(peer_read(&peer, 1, 10));
    peer.now_us += TCP_PAWS_IDLE_US; /* after so long the clock may have turned */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 11, 1, 10), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 11, 10));
    peer.ts = 0; /* PAWS does not protect against RSTs: those have their own check */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 21, 1, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
}

/* Two segments overtake each other between two CPUs of the peer: the later timestamp first, and both are taken. */
static void
test_paws_reordered(void)
{
    open_with_timestamps(1000);
    peer.ts = 1002;
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 0), TCP_ACCEPTED);
    peer.ts = 1001;
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.ts_recent, 1002); /* which never goes back */
    CU_ASSERT(peer_read(&peer, 1, 10));
}

/* The echo is that of the segment which the ACK answers first: the earliest of those that wait (RFC 7323 4.3). */
static void
test_timestamp_echo(void)
{
    open_with_timestamps(1000);
    peer.ts = 1001;
    peer_send(&peer, TCP_ACK, 1, 1, 10);
    peer.ts = 1002;
    peer_send(&peer, TCP_ACK, 11, 1, 10);
    peer_wait(&peer, TCP_DELACK_US + 1);
    peer_drain(&peer);
    peer_wait_timer(&peer);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 21);
    CU_ASSERT_EQUAL(peer.sent.ts_echo, 1001);
    peer.ts = 1003;
    peer_send(&peer, TCP_ACK, 31, 1, 10); /* out of order: not yet */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ts_echo, 1001);
    peer.ts = 1004;
    peer_send(&peer, TCP_ACK, 21, 1, 10);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ts_echo, 1004);
    peer_close(&peer);
}

static void
test_timestamps_stop(void)
{
    open_with_timestamps(1000);
    peer.use_ts = false; /* a middlebox strips them: still served, as Linux does */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 1, 10));
}

static void
test_window_respected(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 65000, 1, 1000), TCP_ACCEPTED); /* cut at the right edge */
    CU_ASSERT_EQUAL(peer.conn.received[0].end, PEER_ISS + 1 + 65535);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 65537, 1, 1000), TCP_DROP_WINDOW);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 0u - 2000, 1, 1000), TCP_DROP_WINDOW);
    peer_close(&peer);
}

static void
test_fin_in_order(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 11, 1, 5), TCP_ACCEPTED); /* before its data */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_FALSE(peer.conn.stream.end_of_input);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 16, 1, 20), TCP_ACCEPTED); /* nothing can come after it */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSE_WAIT);
    CU_ASSERT(peer.conn.stream.end_of_input);
    CU_ASSERT(peer_read(&peer, 1, 15));
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer.sent.ack, 17);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 17, 1, 20), TCP_DROP_STATE);
    CU_ASSERT_EQUAL(peer.conn.stream.in.len, 0);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 16, 1, 0), TCP_ACCEPTED); /* again: acknowledged again */
    CU_ASSERT(peer_drain(&peer) >= 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 17);
}

static void
test_fin_alone_waits(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 11, 1, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSE_WAIT);
    CU_ASSERT(peer_read(&peer, 1, 10));
}

/* A FIN takes a number beyond a window that is full; what follows it is still looked at. */
static void
test_fin_beyond_full_window(void)
{
    open_connection();
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 1, 1, 65535), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSE_WAIT);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 65537, 1, 0), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 1, 65535));
}

/* A FIN in the middle of what has been received already is a lie. */
static void
test_fin_contradicts_data(void)
{
    open_connection();
    peer_send(&peer, TCP_ACK, 11, 1, 20);
    peer_send(&peer, TCP_ACK | TCP_FIN, 11, 1, 5);
    peer_send(&peer, TCP_ACK, 1, 1, 10);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT(peer_read(&peer, 1, 30));
}

static void
test_simultaneous_close(void)
{
    open_connection();
    tcp_close(&peer.conn, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 1, 1, 0), TCP_ACCEPTED); /* does not acknowledge ours */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSING);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 2, 2, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_TIME_WAIT);
}

static void
test_rst_in_every_state(void)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t next = 1;
        open_connection();
        if (i == 0 || i == 2) { /* CLOSE_WAIT, LAST_ACK */
            peer_send(&peer, TCP_ACK | TCP_FIN, 1, 1, 0);
            next = 2;
        }
        if (i > 0)
            tcp_close(&peer.conn, peer.now_us);
        peer_drain(&peer);
        if (i == 3) /* FIN_WAIT_2 */
            peer_send(&peer, TCP_ACK, 1, 2, 0);
        CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, next, 0, 0), TCP_ACCEPTED);
        CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    }
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 0), TCP_DROP_NO_CONNECTION);
}

static void
test_drops_are_counted(void)
{
    open_connection();
    peer_send(&peer, TCP_RST, 2, 1, 0);
    peer_send(&peer, TCP_RST, 2, 1, 0);
    peer_send(&peer, TCP_SYN, 2, 1, 0);
    CU_ASSERT_EQUAL(peer.counters.drops[TCP_DROP_RST], 2);
    CU_ASSERT_EQUAL(peer.counters.drops[TCP_DROP_SYN], 1);
    CU_ASSERT_EQUAL(peer.counters.segments_in, 4); /* the handshake's ACK too */
}

/* Random segments around the window: whatever comes, the connection stays sound and bounded. */
static void
test_random_segments(void)
{
    uint64_t random = 42;

    for (unsigned round = 0; round < 200; round++) {
        peer_init(&peer);
        peer.syn.has_timestamp = round & 1;
        peer_open(&peer);
        peer_write(&peer, 5000);
        for (unsigned i = 0; i < 300; i++) {
            struct tcp_segment segment = {0};
            static uint8_t payload[1460];
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            uint32_t a = (uint32_t)(random >> 33), b = (uint32_t)(random >> 13);
            segment.flags = a % 16 == 0 ? (uint8_t)(b & 0x1f) : TCP_ACK;
            segment.seq = peer.conn.rcv_nxt - PEER_ISS + (a >> 4) % 8192 - 2000;
            segment.ack = b % 8000 - 1000;
            segment.wnd = b >> 16 & (a & 1 ? 0xffff : 0);
            segment.len = a >> 16 & (b & 1 ? 1023 : 3);
            segment.payload = payload;
            segment.has_timestamp = b & 2;
            segment.ts_value = peer.ts + (b >> 8 & 15) - 4;
            segment.sack_blocks = (uint8_t)(a & 3);
            for (unsigned s = 0; s < segment.sack_blocks; s++)
                segment.sack[s] = (struct tcp_range){b % 6000 - 100 + s * 7, a % 6000 - 100 + s * 11};
            peer_send_segment(&peer, segment);
            CU_ASSERT(peer_drain(&peer) < 100);
            CU_ASSERT(peer.conn.received_ranges <= TCP_MAX_RANGES && peer.conn.sacked_ranges <= TCP_MAX_RANGES);
            CU_ASSERT(peer.conn.stream.in.len + peer.conn.stream.in.ahead <= peer.config.receive_window);
            CU_ASSERT(tcp_pipe(&peer.conn) <= peer.conn.snd_nxt - peer.conn.snd_una);
            if (i % 8 == 0)
                peer_wait(&peer, b % 300000);
        }
        peer_close(&peer);
    }
}

static const struct unit_test tests[] = {
    {"RST", test_rst},
    {"SYN on an established connection", test_syn_on_established},
    {"ACK out of range", test_ack_out_of_range},
    {"challenge budget", test_challenge_budget},
    {"no ACK storm", test_no_ack_storm},
    {"keepalive probe answered", test_keepalive_probe_answered},
    {"no ACK flag", test_no_ack_flag},
    {"PAWS", test_paws},
    {"PAWS and reordering", test_paws_reordered},
    {"timestamp echo", test_timestamp_echo},
    {"timestamps stop", test_timestamps_stop},
    {"window respected", test_window_respected},
    {"FIN waits for its data", test_fin_in_order},
    {"FIN alone waits for its data", test_fin_alone_waits},
    {"FIN beyond a full window", test_fin_beyond_full_window},
    {"FIN against data", test_fin_contradicts_data},
    {"simultaneous close", test_simultaneous_close},
    {"RST in every state", test_rst_in_every_state},
    {"drops are counted", test_drops_are_counted},
    {"random segments", test_random_segments},
};
UNIT_MAIN("dataplane/tcp/input", tests)
