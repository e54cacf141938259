/* SPDX-License-Identifier: BSD-3-Clause */
/* The lossy wire: packets in flight, the two applications, virtual time. */
#include "tests/unit/dataplane/tcp/wire.h"

#include <stdlib.h>
#include <string.h>

#include "dataplane/tcp/tcp_internal.h"

#define WRITE_AHEAD (64u << 10)

uint64_t
wire_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull; /* splitmix64 */

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

uint8_t
wire_pattern(unsigned end, uint64_t offset)
{
    return (uint8_t)((offset * 2654435761u >> 13) + offset / 251 + end * 101);
}

void
wire_options_default(struct wire_options *options)
{
    *options = (struct wire_options){.delay_us = 100};
    for (unsigned i = 0; i < 2; i++) {
        options->config[i] = (struct tcp_config){.mss = 1460, .receive_window = 256u << 10};
        options->send[i] = 200000;
    }
    options->close_first[0] = true;
}

static bool
chance(struct wire *wire, unsigned in_1000)
{
    return wire_random(&wire->random) % 1000 < in_1000;
}

static void
fault(struct wire *wire, const char *what)
{
    if (wire->fault == NULL)
        wire->fault = what;
}

static void
send_bytes(struct wire *wire, unsigned to, const uint8_t *data, uint32_t size)
{
    uint64_t delay = wire->options.delay_us;

    if (wire->packets == WIRE_PACKETS) {
        fault(wire, "more packets in flight than the wire holds");
        return;
    }
    if (chance(wire, wire->options.reorder))
        delay += wire_random(&wire->random) % (10 * delay + 1);
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    wire->packet[wire->packets++] = (struct wire_packet){wire->now_us + delay, to, size, copy};
}

/* What the options of the test take out of the client's SYN. */
static void
strip(const struct wire *wire, unsigned from, struct tcp_segment *segment)
{
    if (from != 0 || !(segment->flags & TCP_SYN))
        return;
    if (wire->options.no_ts)
        segment->has_timestamp = false;
    if (wire->options.no_sack)
        segment->sack_permitted = false;
    if (wire->options.no_wscale)
        segment->has_wscale = false;
    if (wire->options.syn_mss != 0)
        segment->mss = wire->options.syn_mss == 1 ? 0 : wire->options.syn_mss;
}

static void
transmit(struct wire *wire, unsigned from, struct tcp_segment *segment)
{
    uint8_t data[TCP_MAX_HEADER + WIRE_PAYLOAD];

    strip(wire, from, segment);
    uint32_t size = tcp_build(segment, data);
    if (size + segment->len > 20u + wire->options.config[from].mss)
        fault(wire, "a segment does not fit in a packet");
    if (segment->len != 0)
        memcpy(data + size, segment->payload, segment->len);
    wire->crossed++;
    if (chance(wire, wire->options.drop)) {
        wire->lost++;
        return;
    }
    send_bytes(wire, !from, data, size + segment->len);
    if (chance(wire, wire->options.duplicate))
        send_bytes(wire, !from, data, size + segment->len);
}

static void
flush(struct wire *wire, unsigned who)
{
    struct wire_end *end = &wire->end[who];
    struct tcp_segment segment;

    for (unsigned i = 0; tcp_output(&end->conn, &segment, wire->now_us, &end->counters); i++) {
        transmit(wire, who, &segment);
        if (i > WIRE_PACKETS) {
            fault(wire, "tcp_output never comes to an end");
            return;
        }
    }
}

