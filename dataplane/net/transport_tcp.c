/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in, streams out, and back. */
#include "dataplane/net/transport_tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <rte_random.h>

#include "dataplane/net/conn_table.h"
#include "dataplane/net/ip.h"

#define RECEIVE_WINDOW (256u << 10) /* grows with stream.want */
#define TIMERS_A_FLUSH 256u         /* connections whose timers are looked at in one flush */

struct tcp_transport {
    struct net net;
    struct conn_table *table;
    struct tcp_config config;
    struct tcp_counters counters;
    struct transport_events events;
    struct stream_list ready, dirty;
    struct aging_list half_open, let_go;
    unsigned connections; /* most at a time */
    uint16_t port;
    uint8_t isn_key[16];
    struct timers timers;
};

/* A TCP segment between its frame and its connection. */
struct arrival {
    struct rte_mbuf *frame;
    struct tcp_segment segment;
    struct flow_key key;
};

static void
mark_dirty(struct tcp_transport *transport, struct stream *stream)
{
    if (stream->dirty)
        return;
    stream->dirty = true;
    TAILQ_INSERT_TAIL(&transport->dirty, stream, dirty_link);
}

static void
mark_ready(struct tcp_transport *transport, struct stream *stream)
{
    if (stream->ready || stream->close_after_out || (stream->in.len == 0 && !stream->end_of_input))
        return;
    stream->ready = true;
    TAILQ_INSERT_TAIL(&transport->ready, stream, ready_link);
}

static void
leave_lists(struct tcp_transport *transport, struct stream *stream)
{
    if (stream->ready)
        TAILQ_REMOVE(&transport->ready, stream, ready_link);
    if (stream->dirty)
        TAILQ_REMOVE(&transport->dirty, stream, dirty_link);
    stream->ready = stream->dirty = false;
}

static void
send_segment(struct tcp_transport *transport, const struct tcp_segment *segment, uint32_t dst, uint64_t now_us)
{
    uint8_t header[TCP_MAX_HEADER];
    const struct net_packet packet = {
        .dst = dst,
        .protocol = IPPROTO_TCP,
        .header = header,
        .header_len = tcp_build(segment, header),
        .payload = segment->payload,
        .payload_len = segment->len,
    };
    net_output(&transport->net, &packet, now_us);
}

static void
stop_aging(struct flow *flow)
{
    if (!flow->aging)
        return;
    TAILQ_REMOVE(&flow->aging->flows, flow, aging_link);
    flow->aging->used--;
    flow->aging = NULL;
}

static void
start_aging(struct aging_list *list, struct flow *flow)
{
    stop_aging(flow);
    flow->aging = list;
    TAILQ_INSERT_TAIL(&list->flows, flow, aging_link);
    list->used++;
}

/* ---- receive ---- */

/* The oldest of too many half-open connections gives way; flush releases it. */
static void
limit_half_open(struct tcp_transport *transport)
{
    if (transport->half_open.used < TRANSPORT_HALF_OPEN)
        return;
    struct flow *oldest = TAILQ_FIRST(&transport->half_open.flows);
    struct tcp_segment rst;
    tcp_abort(&oldest->tcp, &rst);
    stop_aging(oldest);
    mark_dirty(transport, &oldest->tcp.stream);
}

/* A place for a new connection: that of its ended predecessor with the same addresses, or a new one. */
static struct flow *
place(struct tcp_transport *transport, struct flow *ended, const struct flow_key *key)
{
    if (!ended)
        return conn_table_add(transport->table, key);
    if (ended->opened)
        return NULL; /* the protocol has not let go yet; the peer will try again */
    leave_lists(transport, &ended->tcp.stream);
    stop_aging(ended);
    timer_cancel(&transport->timers, &ended->timer);
    conn_table_renew(transport->table, ended);
    return ended;
}

