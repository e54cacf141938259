/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves and when: full segments, windows that close and shrink, delayed ACKs, FIN. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#include "tests/unit/unit.h"

static struct peer peer;

static void
open_connection(uint32_t wnd)
{
    peer_init(&peer);
    peer.wnd = wnd;
    peer_open(&peer);
}

static bool
payload_is(uint32_t seq)
{
    for (uint32_t i = 0; i < peer.sent.len; i++)
        if (peer.sent.payload[i] != peer_byte(seq - 1 + i))
            return false;
    return peer.sent.seq == seq;
}

static void
test_segments(void)
{
    open_connection(60000);
    peer_write(&peer, 3000);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.len, 1460);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_ACK);
    CU_ASSERT(payload_is(1));
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT(payload_is(1461));
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.len, 80);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_ACK | TCP_PSH);
    CU_ASSERT(payload_is(2921));
    CU_ASSERT_FALSE(peer_next(&peer));
    peer_send(&peer, TCP_ACK, 1, 3001, 0);
    CU_ASSERT_PTR_NULL(peer.conn.stream.out.block);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

/* A small reply leaves at once though another is in flight: no Nagle on a server. */
static void
test_no_nagle(void)
{
    open_connection(60000);
    for (unsigned i = 0; i < 5; i++) {
        peer_write(&peer, 10);
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    }
    peer_close(&peer);
}

static void
test_initial_window(void)
{
    open_connection(60000);
    peer_write(&peer, 100000);
    CU_ASSERT_EQUAL(peer_drain(&peer), 10);
    peer_send(&peer, TCP_ACK, 1, 1 + 14600, 0); /* slow start: twice as many */
    CU_ASSERT_EQUAL(peer_drain(&peer), 20);
    peer_close(&peer);
}

static void
test_send_window(void)
{
    open_connection(2000);
    peer_write(&peer, 10000);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1); /* 540 more would fit, but that is silly while one is in flight */
    CU_ASSERT_EQUAL(peer.sent.len, 1460);
    peer_send(&peer, TCP_ACK, 1, 1461, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    peer.wnd = 700; /* smaller than a segment and nothing in flight: what fits is sent */
    peer_send(&peer, TCP_ACK, 1, 2921, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.len, 700);
    peer_close(&peer);
}

static void
test_zero_window_probe(void)
{
    open_connection(0);
    peer_write(&peer, 5000);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    for (unsigned i = 0; i < 200; i++) { /* for ever, as long as the peer answers; at most every 60 s */
        uint64_t before = peer.now_us;
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT(peer.now_us - before <= TCP_RTO_MAX_US);
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
        CU_ASSERT_EQUAL(peer.sent.seq, 1);
        CU_ASSERT_EQUAL(peer.sent.len, 1); /* Linux does not answer empty ones */
        peer_send(&peer, TCP_ACK, 1, 1, 0);
    }
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    peer.wnd = 60000;
    peer_send(&peer, TCP_ACK, 1, 1, 0);
    CU_ASSERT(peer_next(&peer)); /* at once, the probe's byte again first */
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer.sent.seq + peer.sent.len, 5001);
    peer_send(&peer, TCP_ACK, 1, 5001, 0);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

/* A request that opens the window again is the next in order: the short way must not forget the probe's byte. */
static void
test_window_opened_by_data(void)
{
    open_connection(0);
    peer_write(&peer, 100);
    peer_drain(&peer);
    peer_wait_timer(&peer);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    peer.wnd = 60000;
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    CU_ASSERT_EQUAL(peer.conn.persist_at_us, 0);
    CU_ASSERT_NOT_EQUAL(peer.conn.rto_at_us, 0);
    peer_close(&peer);
}

