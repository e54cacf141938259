/* SPDX-License-Identifier: BSD-3-Clause */
/* Handshakes with every kind of SYN, sequence numbers that cannot be guessed, close, abort, TIME_WAIT. */
#include "tests/unit/dataplane/tcp/peer.h"

#include <string.h>

#include "tests/unit/unit.h"

static struct peer peer;

static void
test_handshake(void)
{
    peer_init(&peer);
    peer.syn.has_timestamp = true;
    peer.syn.ts_value = 7;
    peer.syn.wscale = 3;
    tcp_accept(&peer.conn, &peer.config, &peer.syn, OUR_ISS, peer.now_us);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_SYN_RECEIVED);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_SYN | TCP_ACK);
    CU_ASSERT_EQUAL(peer.sent.seq, 0);
    CU_ASSERT_EQUAL(peer.sent.ack, 1);
    CU_ASSERT_EQUAL(peer.sent.mss, PEER_MSS);
    CU_ASSERT(peer.sent.sack_permitted);
    CU_ASSERT(peer.sent.has_wscale);
    CU_ASSERT(peer.sent.has_timestamp);
    CU_ASSERT_EQUAL(peer.sent.ts_echo, 7);
    CU_ASSERT_EQUAL(peer.sent.src_port, 6379);
    CU_ASSERT_EQUAL(peer.sent.dst_port, 40000);
    CU_ASSERT_FALSE(peer_next(&peer));
    peer.use_ts = true;
    peer.ts = 8;
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(peer.conn.snd_wnd, 60000u << 3);
    CU_ASSERT_EQUAL(peer.conn.mss, PEER_MSS - 12);
    CU_ASSERT_FALSE(peer_next(&peer));
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
    CU_ASSERT_EQUAL(peer.counters.opened, 1);
}

static void
test_no_options(void)
{
    peer_init(&peer);
    peer.syn = (struct tcp_segment){.flags = TCP_SYN, .seq = PEER_ISS, .wnd = 4000};
    tcp_accept(&peer.conn, &peer.config, &peer.syn, OUR_ISS, peer.now_us);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_FALSE(peer.sent.has_timestamp);
    CU_ASSERT_FALSE(peer.sent.has_wscale);
    CU_ASSERT_FALSE(peer.sent.sack_permitted);
    peer_send(&peer, TCP_ACK, 1, 1, 0);
    peer_write(&peer, 3000);
    CU_ASSERT(peer_next(&peer));
    CU_ASSERT_EQUAL(peer.sent.len, TCP_DEFAULT_MSS);
    peer_send(&peer, TCP_ACK, 1, 1, 100);
    CU_ASSERT(peer_drain(&peer) > 0);
    CU_ASSERT_EQUAL(peer.sent.wnd, 65536 - 100); /* unscaled */
    peer_close(&peer);
}

static void
test_mss_clamped(void)
{
    static const uint16_t mss[][2] = {{0, TCP_DEFAULT_MSS}, {1, TCP_MIN_MSS}, {48, TCP_MIN_MSS},
                                      {536, 536},           {1460, 1460},     {65535, 1460}};

    for (unsigned i = 0; i < sizeof(mss) / sizeof(mss[0]); i++) {
        peer_init(&peer);
        peer.syn.mss = mss[i][0];
        peer_open(&peer);
        CU_ASSERT_EQUAL(peer.conn.mss, mss[i][1]);
        peer_write(&peer, 10000);
        CU_ASSERT(peer_next(&peer));
        CU_ASSERT_EQUAL(peer.sent.len, mss[i][1]);
        CU_ASSERT(peer_drain(&peer) > 0);
        peer_close(&peer);
    }
}

static void
test_wscale_capped(void)
{
    for (unsigned scale = 0; scale < 256; scale++) {
        peer_init(&peer);
        peer.syn.wscale = (uint8_t)scale;
        peer.wnd = 65535;
        peer_open(&peer);
        CU_ASSERT_EQUAL(peer.conn.snd_wnd, 65535u << (scale < 14 ? scale : 14));
    }
}

static void
test_syn_with_data(void)
{
    uint8_t data[10] = {0};

    peer_init(&peer);
    peer.syn.payload = data;
    peer.syn.len = sizeof(data);
    peer_open(&peer);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(peer.conn.rcv_nxt, PEER_ISS + 1); /* the data is sent again */
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 10), TCP_ACCEPTED);
    CU_ASSERT(peer_read(&peer, 1, 10));
}

static void
test_syn_again(void)
{
    struct tcp_segment again = {.flags = TCP_SYN, .seq = 0, .wnd = 60000, .mss = PEER_MSS};

    peer_init(&peer);
    tcp_accept(&peer.conn, &peer.config, &peer.syn, OUR_ISS, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer_send_segment(&peer, again), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_SYN | TCP_ACK);
    peer_wait(&peer, 1100000); /* and by the timer */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.flags, TCP_SYN | TCP_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_ESTABLISHED);
}

static void
test_syn_received_wrong_ack(void)
{
    peer_init(&peer);
    tcp_accept(&peer.conn, &peer.config, &peer.syn, OUR_ISS, peer.now_us);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 0, 0), TCP_DROP_ACK); /* before our SYN left */
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 0, 0), TCP_DROP_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 2, 0), TCP_DROP_ACK);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_SYN_RECEIVED);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 1, 0, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    CU_ASSERT_EQUAL(peer.counters.closed, 0); /* it was never opened */
}

