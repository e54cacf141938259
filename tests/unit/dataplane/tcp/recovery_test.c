/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent again, when, and how fast: duplicate ACKs, SACK, partial ACKs, timeouts; hostile SACK blocks. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#include "tests/unit/unit.h"

#define MSS 1460u

static struct peer peer;

/* Ten full segments in flight. */
static void
open_with_flight(bool sack)
{
    peer_init(&peer);
    peer.syn.sack_permitted = sack;
    peer_open(&peer);
    peer_write(&peer, 40 * MSS);
    CU_ASSERT_EQUAL(peer_drain(&peer), 10);
}

static uint32_t
at(unsigned segment)
{
    return 1 + segment * MSS;
}

static enum tcp_drop
send_sack(uint32_t ack, uint32_t start, uint32_t end)
{
    return peer_send_segment(
        &peer, (struct tcp_segment){
                   .flags = TCP_ACK, .seq = 1, .ack = ack, .wnd = peer.wnd, .sack_blocks = 1, .sack = {{start, end}}});
}

static void
test_duplicate_acks(void)
{
    open_with_flight(false);
    peer_send(&peer, TCP_ACK, 1, 1, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1); /* limited transmit: new data for each of the first two */
    CU_ASSERT_EQUAL(peer.sent.seq, at(10));
    peer_send(&peer, TCP_ACK, 1, 1, 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.seq, at(11));
    CU_ASSERT_EQUAL(peer.counters.retransmits, 0);
    peer_send(&peer, TCP_ACK, 1, 1, 0);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    CU_ASSERT_EQUAL(peer.sent.len, MSS);
    CU_ASSERT_EQUAL(peer.counters.retransmits, 1);
    CU_ASSERT_EQUAL(peer.conn.ssthresh, 6 * MSS);
    peer_drain(&peer);
    peer_send(&peer, TCP_ACK, 1, at(12), 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    CU_ASSERT_EQUAL(peer.conn.cwnd, 6 * MSS);
    CU_ASSERT_EQUAL(peer.counters.timeouts, 0);
    peer_close(&peer);
}

/* NewReno: each partial ACK brings the next hole at once. */
static void
test_partial_acks(void)
{
    open_with_flight(false);
    for (unsigned i = 0; i < 3; i++)
        peer_send(&peer, TCP_ACK, 1, 1, 0);
    peer_drain(&peer);
    for (unsigned lost = 3; lost <= 9; lost += 3) {
        peer_send(&peer, TCP_ACK, 1, at(lost), 0);
        CU_ASSERT(peer_next(&peer));
        CU_ASSERT_EQUAL(peer.sent.seq, at(lost));
        peer_drain(&peer);
    }
    CU_ASSERT_EQUAL(peer.counters.timeouts, 0);
    peer_close(&peer);
}

static void
test_window_updates_are_no_duplicates(void)
{
    open_with_flight(false);
    for (unsigned i = 0; i < 10; i++) {
        peer.wnd += 100;
        peer_send(&peer, TCP_ACK, 1, 1, 0);
    }
    for (uint32_t i = 0; i < 10; i++)
        peer_send(&peer, TCP_ACK, 1 + i, 1, 1); /* nor are ACKs with data */
    CU_ASSERT_EQUAL(peer.counters.dup_acks, 0);
    CU_ASSERT_EQUAL(peer.counters.retransmits, 0);
    peer_close(&peer);
}

static void
test_sack_fills_holes(void)
{
    open_with_flight(true);
    /* segments 0, 2 and 5 are lost */
    send_sack(1, at(1), at(2));
    send_sack(1, at(3), at(5));
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_FAST); /* more than two segments above the hole */
    send_sack(1, at(6), at(10));
    uint32_t expected[] = {0, 2, 5};
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT(peer_next(&peer));
        CU_ASSERT_EQUAL(peer.sent.seq, at(expected[i]));
        CU_ASSERT_EQUAL(peer.sent.len, MSS);
    }
    CU_ASSERT(peer_next(&peer)); /* then new data */
    CU_ASSERT_EQUAL(peer.sent.seq, at(10));
    CU_ASSERT_EQUAL(peer.counters.retransmits, 3);
    peer_drain(&peer);
    peer_send(&peer, TCP_ACK, 1, at(10), 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    CU_ASSERT_EQUAL(peer.conn.sacked_ranges, 0);
    peer_close(&peer);
}