static void
accept_connection(struct tcp_transport *transport, struct flow *ended, const struct arrival *arrival, uint64_t now_us)
{
    limit_half_open(transport);
    struct flow *flow = place(transport, ended, &arrival->key);
    if (!flow) {
        transport->counters.drops[TCP_DROP_LIMIT]++;
        return;
    }
    struct stream *stream = &flow->tcp.stream;
    uint32_t iss =
        tcp_isn(transport->isn_key, stream->local_ip, stream->local_port, stream->peer_ip, stream->peer_port, now_us);
    net_note_sender(&transport->net, arrival->frame, arrival->key.peer_ip, now_us);
    tcp_accept(&flow->tcp, &transport->config, &arrival->segment, iss, now_us);
    start_aging(&transport->half_open, flow);
    mark_dirty(transport, stream);
}

/* A segment without a connection: a SYN begins one, anything else is refused. */
static void
stray(struct tcp_transport *transport, struct flow *ended, const struct arrival *arrival, uint64_t now_us)
{
    const struct tcp_segment *segment = &arrival->segment;
    if ((segment->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN && segment->dst_port == transport->port) {
        accept_connection(transport, ended, arrival, now_us);
        return;
    }
    struct tcp_segment rst;
    transport->counters.drops[TCP_DROP_NO_CONNECTION]++;
    if (tcp_refuse(segment, &rst))
        send_segment(transport, &rst, arrival->key.peer_ip, now_us);
}

static bool
is_open(enum tcp_state state)
{
    return state >= TCP_ESTABLISHED;
}

static void
deliver(struct tcp_transport *transport, struct flow *flow, const struct arrival *arrival, uint64_t now_us)
{
    if (!flow || flow->tcp.state == TCP_CLOSED) {
        stray(transport, flow, arrival, now_us);
        return;
    }
    enum tcp_drop verdict = tcp_input(&flow->tcp, &arrival->segment, now_us, &transport->counters);
    mark_dirty(transport, &flow->tcp.stream);
    if (verdict == TCP_DROP_NO_CONNECTION) {
        stray(transport, flow, arrival, now_us);
        return;
    }
    if (flow->aging == &transport->half_open && is_open(flow->tcp.state)) {
        stop_aging(flow);
        flow->opened = true;
        transport->events.opened(transport->events.context, &flow->tcp.stream);
    }
    if (flow->opened)
        mark_ready(transport, &flow->tcp.stream);
}

/* Frame -> arrival; false: it was something else, or bad, and is gone. */
static bool
decode(struct tcp_transport *transport, struct rte_mbuf *frame, struct arrival *arrival, uint64_t now_us)
{
    struct ip_packet packet;
    if (!net_input(&transport->net, frame, &packet, now_us))
        return false;
    enum tcp_drop verdict = TCP_DROP_CHECKSUM;
    if (ip_tcp_checksum_good(frame, &packet))
        verdict = tcp_parse(packet.payload, packet.len, &arrival->segment);
    if (verdict != TCP_ACCEPTED) {
        transport->counters.drops[verdict]++;
        rte_pktmbuf_free(frame);
        return false;
    }
    arrival->frame = frame;
    arrival->key = (struct flow_key){
        .peer_ip = packet.src,
        .local_ip = packet.dst,
        .peer_port = rte_cpu_to_be_16(arrival->segment.src_port),
        .local_port = rte_cpu_to_be_16(arrival->segment.dst_port),
    };
    return true;
}

/* The flow of arrival i. One that an earlier arrival of the burst made was not there when the burst was looked up. */
static struct flow *
flow_of(struct tcp_transport *transport, const struct arrival *arrival, struct flow *found)
{
    const struct flow_key *key = &arrival->key;
    if (!found)
        conn_table_find(transport->table, &key, 1, &found);
    return found;
}

static unsigned
poll(void *context, uint64_t now_us)
{
    struct tcp_transport *transport = context;
    struct rte_mbuf *frames[PORT_BURST];
    struct arrival arrivals[PORT_BURST];
    const struct flow_key *keys[PORT_BURST];
    struct flow *flows[PORT_BURST];
    unsigned received = port_rx_burst(transport->net.port, frames, PORT_BURST), count = 0;
    for (unsigned i = 0; i < received; i++)
        rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void *));
    for (unsigned i = 0; i < received; i++)
        if (decode(transport, frames[i], &arrivals[count], now_us)) {
            keys[count] = &arrivals[count].key;
            count++;
        }
    conn_table_find(transport->table, keys, count, flows);
    for (unsigned i = 0; i < count; i++)
        if (flows[i])
            rte_prefetch0(&flows[i]->tcp.state);
    for (unsigned i = 0; i < count; i++) {
        deliver(transport, flow_of(transport, &arrivals[i], flows[i]), &arrivals[i], now_us);
        rte_pktmbuf_free(arrivals[i].frame);
    }
    return received;
}

