/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payload into stream.in, copied once, straight to where it belongs: in-order data at the end of the content,
 * out-of-order data behind it, with a bounded list of the ranges that are there (holes are what lies between). On
 * overlap the bytes that came first stay.
 */
#include "dataplane/tcp/tcp_internal.h"

bool
tcp_range_add(struct tcp_range *ranges, uint8_t *count, uint32_t start, uint32_t end)
{
    unsigned first = 0, last;

    while (first < *count && seq_lt(ranges[first].end, start))
        first++;
    for (last = first; last < *count && seq_le(ranges[last].start, end); last++) {
        start = seq_min(start, ranges[last].start);
        end = seq_max(end, ranges[last].end);
    }
    if (first == last && *count == TCP_MAX_RANGES)
        return false;
    /* [first, last) melt into one; where there was none, one is put in */
    memmove(&ranges[first + 1], &ranges[last], (*count - last) * sizeof(ranges[0]));
    ranges[first] = (struct tcp_range){start, end};
    *count = (uint8_t)(*count + 1 - (last - first));
    return true;
}

void
tcp_range_drop_below(struct tcp_range *ranges, uint8_t *count, uint32_t seq)
{
    unsigned gone = 0;

    while (gone < *count && seq_le(ranges[gone].end, seq))
        gone++;
    *count = (uint8_t)(*count - gone);
    memmove(ranges, ranges + gone, *count * sizeof(ranges[0]));
    if (*count > 0)
        ranges[0].start = seq_max(ranges[0].start, seq);
}

void
tcp_note_duplicate(struct tcp_conn *conn, uint32_t seq, uint32_t end)
{
    if (seq_lt(seq, conn->rcv_nxt)) {
        conn->duplicate = (struct tcp_range){seq, seq_min(end, conn->rcv_nxt)};
        return;
    }
    for (unsigned i = 0; i < conn->received_ranges; i++)
        if (seq_le(conn->received[i].start, seq) && seq_le(end, conn->received[i].end)) {
            conn->duplicate = (struct tcp_range){seq, end};
            conn->received_last = seq;
        }
}

/* Copy [seq, end) to its place, sparing what is there already; `room` is the place of rcv_nxt. */
static void
fill_holes(const struct tcp_conn *conn, uint8_t *room, uint32_t seq, uint32_t end, const uint8_t *payload)
{
    uint32_t at = seq;

    for (unsigned i = 0; i < conn->received_ranges && seq_lt(at, end); i++) {
        uint32_t stop = seq_min(end, conn->received[i].start);
        if (seq_lt(at, stop))
            memcpy(room + (at - conn->rcv_nxt), payload + (at - seq), stop - at);
        at = seq_max(at, conn->received[i].end);
    }
    if (seq_lt(at, end))
        memcpy(room + (at - conn->rcv_nxt), payload + (at - seq), end - at);
}

static enum tcp_drop
receive_out_of_order(struct tcp_conn *conn, uint32_t seq, const uint8_t *payload, uint32_t len)
{
    struct bytes *in = &conn->stream.in;
    uint32_t end = seq + len;
    struct tcp_range ranges[TCP_MAX_RANGES];
    uint8_t count = conn->received_ranges;

    memcpy(ranges, conn->received, sizeof(ranges));
    if (!tcp_range_add(ranges, &count, seq, end))
        return TCP_DROP_QUEUE;
    uint8_t *room = bytes_reserve(in, end - conn->rcv_nxt);
    if (room == NULL)
        return TCP_DROP_MEMORY;
    fill_holes(conn, room, seq, end, payload);
    if (in->ahead < end - conn->rcv_nxt)
        in->ahead = end - conn->rcv_nxt;
    memcpy(conn->received, ranges, sizeof(ranges));
    conn->received_ranges = count;
    conn->received_last = seq;
    return TCP_ACCEPTED;
}

/* Next in order while something waits behind it: closes the first hole, or a part of it. */
static enum tcp_drop
receive_at_hole(struct tcp_conn *conn, const uint8_t *payload, uint32_t len)
{
    uint32_t seq = conn->rcv_nxt, end = seq + len;
    uint8_t *room = bytes_reserve(&conn->stream.in, len);

    if (room == NULL)
        return TCP_DROP_MEMORY;
    fill_holes(conn, room, seq, end, payload);
    for (unsigned i = 0; i < conn->received_ranges && seq_le(conn->received[i].start, end); i++)
        end = seq_max(end, conn->received[i].end);
    bytes_commit(&conn->stream.in, end - seq);
    conn->rcv_nxt = end;
    tcp_range_drop_below(conn->received, &conn->received_ranges, end);
    return TCP_ACCEPTED;
}

enum tcp_drop
tcp_receive(struct tcp_conn *conn, uint32_t seq, const uint8_t *payload, uint32_t len)
{
    if (conn->discard) {
        if (seq == conn->rcv_nxt)
            conn->rcv_nxt += len;
        return TCP_ACCEPTED;
    }
    if (seq != conn->rcv_nxt)
        return receive_out_of_order(conn, seq, payload, len);
    if (conn->received_ranges != 0)
        return receive_at_hole(conn, payload, len);
    if (!bytes_append(&conn->stream.in, payload, len))
        return TCP_DROP_MEMORY;
    conn->rcv_nxt += len;
    return TCP_ACCEPTED;
}

/*
 * The window is what `in` may still take. Its right edge never moves back, and while it is small it moves on only by
 * steps that are worth a segment (RFC 9293 3.8.6.2.2).
 */
uint32_t
tcp_window_edge(const struct tcp_conn *conn)
{
    const struct stream *stream = &conn->stream;
    uint32_t limit = conn->config->receive_window + stream->want;
    uint32_t room = limit > stream->in.len ? limit - stream->in.len : 0, most = 65535u << conn->rcv_wscale;
    uint32_t edge = conn->rcv_nxt + (room < most ? room : most);
    uint32_t step = conn->config->mss < limit / 2 ? conn->config->mss : limit / 2;

    if (seq_le(edge, conn->rcv_adv))
        return seq_max(conn->rcv_adv, conn->rcv_nxt);
    if (conn->rcv_adv - conn->rcv_nxt < limit / 2 && edge - conn->rcv_adv < step)
        return conn->rcv_adv;
    return edge;
}

void
tcp_window_update(struct tcp_conn *conn)
{
    uint32_t opened = tcp_window_edge(conn) - conn->rcv_adv, window = conn->config->receive_window;

    if (opened != 0 && (opened >= 2u * conn->config->mss || opened >= window / 2) && conn->acks_now == 0)
        conn->acks_now = 1;
}

uint8_t
tcp_sack_blocks(struct tcp_conn *conn, struct tcp_range *blocks, unsigned most)
{
    unsigned count = 0, newest;

    if (conn->duplicate.start != conn->duplicate.end)
        blocks[count++] = conn->duplicate;
    conn->duplicate.end = conn->duplicate.start;
    for (newest = 0; newest < conn->received_ranges; newest++)
        if (conn->received_last - conn->received[newest].start <
            conn->received[newest].end - conn->received[newest].start)
            break;
    if (newest < conn->received_ranges && count < most)
        blocks[count++] = conn->received[newest];
    for (unsigned i = 0; i < conn->received_ranges && count < most; i++)
        if (i != newest)
            blocks[count++] = conn->received[i];
    return (uint8_t)count;
}