static void
test_sack_three_small(void)
{
    peer_init(&peer);
    peer_open(&peer);
    for (unsigned i = 0; i < 4; i++) { /* four replies of 10 bytes; the first is lost */
        peer_write(&peer, 10);
        peer_drain(&peer);
    }
    send_sack(1, 11, 21);
    send_sack(1, 11, 31);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    send_sack(1, 11, 41);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    CU_ASSERT_EQUAL(peer.sent.len, 10); /* not what has arrived */
    peer_close(&peer);
}

static void
test_hostile_sack(void)
{
    open_with_flight(true);
    send_sack(1, at(3), at(2));                  /* inverted */
    send_sack(1, at(2), at(2));                  /* empty */
    send_sack(1, at(5), at(11));                 /* beyond what was sent */
    send_sack(1, 1, at(2));                      /* what it says is missing */
    send_sack(1, 0u - 3000, at(1));              /* from before */
    send_sack(1, 0x80000000u, 0x80000000u + 10); /* far away */
    CU_ASSERT_EQUAL(peer.conn.sacked_ranges, 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    for (uint32_t i = 2; i < 10 * MSS; i += 2) /* a hole between any two bytes */
        send_sack(1, 1 + i, 2 + i);
    CU_ASSERT_EQUAL(peer.conn.sacked_ranges, TCP_MAX_RANGES);
    CU_ASSERT(peer_drain(&peer) < 50);
    CU_ASSERT(tcp_pipe(&peer.conn) <= peer.conn.snd_nxt - peer.conn.snd_una);
    peer_send(&peer, TCP_ACK, 1, at(10), 0);
    CU_ASSERT_EQUAL(peer.conn.sacked_ranges, 0);
    peer_close(&peer);
}

static void
test_timeout(void)
{
    open_with_flight(true);
    uint64_t before = peer.now_us;
    CU_ASSERT(peer_wait_timer(&peer));
    CU_ASSERT(peer.now_us - before >= TCP_RTO_MIN_US);
    CU_ASSERT_EQUAL(peer.counters.timeouts, 1);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1); /* slow start from one segment */
    CU_ASSERT_EQUAL(peer.sent.seq, 1);
    CU_ASSERT_EQUAL(peer.conn.ssthresh, 5 * MSS);
    peer_send(&peer, TCP_ACK, 1, at(1), 0);
    CU_ASSERT_EQUAL(peer_drain(&peer), 2); /* all that was in flight is taken for lost */
    CU_ASSERT_EQUAL(peer.sent.seq, at(2));
    peer_send(&peer, TCP_ACK, 1, at(10), 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    peer_close(&peer);
}

static enum tcp_drop
send_echo(uint32_t ack, uint32_t ts_echo)
{
    return peer_send_segment(&peer, (struct tcp_segment){.flags = TCP_ACK,
                                                         .seq = 1,
                                                         .ack = ack,
                                                         .wnd = peer.wnd,
                                                         .has_timestamp = true,
                                                         .ts_value = 1,
                                                         .ts_echo = ts_echo});
}

/* The peer was only slow: its ACK echoes the first transmission, and nothing more is sent again (Eifel). */
static void
test_timeout_too_early(void)
{
    peer_init(&peer);
    peer.syn.has_timestamp = true;
    peer.syn.ts_value = 1;
    peer_open(&peer);
    uint32_t echo = tcp_ts_now(&peer.conn, peer.now_us), mss = MSS - TCP_TS_SIZE, cwnd = peer.conn.cwnd;
    peer_write(&peer, 9 * mss);
    CU_ASSERT_EQUAL(peer_drain(&peer), 9);
    CU_ASSERT(peer_wait_timer(&peer));
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    send_echo(1 + 2 * mss, echo);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_OPEN);
    CU_ASSERT(peer.conn.cwnd >= cwnd);
    CU_ASSERT_EQUAL(peer.conn.ssthresh, UINT32_MAX);

    CU_ASSERT(peer_wait_timer(&peer)); /* this time it is true */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    send_echo(1 + 3 * mss, peer.sent.ts_value);
    CU_ASSERT_EQUAL(peer.conn.recovery, TCP_LOSS);
    CU_ASSERT_EQUAL(peer_drain(&peer), 2);
    CU_ASSERT_EQUAL(peer.counters.retransmits, 4);
    peer_close(&peer);
}