/* ---- transmit ---- */

static void
run_timers(struct tcp_transport *transport, uint64_t now_us)
{
    for (unsigned i = 0; i < TIMERS_A_FLUSH; i++) {
        struct timer *timer = timers_take(&transport->timers, now_us);
        if (!timer)
            return;
        struct flow *flow = (struct flow *)((char *)timer - offsetof(struct flow, timer));
        uint64_t deadline = tcp_deadline(&flow->tcp);
        if (deadline > now_us) {
            timer_arm(&transport->timers, timer, deadline);
            continue;
        }
        tcp_timers(&flow->tcp, now_us, &transport->counters);
        mark_dirty(transport, &flow->tcp.stream);
    }
}

static void
obey_protocol(struct tcp_transport *transport, struct flow *flow, uint64_t now_us)
{
    struct stream *stream = &flow->tcp.stream;
    struct tcp_segment rst;
    if (stream->abort && flow->tcp.state != TCP_CLOSED) {
        if (tcp_abort(&flow->tcp, &rst))
            send_segment(transport, &rst, flow->key.peer_ip, now_us);
    } else if (stream->close_after_out && !flow->tcp.discard) {
        tcp_close(&flow->tcp, now_us);
    }
}

/* The protocol's part is over once the connection ended, or once the peer has all that was sent and our FIN. */
static void
tell_closed(struct tcp_transport *transport, struct flow *flow)
{
    enum tcp_state state = flow->tcp.state;
    if (!flow->opened || (state != TCP_CLOSED && state != TCP_FIN_WAIT_2 && state != TCP_TIME_WAIT))
        return;
    flow->opened = false;
    flow->tcp.stream.gone = true;
    transport->events.closed(transport->events.context, &flow->tcp.stream);
    flow->tcp.stream.client = NULL;
    start_aging(&transport->let_go, flow);
}

static void
release(struct tcp_transport *transport, struct flow *flow)
{
    leave_lists(transport, &flow->tcp.stream);
    stop_aging(flow);
    timer_cancel(&transport->timers, &flow->timer);
    conn_table_remove(transport->table, flow);
}

static void
service(struct tcp_transport *transport, struct flow *flow, uint64_t now_us)
{
    struct tcp_segment segment;
    obey_protocol(transport, flow, now_us);
    tcp_window_update(&flow->tcp);
    while (tcp_output(&flow->tcp, &segment, now_us, &transport->counters))
        send_segment(transport, &segment, flow->key.peer_ip, now_us);
    tell_closed(transport, flow);
    if (flow->tcp.state == TCP_CLOSED)
        release(transport, flow);
    else
        timer_arm(&transport->timers, &flow->timer, tcp_deadline(&flow->tcp));
}

/* Keep room for the connections that one burst may open. */
static void
make_room(struct tcp_transport *transport)
{
    while (conn_table_used(transport->table) + PORT_BURST > transport->connections && transport->let_go.used > 0)
        release(transport, TAILQ_FIRST(&transport->let_go.flows));
}