static void
read_input(struct wire *wire, unsigned who)
{
    struct wire_end *end = &wire->end[who];
    struct bytes *in = &end->conn.stream.in;
    uint32_t most = wire->options.read_max[who], size = in->len;

    if (end->counters.opened == 0 || end->conn.discard || wire->now_us < end->read_at_us)
        return;
    end->conn.stream.want = wire->options.want[who];
    if (size < wire->options.want[who] && size < wire->options.send[!who] - end->read)
        return;
    if (in->len > end->conn.config->receive_window + wire->options.want[who])
        fault(wire, "more received than the window allows");
    if (most != 0 && size > most)
        size = 1 + (uint32_t)(wire_random(&wire->random) % most);
    for (uint32_t i = 0; i < size; i++)
        if (bytes_data(in)[i] != wire_pattern(!who, end->read + i))
            fault(wire, "wrong byte");
    if (size == 0)
        return;
    end->read += size;
    bytes_consume(in, size);
    tcp_window_update(&end->conn);
    end->read_at_us = wire->now_us + 1 + wire->options.read_every_us[who];
}

static void
write_output(struct wire *wire, unsigned who)
{
    struct wire_end *end = &wire->end[who];
    struct bytes *out = &end->conn.stream.out;
    uint64_t left = wire->options.send[who] - end->written;

    if (end->conn.state < TCP_ESTABLISHED || out->len > WRITE_AHEAD)
        return;
    uint32_t size = 1 + (uint32_t)(wire_random(&wire->random) % WRITE_AHEAD);
    if (size > left)
        size = (uint32_t)left;
    if (size == 0)
        return;
    uint8_t *room = bytes_reserve(out, size);
    for (uint32_t i = 0; i < size; i++)
        room[i] = wire_pattern(who, end->written + i);
    bytes_commit(out, size);
    end->written += size;
}

static bool
ranges_are_sound(const struct tcp_range *range, unsigned count, uint32_t above, uint32_t most)
{
    for (unsigned i = 0; i < count; i++) {
        if (!seq_lt(above, range[i].start) || !seq_lt(range[i].start, range[i].end))
            return false;
        above = range[i].end;
    }
    return seq_le(above, most);
}

/* What must hold of a connection at any time. */
static void
check_invariants(struct wire *wire, unsigned who)
{
    const struct tcp_conn *conn = &wire->end[who].conn;
    uint32_t flight = conn->snd_nxt - conn->snd_una;

    if (conn->state < TCP_ESTABLISHED)
        return;
    if (seq_lt(conn->snd_nxt, conn->snd_una) || flight > conn->stream.out.len + conn->fin_sent)
        fault(wire, "more in flight than there is");
    if (seq_lt(conn->rexmit_nxt, conn->snd_una) || seq_lt(conn->rexmit_end, conn->rexmit_nxt) ||
        seq_lt(conn->snd_nxt, conn->rexmit_end))
        fault(wire, "lost range outside the flight");
    if (tcp_pipe(conn) > flight)
        fault(wire, "more in the pipe than in flight");
    if (seq_lt(conn->rcv_adv, conn->rcv_nxt))
        fault(wire, "received beyond the window");
    if (!ranges_are_sound(conn->received, conn->received_ranges, conn->rcv_nxt, conn->rcv_adv))
        fault(wire, "ranges received are not ascending and apart");
    if (!ranges_are_sound(conn->sacked, conn->sacked_ranges, conn->snd_una - 1, conn->snd_nxt))
        fault(wire, "ranges SACKed are not ascending and apart");
    if (conn->received_ranges > 0 &&
        conn->stream.in.ahead != conn->received[conn->received_ranges - 1].end - conn->rcv_nxt)
        fault(wire, "bytes ahead do not match the ranges");
    if (conn->received_ranges == 0 && conn->stream.in.ahead != 0)
        fault(wire, "bytes ahead without a range");
    if (flight != 0 && conn->rto_at_us == 0 && conn->persist_at_us == 0)
        fault(wire, "data in flight without a timer");
    if (conn->stream.out.len > flight && flight == 0 && conn->persist_at_us == 0)
        fault(wire, "unsent data without a timer");
}

/* The client ends its direction alone (shutdown); the server closes when it has read the end and written all. */
static void
finish(struct wire *wire, unsigned who)
{
    struct wire_end *end = &wire->end[who];
    struct tcp_conn *conn = &end->conn;

    if (end->counters.opened == 0 || end->written < wire->options.send[who])
        return;
    if (conn->stream.end_of_input && conn->stream.in.len == 0 && !end->saw_end) {
        end->saw_end = true;
        if (end->read != wire->options.send[!who])
            fault(wire, "the end came before the last byte");
    }
    if (wire->options.close_first[who])
        conn->fin_queued = true;
    if (end->saw_end && !end->closed) {
        end->closed = true;
        tcp_close(conn, wire->now_us);
    }
}