static void
test_isn(void)
{
    const uint8_t key[2][16] = {{1}, {2}}, ip[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
    uint32_t isn = tcp_isn(key[0], ip[0], 6379, ip[1], 4000, 0);

    CU_ASSERT_EQUAL(tcp_isn(key[0], ip[0], 6379, ip[1], 4000, 4000), isn + 1000); /* a clock of 4 us */
    CU_ASSERT_NOT_EQUAL(tcp_isn(key[1], ip[0], 6379, ip[1], 4000, 0), isn);
    CU_ASSERT_NOT_EQUAL(tcp_isn(key[0], ip[1], 6379, ip[0], 4000, 0), isn);
    CU_ASSERT_NOT_EQUAL(tcp_isn(key[0], ip[0], 6379, ip[1], 4001, 0), isn);
    CU_ASSERT_NOT_EQUAL(tcp_isn(key[0], ip[0], 6380, ip[1], 4000, 0), isn);
}

static void
test_passive_close(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 1, 1, 20), TCP_ACCEPTED);
    CU_ASSERT(peer.conn.stream.end_of_input);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSE_WAIT);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 22);
    CU_ASSERT(peer_read(&peer, 1, 20));
    peer_write(&peer, 100); /* the replies are still delivered */
    tcp_close(&peer.conn, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.len, 100);
    CU_ASSERT(peer.sent.flags & TCP_FIN);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_LAST_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 22, 101, 0), TCP_ACCEPTED); /* not the FIN yet */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_LAST_ACK);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 22, 102, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    CU_ASSERT_EQUAL(peer.counters.closed, 1);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

/* We close first; what the peer still sends is acknowledged and dropped until our FIN has arrived, then refused. */
static void
test_active_close(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    peer_write(&peer, 5);
    tcp_close(&peer.conn, peer.now_us);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_FIN_WAIT_1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 1, 1, 50), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.rcv_nxt, PEER_ISS + 51);
    CU_ASSERT_EQUAL(peer.conn.stream.in.len, 0);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 51, 7, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_FIN_WAIT_2);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK, 51, 7, 1), TCP_DROP_NO_CONNECTION);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
}

static void
test_time_wait(void)
{
    struct tcp_segment syn = {.flags = TCP_SYN, .seq = 2, .wnd = 100};

    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    tcp_close(&peer.conn, peer.now_us);
    peer_drain(&peer);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 1, 2, 0), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_TIME_WAIT);
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    peer_wait(&peer, TCP_TIME_WAIT_US - 1);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_ACK | TCP_FIN, 1, 2, 0), TCP_ACCEPTED); /* its ACK was lost */
    CU_ASSERT_EQUAL(peer_drain(&peer), 1);
    CU_ASSERT_EQUAL(peer.sent.ack, 2);
    CU_ASSERT_EQUAL(peer_send(&peer, TCP_RST, 2, 0, 0), TCP_DROP_RST);
    peer_wait(&peer, TCP_TIME_WAIT_US - 1); /* the FIN began the wait anew */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_TIME_WAIT);
    CU_ASSERT_EQUAL(peer_send_segment(&peer, syn), TCP_DROP_SYN); /* not beyond the old connection: perhaps old */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_TIME_WAIT);
    syn.seq = 3;
    CU_ASSERT_EQUAL(peer_send_segment(&peer, syn), TCP_DROP_NO_CONNECTION); /* a new one takes over */
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
}

static void
test_time_wait_ends(void)
{
    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    tcp_close(&peer.conn, peer.now_us);
    peer_drain(&peer);
    peer_send(&peer, TCP_ACK | TCP_FIN, 1, 2, 0);
    peer_drain(&peer);
    peer_wait(&peer, TCP_TIME_WAIT_US);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    CU_ASSERT_EQUAL(tcp_deadline(&peer.conn), UINT64_MAX);
}

static void
test_abort(void)
{
    struct tcp_segment rst;

    memset(&peer, 0, sizeof(peer));
    peer_open(&peer);
    peer_send(&peer, TCP_ACK, 1, 1, 10);
    peer_write(&peer, 30);
    peer_drain(&peer);
    CU_ASSERT(tcp_abort(&peer.conn, &rst));
    CU_ASSERT_EQUAL(rst.flags, TCP_RST | TCP_ACK);
    CU_ASSERT_EQUAL(rst.seq, OUR_ISS + 31);
    CU_ASSERT_EQUAL(rst.ack, PEER_ISS + 11);
    CU_ASSERT_EQUAL(rst.dst_port, 40000);
    CU_ASSERT_EQUAL(peer.conn.state, TCP_CLOSED);
    CU_ASSERT_FALSE(tcp_abort(&peer.conn, &rst));
    peer_close(&peer);
}

static const struct unit_test tests[] = {
    {"handshake", test_handshake},
    {"no options", test_no_options},
    {"MSS clamped", test_mss_clamped},
    {"window scale capped", test_wscale_capped},
    {"SYN with data", test_syn_with_data},
    {"SYN again", test_syn_again},
    {"wrong ACK in SYN_RECEIVED", test_syn_received_wrong_ack},
    {"initial sequence numbers", test_isn},
    {"passive close", test_passive_close},
    {"active close", test_active_close},
    {"TIME_WAIT", test_time_wait},
    {"TIME_WAIT ends", test_time_wait_ends},
    {"abort", test_abort},
};
UNIT_MAIN("dataplane/tcp/open", tests)
