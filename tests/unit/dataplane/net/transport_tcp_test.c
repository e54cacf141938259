/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport against clients made of the TCP core: frames over the real port, connections from first to last. */
#include "dataplane/net/transport_tcp.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "tests/unit/dataplane/net/wire.h"
#include "tests/unit/unit.h"

#define SERVER_PORT 6379u
#define LIMIT       2000u

static struct transport transport;
static unsigned opened, closed;
static uint64_t now;
static const struct tcp_config client_config = {.mss = 1460, .receive_window = 65536};
static struct tcp_counters client_counters;

/* A client: one end of a connection, and its address. */
struct client_end {
    struct tcp_conn tcp;
    uint32_t ip;
    uint16_t port;
};

static void
on_opened(void *context, struct stream *stream)
{
    (void)context, (void)stream;
    opened++;
}

static void
on_closed(void *context, struct stream *stream)
{
    (void)context;
    CU_ASSERT_TRUE(stream->gone);
    closed++;
}

static void
open_transport(void)
{
    char error[256];
    const struct transport_tcp_options options = {
        .port = &wire_port,
        .address = wire_ip(10, 0, 0, 2),
        .gateway = wire_ip(10, 0, 0, 1),
        .prefix = WIRE_PREFIX,
        .tcp_port = SERVER_PORT,
        .connections = LIMIT,
        .now_us = WIRE_US,
        .events = {NULL, on_opened, on_closed},
    };
    wire_drain();
    now = WIRE_US;
    opened = closed = 0;
    CU_ASSERT_FATAL(transport_tcp_open(&transport, &options, error, sizeof(error)) == 0);
    CU_ASSERT_EQUAL(wire_drain(), 1); /* the announcement of our address */
}

static void
close_transport(void)
{
    transport.close(transport.context);
    wire_drain();
    CU_ASSERT_EQUAL(opened, closed);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(wire_port.pool), 0);
}

/* ---- what clients put on the wire and take from it ---- */

static void
put_segment(const struct client_end *client, const struct tcp_segment *segment)
{
    uint8_t data[2048], header[TCP_MAX_HEADER];
    struct tcp_segment addressed = *segment;
    addressed.src_port = client->port;
    addressed.dst_port = SERVER_PORT;
    uint32_t len = tcp_build(&addressed, header);
    uint32_t at = wire_ipv4(data, client->ip, wire_ip(10, 0, 0, 2), IPPROTO_TCP, len + segment->len);
    memcpy(data + at, header, len);
    if (segment->len)
        memcpy(data + at + len, segment->payload, segment->len);
    struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(data + at);
    tcp->cksum = 0;
    tcp->cksum = rte_ipv4_udptcp_cksum((struct rte_ipv4_hdr *)(data + 14), tcp);
    wire_put(data, at + len + segment->len);
}

static void
speak(struct client_end *client)
{
    struct tcp_segment segment;
    while (tcp_output(&client->tcp, &segment, now, &client_counters))
        put_segment(client, &segment);
}

/* Hand what the server sent to this client; all other frames are dropped. Checks checksums. Returns how many. */
static unsigned
listen_to(struct client_end *client, struct tcp_segment *last)
{
    uint8_t data[2048];
    uint32_t len;
    unsigned count = 0;
    while ((len = wire_sent(data, sizeof(data))) > 0) {
        const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(data + 14);
        struct tcp_segment segment;
        if (data[12] != 8 || data[13] != 0 || ip->dst_addr != client->ip)
            continue;
        CU_ASSERT_EQUAL(rte_raw_cksum(ip, sizeof(*ip)), 0xffff);
        CU_ASSERT_EQUAL(rte_ipv4_udptcp_cksum(ip, ip + 1), 0);
        CU_ASSERT_EQUAL(tcp_parse(data + 34, rte_be_to_cpu_16(ip->total_length) - 20u, &segment), TCP_ACCEPTED);
        if (segment.dst_port != client->port)
            continue;
        count++;
        if (last)
            *last = segment;
        tcp_input(&client->tcp, &segment, now, &client_counters);
    }
    return count;
}

