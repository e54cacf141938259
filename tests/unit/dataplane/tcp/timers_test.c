/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that fall silent in any state: keepalive, lingering, no connection that stays for ever. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#include "tests/unit/unit.h"

static struct peer peer;

/* Run the timers until the connection ends or nothing is due; what it sends is lost. */
static bool
ends_by_itself(uint64_t limit_us)
{
    uint64_t limit = peer.now_us + limit_us;

    peer_drain(&peer);
    while (peer.conn.state != TCP_CLOSED && peer.now_us < limit && peer_wait_timer(&peer))
        peer_drain(&peer);
    return peer.conn.state == TCP_CLOSED;
}

static void
test_keepalive(void)
{
    peer_init(&peer);
    peer.config.keepalive_us = 300 * SECOND;
    peer_open(&peer);
    uint64_t before = peer.now_us;
    peer.now_us += 100 * SECOND;
    peer_send(&peer, TCP_ACK, 1, 1, 10);
    peer_drain(&peer);
    for (unsigned i = 0; i < 10; i++) { /* the timer is lazy: it may run without a probe */
        while (peer_wait_timer(&peer) && peer_drain(&peer) == 0)
            continue;
        if (peer.sent.seq == 0)
            break;
    }
    CU_ASSERT(peer.now_us - before >= 400 * SECOND);
    CU_ASSERT_EQUAL(peer.sent.seq, 0); /* one before the next: Linux answers */
    CU_ASSERT_EQUAL(peer.sent.len, 0);
    peer_send(&peer, TCP_ACK, 11, 1, 0);
    uint64_t heard = peer.now_us;
    CU_ASSERT(ends_by_itself(3600 * SECOND));
    CU_ASSERT(peer.now_us - heard >= 600 * SECOND); /* idle, then three probes a third of it apart */
    CU_ASSERT(peer.now_us - heard <= 601 * SECOND);
    peer_close(&peer);
}

static void
test_no_keepalive(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

static void
test_syn_received_silent(void)
{
    peer_init(&peer);
    tcp_accept(&peer.conn, &peer.config, &peer.syn, OUR_ISS, peer.now_us);
    CU_ASSERT(ends_by_itself(120 * SECOND));
    CU_ASSERT_EQUAL(peer.counters.segments_out, 1 + TCP_SYN_RETRIES);
}

/* After our close, whatever the peer has or has not acknowledged. */
static void
test_closing_silent(void)
{
    for (unsigned i = 0; i < 4; i++) {
        memset(&peer, 0, sizeof(peer));
        peer_open(&peer);
        if (i == 1) /* LAST_ACK */
            peer_send(&peer, TCP_ACK | TCP_FIN, 1, 1, 0);
        if (i == 2)
            peer_write(&peer, 100000);
        tcp_close(&peer.conn, peer.now_us);
        peer_drain(&peer);
        if (i == 3) { /* FIN_WAIT_2 */
            peer_send(&peer, TCP_ACK, 1, 2, 0);
            CU_ASSERT_EQUAL(peer.conn.state, TCP_FIN_WAIT_2);
        }
        CU_ASSERT(ends_by_itself(600 * SECOND));
        CU_ASSERT_EQUAL(peer.counters.closed, 1);
        peer_close(&peer);
    }
}

/* Closed by us, and the peer answers every probe of its closed window, for ever. */
static void
test_closing_zero_window(void)
{
    peer_init(&peer);
    peer.wnd = 0;
    peer_open(&peer);
    peer_write(&peer, 1000);
    tcp_close(&peer.conn, peer.now_us);
    for (unsigned i = 0; i < 1000 && peer.conn.state != TCP_CLOSED; i++) {
        peer_drain(&peer);
        CU_ASSERT(peer_wait_timer(&peer));
        if (peer_drain(&peer) > 0)
            peer_send(&peer, TCP_ACK, 1, 1, 0);
    }
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    peer_close(&peer);
}

/* Many connections come and go, every other one with a stuck peer: nothing is left behind. */
static void
test_many_cycles(void)
{
    unsigned ended = 0;

    for (unsigned i = 0; i < 200000; i++) {
        memset(&peer, 0, sizeof(peer));
        peer_open(&peer);
        peer_send(&peer, TCP_ACK, 1, 1, 100);
        bytes_consume(&peer.conn.stream.in, 100);
        peer_write(&peer, 50);
        tcp_close(&peer.conn, peer.now_us);
        peer_drain(&peer);
        if (i % 2 == 0)
            peer_send(&peer, TCP_ACK | TCP_FIN, 101, 52, 0);
        ended += ends_by_itself(600 * SECOND);
        peer_close(&peer);
    }
    CU_ASSERT_EQUAL(ended, 200000);
}

static const struct unit_test tests[] = {
    {"keepalive", test_keepalive},
    {"no keepalive", test_no_keepalive},
    {"silent in SYN_RECEIVED", test_syn_received_silent},
    {"silent while closing", test_closing_silent},
    {"zero window while closing", test_closing_zero_window},
    {"many cycles", test_many_cycles},
};
UNIT_MAIN("dataplane/tcp/timers", tests)