/* Answers to probes look like duplicate ACKs and are none. */
static void
test_probe_answers_are_no_duplicates(void)
{
    peer_init(&peer);
    peer.wnd = 0;
    peer.syn.sack_permitted = false;
    peer_open(&peer);
    uint32_t cwnd = peer.conn.cwnd;
    peer_write(&peer, 5000);
    for (unsigned i = 0; i < 6; i++) {
        peer_drain(&peer);
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
        peer_send(&peer, TCP_ACK, 1, 1, 0);
    }
    CU_ASSERT_EQUAL(peer.counters.dup_acks, 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    CU_ASSERT_EQUAL(peer.conn.cwnd, cwnd);
    peer_close(&peer);
}

static void
test_zero_window_unanswered(void)
{
    unsigned probes = 0;

    open_connection(0);
    peer_write(&peer, 5000);
    peer_drain(&peer);
    while (peer.conn.state != TCP_CLOSED && peer_wait_timer(&peer))
        probes += peer_drain(&peer);
    CU_ASSERT_EQUAL(probes, TCP_PROBES);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    peer_close(&peer);
}

/* Each probe's byte may be taken: the rest goes on from there. */
static void
test_probe_byte_taken(void)
{
    open_connection(0);
    peer_write(&peer, 10);
    for (uint32_t i = 1; i <= 10; i++) {
        peer_drain(&peer);
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
        CU_ASSERT(payload_is(i));
        peer_send(&peer, TCP_ACK, 1, i + 1, 0);
    }
    CU_ASSERT_EQUAL(peer.conn.stream.out.len, 0);
}

static void
test_window_shrunk(void)
{
    open_connection(14600);
    peer_write(&peer, 14600);
    CU_ASSERT_EQUAL(peer_drain(&peer), 10);
    peer.wnd = 1000; /* takes back what it had promised */
    peer_send(&peer, TCP_ACK, 1, 1461, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    for (uint32_t una = 1461; una < 14601;) { /* it has dropped all beyond: sent again as far as it allows */
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT(peer_drain(&peer) >= 1);
        CU_ASSERT(payload_is(una));
        CU_ASSERT(peer.sent.len <= 1000);
        una += peer.sent.len;
        peer_send(&peer, TCP_ACK, 1, una, 0);
        while (peer_drain(&peer) > 0) {
            CU_ASSERT(payload_is(una));
            una += peer.sent.len;
            peer_send(&peer, TCP_ACK, 1, una, 0);
        }
    }
    CU_ASSERT_EQUAL(peer.conn.stream.out.len, 0);
}

static void
test_window_shrunk_to_zero(void)
{
    open_connection(14600);
    peer_write(&peer, 14600);
    CU_ASSERT_EQUAL(peer_drain(&peer), 10);
    peer.wnd = 0;
    peer_send(&peer, TCP_ACK, 1, 1461, 0);
    for (unsigned i = 0; i < 30; i++) {
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
        CU_ASSERT_EQUAL(peer.sent.len, 1);
        peer_send(&peer, TCP_ACK, 1, 1461, 0);
    }
    peer.wnd = 60000;
    peer_send(&peer, TCP_ACK, 1, 1461, 0);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT(payload_is(1461));
    peer_drain(&peer);
    peer_send(&peer, TCP_ACK, 1, 14601, 0);
    CU_ASSERT_EQUAL(peer.conn.stream.out.len, 0);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

/* While our probe is out beyond a closed window, our ACKs stay where the peer looks at them. */
static void
test_ack_in_window(void)
{
    open_connection(0);
    peer_write(&peer, 100);
    peer_drain(&peer);
    peer_wait_timer(&peer);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    peer_send(&peer, TCP_ACK, 2, 1, 10); /* out of order: answered at once */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    peer_close(&peer);
}

static void
test_delayed_ack(void)
{
    open_connection(60000);
    peer_send(&peer, TCP_ACK, 1, 1, 100);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), peer.now_us + TCP_DELACK_US);
    CU_ASSERT(peer_wait_timer(&peer));
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 101);
    CU_ASSERT_EQUAL(peer.sent.len, 0);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);

    peer_send(&peer, TCP_ACK, 101, 1, 100);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    peer_write(&peer, 5); /* rides on the reply */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 201);
    CU_ASSERT_EQUAL(peer.sent.len, 5);
    peer_send(&peer, TCP_ACK, 201, 6, 0);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX); /* and none comes after it */

    peer_send(&peer, TCP_ACK, 201, 6, 1460); /* every second full segment */
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    peer_send(&peer, TCP_ACK, 1661, 6, 1460);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 3121);
    peer_close(&peer);
}

static void
test_fin(void)
{
    open_connection(1000);
    peer_write(&peer, 1500);
    tcp_close(&peer.conn, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.flags & TCP_FIN, 0); /* not before the last byte */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    peer_send(&peer, TCP_ACK, 1, 1001, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT(peer.sent.flags & TCP_FIN);
    CU_ASSERT_EQUAL(peer.sent.len, 500);
    peer_wait_timer(&peer); /* lost: the last byte and the FIN again */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT(peer.sent.flags & TCP_FIN);
    CU_ASSERT(payload_is(1001));
    peer_send(&peer, TCP_ACK, 1, 1501, 0); /* the FIN alone is missing */
    peer_wait_timer(&peer);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT(peer.sent.flags & TCP_FIN);
    CU_ASSERT_EQUAL(peer.sent.seq, 1501);
    CU_ASSERT_EQUAL(peer.sent.len, 0);
    peer_send(&peer, TCP_ACK, 1, 1502, 0);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_FIN_WAIT_2);
}

static void
test_fin_at_closed_window(void)
{
    open_connection(1000);
    peer_write(&peer, 1000);
    peer_drain(&peer);
    peer.wnd = 0;
    peer_send(&peer, TCP_ACK, 1, 1001, 0);
    tcp_close(&peer.conn, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT(peer.sent.flags & TCP_FIN);
    for (unsigned i = 0; i < 3; i++) { /* refused: it goes on asking */
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
        CU_ASSERT(peer.sent.flags & TCP_FIN);
        CU_ASSERT_EQUAL(peer.sent.seq, 1001);
        peer_send(&peer, TCP_ACK, 1, 1001, 0);
    }
    peer_send(&peer, TCP_ACK, 1, 1002, 0);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_FIN_WAIT_2);
}

static const struct unit_test tests[] = {
    {"segments", test_segments},
    {"no Nagle", test_no_nagle},
    {"initial window", test_initial_window},
    {"send window", test_send_window},
    {"zero-window probe", test_zero_window_probe},
    {"window opened by data", test_window_opened_by_data},
    {"answers to probes are no duplicates", test_probe_answers_are_no_duplicates},
    {"zero-window probe unanswered", test_zero_window_unanswered},
    {"probe's byte taken", test_probe_byte_taken},
    {"window shrunk", test_window_shrunk},
    {"window shrunk to zero", test_window_shrunk_to_zero},
    {"ACK in the window", test_ack_in_window},
    {"delayed ACK", test_delayed_ack},
    {"FIN", test_fin},
    {"FIN at a closed window", test_fin_at_closed_window},
};
UNIT_MAIN("dataplane/tcp/output", tests)