static void
serve(void)
{
    while (transport.poll(transport.context, now) > 0)
        ;
    transport.flush(transport.context, now);
    now += 10;
}

static void
exchange(struct client_end *client)
{
    for (unsigned i = 0; i < 8; i++) {
        speak(client);
        serve();
        listen_to(client, NULL);
    }
}

/* As Linux does: ask for the server's hardware address, then connect. */
static struct client_end *
connect_client(uint32_t ip, uint16_t port)
{
    uint8_t question[64];
    struct client_end *client = calloc(1, sizeof(*client));
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    wire_put(question, wire_arp(question, RTE_ARP_OP_REQUEST, ip, 0x11, wire_ip(10, 0, 0, 2)));
    serve();
    wire_drain();
    client->ip = ip;
    client->port = port;
    tcp_connect(&client->tcp, &client_config, 1000, now);
    exchange(client);
    return client;
}

static void
free_client(struct client_end *client)
{
    bytes_free(&client->tcp.stream.in);
    bytes_free(&client->tcp.stream.out);
    free(client);
}

/* ---- the protocol's side ---- */

static struct stream *
take_ready(void)
{
    struct stream *stream = TAILQ_FIRST(transport.ready);
    if (!stream)
        return NULL;
    TAILQ_REMOVE(transport.ready, stream, ready_link);
    stream->ready = false;
    return stream;
}

static void
make_dirty(struct stream *stream)
{
    if (stream->dirty)
        return;
    stream->dirty = true;
    TAILQ_INSERT_TAIL(transport.dirty, stream, dirty_link);
}

static void
request_and_reply(struct client_end *client)
{
    bytes_append(&client->tcp.stream.out, "PING", 4);
    speak(client);
    serve();
    struct stream *stream = take_ready();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(stream->in.len, 4);
    bytes_consume(&stream->in, stream->in.len);
    bytes_append(&stream->out, "PONG", 4);
    make_dirty(stream);
    serve();
    listen_to(client, NULL);
    CU_ASSERT_EQUAL(client->tcp.stream.in.len, 4);
    bytes_consume(&client->tcp.stream.in, client->tcp.stream.in.len);
}

/* ---- tests ---- */