static unsigned
flush(void *context, uint64_t now_us)
{
    struct tcp_transport *transport = context;
    run_timers(transport, now_us);
    while (!TAILQ_EMPTY(&transport->dirty)) {
        struct stream *stream = TAILQ_FIRST(&transport->dirty);
        TAILQ_REMOVE(&transport->dirty, stream, dirty_link);
        stream->dirty = false;
        service(transport, (struct flow *)stream, now_us);
    }
    make_room(transport);
    return net_flush(&transport->net);
}

static uint64_t
deadline(const void *context)
{
    const struct tcp_transport *transport = context;
    return timers_next(&transport->timers);
}

/* ---- open and close ---- */

static void
reset_all(struct tcp_transport *transport)
{
    struct tcp_segment rst;
    struct flow *flow, *next;
    for (flow = TAILQ_FIRST(conn_table_flows(transport->table)); flow; flow = next) {
        next = TAILQ_NEXT(flow, link);
        if (flow->tcp.state != TCP_CLOSED && tcp_abort(&flow->tcp, &rst))
            send_segment(transport, &rst, flow->key.peer_ip, 0);
        tell_closed(transport, flow);
        release(transport, flow);
    }
}

static void
close_transport(void *context)
{
    struct tcp_transport *transport = context;
    if (transport->table)
        reset_all(transport);
    conn_table_free(transport->table);
    net_close(&transport->net);
    free(transport);
}

static void
random_key(uint8_t key[16])
{
    for (unsigned i = 0; i < 16; i += 8) {
        uint64_t r = rte_rand();
        memcpy(key + i, &r, sizeof(r));
    }
}

int
transport_tcp_open(struct transport *out, const struct transport_tcp_options *options, char *error, size_t error_size)
{
    struct tcp_transport *transport = calloc(1, sizeof(*transport));
    if (!transport || net_open(&transport->net, options->port, options->address, options->prefix, options->gateway,
                               rte_rand()) != 0) {
        free(transport);
        snprintf(error, error_size, "Out of memory for the network state.");
        return -ENOMEM;
    }
    TAILQ_INIT(&transport->ready);
    TAILQ_INIT(&transport->dirty);
    TAILQ_INIT(&transport->half_open.flows);
    TAILQ_INIT(&transport->let_go.flows);
    transport->connections = options->connections;
    transport->events = options->events;
    transport->port = options->tcp_port;
    transport->config = (struct tcp_config){
        .mss = (uint16_t)(options->port->mtu - 40),
        .receive_window = RECEIVE_WINDOW,
        .ts_offset = (uint32_t)rte_rand(),
    };
    random_key(transport->isn_key);
    timers_init(&transport->timers, options->now_us);
    transport->table = conn_table_create("connections", options->connections);
    if (!transport->table) {
        close_transport(transport);
        snprintf(error, error_size, "Out of memory for a table of %u connections: lower maxclients.",
                 options->connections);
        return -ENOMEM;
    }
    net_announce(&transport->net);
    *out = (struct transport){
        .name = "tcp",
        .context = transport,
        .poll = poll,
        .flush = flush,
        .deadline = deadline,
        .close = close_transport,
        .ready = &transport->ready,
        .dirty = &transport->dirty,
    };
    return 0;
}

void
transport_tcp_keepalive(struct transport *transport, uint64_t seconds)
{
    struct tcp_transport *tcp = transport->context;
    uint64_t us = seconds < UINT32_MAX / 1000000u ? seconds * 1000000u : UINT32_MAX;
    tcp->config.keepalive_us = (uint32_t)us;
}

const struct tcp_counters *
transport_tcp_counters(const struct transport *transport)
{
    return &((const struct tcp_transport *)transport->context)->counters;
}

const uint64_t *
transport_tcp_drops(const struct transport *transport)
{
    return ((const struct tcp_transport *)transport->context)->net.drops;
}