static void
run_end(struct wire *wire, unsigned who)
{
    read_input(wire, who);
    write_output(wire, who);
    finish(wire, who);
    flush(wire, who);
    check_invariants(wire, who);
}

static void
deliver(struct wire *wire, const struct wire_packet *packet)
{
    struct wire_end *end = &wire->end[packet->to];
    struct tcp_segment segment;

    if (tcp_parse(packet->data, packet->size, &segment) != TCP_ACCEPTED)
        fault(wire, "a segment of ours is malformed");
    else if (packet->to == 1 && end->conn.state == TCP_CLOSED && (segment.flags & TCP_SYN) && end->counters.opened == 0)
        tcp_accept(&end->conn, &wire->options.config[1], &segment, 0xfffff000u, wire->now_us);
    else
        tcp_input(&end->conn, &segment, wire->now_us, &end->counters);
}

/* Deliver what arrives now, in order of arrival. */
static void
deliver_due(struct wire *wire)
{
    for (unsigned i = 0; i < wire->packets;) {
        struct wire_packet packet = wire->packet[i];
        if (packet.arrives_us > wire->now_us) {
            i++;
            continue;
        }
        memmove(&wire->packet[i], &wire->packet[i + 1], (--wire->packets - i) * sizeof(packet));
        deliver(wire, &packet);
        free(packet.data);
    }
}

static uint64_t
next_event(const struct wire *wire)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < wire->packets; i++)
        if (wire->packet[i].arrives_us < next)
            next = wire->packet[i].arrives_us;
    for (unsigned i = 0; i < 2; i++) {
        const struct wire_end *end = &wire->end[i];
        uint64_t deadline = tcp_deadline(&end->conn);
        if (deadline < next)
            next = deadline;
        if (end->conn.stream.in.len > 0 && end->read_at_us > wire->now_us && end->read_at_us < next)
            next = end->read_at_us;
    }
    return next <= wire->now_us ? wire->now_us + 1 : next;
}

static bool
ended(const struct wire *wire, unsigned who)
{
    return wire->end[who].conn.state == TCP_CLOSED && wire->end[who].counters.opened != 0 &&
           wire->end[who].conn.stream.in.len == 0;
}

static void
check_end(struct wire *wire, unsigned who)
{
    struct wire_end *end = &wire->end[who];

    if (!end->saw_end || end->read != wire->options.send[!who])
        fault(wire, "closed before everything was delivered");
    bytes_free(&end->conn.stream.in);
    bytes_free(&end->conn.stream.out);
}

bool
wire_run(struct wire *wire, const struct wire_options *options, uint64_t seed, uint64_t limit_us)
{
    memset(wire, 0, sizeof(*wire));
    wire->options = *options;
    wire->random = seed;
    wire->now_us = 1000000;
    limit_us += wire->now_us;
    tcp_connect(&wire->end[0].conn, &wire->options.config[0], 0xffffff00u, wire->now_us);
    flush(wire, 0);
    while (wire->fault == NULL && !(ended(wire, 0) && ended(wire, 1))) {
        uint64_t next = next_event(wire);
        if (next >= limit_us)
            fault(wire, "no end within the time given");
        wire->now_us = next;
        deliver_due(wire);
        for (unsigned i = 0; i < 2; i++) {
            if (tcp_deadline(&wire->end[i].conn) <= wire->now_us)
                tcp_timers(&wire->end[i].conn, wire->now_us, &wire->end[i].counters);
            run_end(wire, i);
        }
    }
    for (unsigned i = 0; i < 2; i++)
        check_end(wire, i);
    while (wire->packets > 0)
        free(wire->packet[--wire->packets].data);
    return wire->fault == NULL;
}