static void
a_connection_from_first_to_last(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    CU_ASSERT_EQUAL(client->tcp.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(opened, 1);
    request_and_reply(client);
    tcp_close(&client->tcp, now);
    speak(client);
    serve();
    struct stream *stream = take_ready();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_TRUE(stream->end_of_input);
    stream->close_after_out = true;
    make_dirty(stream);
    exchange(client);
    CU_ASSERT_EQUAL(client->tcp.state, TCP_TIME_WAIT);
    CU_ASSERT_EQUAL(closed, 1);
    free_client(client);
    close_transport();
}

static void
the_server_closes_and_the_same_ports_connect_again(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    bytes_append(&client->tcp.stream.out, "QUIT", 4);
    speak(client);
    serve();
    struct stream *stream = take_ready();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    bytes_append(&stream->out, "+OK", 3);
    stream->close_after_out = true;
    make_dirty(stream);
    exchange(client);
    CU_ASSERT_EQUAL(closed, 1); /* the peer has all and our FIN; its own is not there yet */
    CU_ASSERT_EQUAL(client->tcp.stream.in.len, 3);
    tcp_close(&client->tcp, now);
    exchange(client);
    free_client(client);
    now += 1000000; /* the server is in TIME_WAIT */
    client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    CU_ASSERT_EQUAL(client->tcp.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(opened, 2);
    request_and_reply(client);
    free_client(client);
    close_transport();
}

static void
abort_sends_a_reset(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    bytes_append(&client->tcp.stream.out, "X", 1);
    speak(client);
    serve();
    struct stream *stream = take_ready();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    stream->abort = true;
    make_dirty(stream);
    serve();
    struct tcp_segment last = {0};
    CU_ASSERT_EQUAL(listen_to(client, &last), 1);
    CU_ASSERT_TRUE(last.flags & TCP_RST);
    CU_ASSERT_EQUAL(client->tcp.state, TCP_CLOSED);
    CU_ASSERT_EQUAL(closed, 1);
    free_client(client);
    close_transport();
}

static void
a_reset_by_the_peer_closes_once(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    struct tcp_segment rst;
    CU_ASSERT_TRUE(tcp_abort(&client->tcp, &rst));
    put_segment(client, &rst);
    put_segment(client, &rst);
    serve();
    CU_ASSERT_EQUAL(closed, 1);
    CU_ASSERT_PTR_NULL(take_ready());
    free_client(client);
    close_transport();
}

static void
strays_are_refused(void)
{
    struct client_end client = {.ip = wire_ip(10, 0, 0, 9), .port = 5};
    struct tcp_segment last = {0}, stray = {.flags = TCP_ACK, .seq = 1, .ack = 77};
    open_transport();
    put_segment(&client, &stray);
    serve();
    CU_ASSERT_EQUAL(transport_tcp_counters(&transport)->drops[TCP_DROP_NO_CONNECTION], 1);
    wire_drain(); /* the answer waits for ARP, whose question this is */
    uint8_t data[64];
    wire_put(data, wire_arp(data, RTE_ARP_OP_REPLY, client.ip, 0x11, wire_ip(10, 0, 0, 2)));
    serve();
    listen_to(&client, &last);
    CU_ASSERT_TRUE(last.flags & TCP_RST);
    CU_ASSERT_EQUAL(last.seq, 77);
    close_transport();
}

static void
a_wrong_checksum_is_dropped(void)
{
    uint8_t data[128] = {0}, header[TCP_MAX_HEADER];
    const struct tcp_segment syn = {.flags = TCP_SYN, .src_port = 9, .dst_port = SERVER_PORT, .seq = 1};
    open_transport();
    uint32_t len = tcp_build(&syn, header);
    uint32_t at = wire_ipv4(data, wire_ip(10, 0, 0, 9), wire_ip(10, 0, 0, 2), IPPROTO_TCP, len);
    memcpy(data + at, header, len);
    wire_put(data, at + len);
    serve();
    CU_ASSERT_EQUAL(transport_tcp_counters(&transport)->drops[TCP_DROP_CHECKSUM], 1);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    close_transport();
}

/* HARDENING: SYN flood. What is half open is bounded; who is connected goes on; who comes during the flood gets in. */
static void
a_flood_of_syns_harms_nobody(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    for (unsigned i = 0; i < 100000; i++) {
        const struct tcp_segment syn = {.flags = TCP_SYN, .seq = i, .wnd = 1000};
        struct client_end attacker = {.ip = rte_cpu_to_be_32(0x0a200000u + i), .port = 9};
        put_segment(&attacker, &syn);
        if (i % 16 == 15) {
            serve();
            wire_drain();
        }
    }
    request_and_reply(client);
    struct client_end *second = connect_client(wire_ip(10, 0, 0, 10), 40001);
    CU_ASSERT_EQUAL(second->tcp.state, TCP_ESTABLISHED);
    CU_ASSERT_EQUAL(opened, 2);
    CU_ASSERT_EQUAL(transport_tcp_counters(&transport)->drops[TCP_DROP_LIMIT], 0);
    free_client(client);
    free_client(second);
    close_transport();
}

static void
a_full_table_refuses_and_recovers(void)
{
    static struct client_end *clients[LIMIT];
    open_transport();
    for (unsigned i = 0; i < LIMIT; i++)
        clients[i] = connect_client(wire_ip(10, 0, 1, 9), (uint16_t)(10000 + i));
    CU_ASSERT_EQUAL(opened, LIMIT);
    struct client_end *more = connect_client(wire_ip(10, 0, 1, 9), 9);
    CU_ASSERT_EQUAL(more->tcp.state, TCP_SYN_SENT);
    CU_ASSERT_EQUAL(opened, LIMIT);
    CU_ASSERT(transport_tcp_counters(&transport)->drops[TCP_DROP_LIMIT] > 0);
    struct tcp_segment rst;
    CU_ASSERT_TRUE(tcp_abort(&clients[7]->tcp, &rst));
    put_segment(clients[7], &rst);
    serve();
    free_client(more);
    more = connect_client(wire_ip(10, 0, 1, 9), 9);
    CU_ASSERT_EQUAL(more->tcp.state, TCP_ESTABLISHED);
    free_client(more);
    for (unsigned i = 0; i < LIMIT; i++)
        free_client(clients[i]);
    close_transport();
}

/* A client that lets the server close leaves it in TIME_WAIT. So many of them as there are places: none is refused. */
static void
connections_at_their_end_make_room(void)
{
    open_transport();
    for (unsigned i = 0; i < 2 * LIMIT; i++) {
        struct client_end *client = connect_client(wire_ip(10, 0, 1, 9), (uint16_t)(10000 + i));
        CU_ASSERT_EQUAL_FATAL(client->tcp.state, TCP_ESTABLISHED);
        bytes_append(&client->tcp.stream.out, "QUIT", 4);
        speak(client);
        serve();
        struct stream *stream = take_ready();
        CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
        stream->close_after_out = true;
        make_dirty(stream);
        exchange(client);
        tcp_close(&client->tcp, now);
        exchange(client);
        free_client(client);
    }
    CU_ASSERT_EQUAL(opened, 2 * LIMIT);
    CU_ASSERT_EQUAL(closed, 2 * LIMIT);
    CU_ASSERT_EQUAL(transport_tcp_counters(&transport)->drops[TCP_DROP_LIMIT], 0);
    close_transport();
}

static void
timers_run_and_the_deadline_tells(void)
{
    open_transport();
    struct client_end *client = connect_client(wire_ip(10, 0, 0, 9), 40000);
    bytes_append(&client->tcp.stream.out, "X", 1);
    speak(client);
    serve();
    struct stream *stream = take_ready();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    bytes_append(&stream->out, "lost", 4);
    make_dirty(stream);
    serve();
    wire_drain(); /* the reply is lost */
    uint64_t before = transport_tcp_counters(&transport)->retransmits;
    for (unsigned i = 0; i < 4 && client->tcp.stream.in.len == 0; i++) {
        uint64_t deadline = transport.deadline(transport.context);
        CU_ASSERT_FATAL(deadline != UINT64_MAX && deadline > now - 10);
        now = deadline;
        serve();
        listen_to(client, NULL);
    }
    CU_ASSERT_EQUAL(client->tcp.stream.in.len, 4);
    CU_ASSERT(transport_tcp_counters(&transport)->retransmits > before);
    free_client(client);
    close_transport();
}

static const struct unit_test tests[] = {
    {"a connection from first to last", a_connection_from_first_to_last},
    {"the server closes and the same ports connect again", the_server_closes_and_the_same_ports_connect_again},
    {"abort sends a reset", abort_sends_a_reset},
    {"a reset by the peer closes once", a_reset_by_the_peer_closes_once},
    {"strays are refused", strays_are_refused},
    {"a wrong checksum is dropped", a_wrong_checksum_is_dropped},
    {"a flood of SYNs harms nobody", a_flood_of_syns_harms_nobody},
    {"a full table refuses and recovers", a_full_table_refuses_and_recovers},
    {"connections at their end make room", connections_at_their_end_make_room},
    {"timers run and the deadline tells", timers_run_and_the_deadline_tells},
};

int
main(void)
{
    wire_start();
    return unit_main("transport_tcp", tests, sizeof(tests) / sizeof(tests[0]));
}