/* After two timeouts as well. */
static void
test_timeouts_too_early(void)
{
    peer_init(&peer);
    peer.syn.has_timestamp = true;
    peer.syn.ts_value = 1;
    peer_open(&peer);
    uint32_t echo = tcp_ts_now(&peer.conn, peer.now_us), mss = MSS - TCP_TS_SIZE, cwnd = peer.conn.cwnd;
    peer_write(&peer, 9 * mss);
    peer_drain(&peer);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    }
    send_echo(1 + 2 * mss, echo);
    CU_ASSERT_EQUAL(peer_drain(&peer), 0);
    CU_ASSERT(peer.conn.cwnd >= cwnd);
    peer_close(&peer);
}

/* Small replies do not prove that the network takes more than is asked of it. */
static void
test_no_growth_unused(void)
{
    peer_init(&peer);
    peer_open(&peer);
    uint32_t cwnd = peer.conn.cwnd;
    for (unsigned i = 0; i < 100; i++) {
        peer_write(&peer, 100);
        peer_drain(&peer);
        peer_send(&peer, TCP_ACK, 1, 1 + 100 * (i + 1), 0);
    }
    CU_ASSERT_EQUAL(peer.conn.cwnd, cwnd);
}

static void
test_timeout_backs_off(void)
{
    uint64_t last = 0;
    unsigned sent = 0;

    open_with_flight(true);
    while (peer.conn.state != TCP_CLOSED) {
        uint64_t before = peer.now_us;
        CU_ASSERT(peer_wait_timer(&peer));
        CU_ASSERT(peer.now_us - before >= 2 * last || peer.now_us - before == TCP_RTO_MAX_US);
        last = peer.now_us - before;
        sent += peer_drain(&peer);
    }
    CU_ASSERT_EQUAL(sent, TCP_RETRIES);
    peer_close(&peer);
}

/* The peer drops what it had SACKed: after a timeout it is sent again. */
static void
test_reneging(void)
{
    open_with_flight(true);
    send_sack(1, at(1), at(2));
    peer_drain(&peer);
    CU_ASSERT(peer_wait_timer(&peer));
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    peer_send(&peer, TCP_ACK, 1, at(1), 0); /* no block any more */
    CU_ASSERT(peer_drain(&peer) >= 1);
    CU_ASSERT(peer_wait_timer(&peer));
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.seq, at(1));
    peer_close(&peer);
}

static void
test_rtt(void)
{
    peer_init(&peer);
    peer_open(&peer);
    for (unsigned i = 0; i < 100; i++) {
        peer_write(&peer, 10);
        peer_drain(&peer);
        peer.now_us += 50000;
        peer_send(&peer, TCP_ACK, 1, 1 + 10 * (i + 1), 0);
    }
    CU_ASSERT(peer.conn.srtt_us > 49000 && peer.conn.srtt_us < 51000);
    CU_ASSERT(peer.conn.rto_us >= 249000 && peer.conn.rto_us < 260000);
}

/* Karn: what was sent twice is not measured. */
static void
test_rtt_not_of_retransmission(void)
{
    peer_init(&peer);
    peer_open(&peer);
    uint32_t srtt = peer.conn.srtt_us;
    peer_write(&peer, 10);
    peer_drain(&peer);
    peer_wait_timer(&peer);
    peer_drain(&peer);
    peer.now_us += 10;
    peer_send(&peer, TCP_ACK, 1, 11, 0);
    CU_ASSERT_EQUAL(peer.conn.srtt_us, srtt);
}

static const struct unit_test tests[] = {
    {"duplicate ACKs", test_duplicate_acks},
    {"partial ACKs", test_partial_acks},
    {"window updates are no duplicates", test_window_updates_are_no_duplicates},
    {"SACK fills holes", test_sack_fills_holes},
    {"SACK of three small segments", test_sack_three_small},
    {"hostile SACK blocks", test_hostile_sack},
    {"timeout", test_timeout},
    {"timeout too early", test_timeout_too_early},
    {"two timeouts too early", test_timeouts_too_early},
    {"no growth of an unused window", test_no_growth_unused},
    {"timeouts back off", test_timeout_backs_off},
    {"reneging", test_reneging},
    {"round-trip time", test_rtt},
    {"round-trip time and retransmission", test_rtt_not_of_retransmission},
};
UNIT_MAIN("dataplane/tcp/recovery", tests)
