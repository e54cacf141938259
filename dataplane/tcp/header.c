/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP headers: bytes <-> segments (RFC 9293 3.1, options of RFC 7323 and 2018), and the RST for strangers. */
#include "dataplane/tcp/tcp_internal.h"

#define HEADER_SIZE 20u

enum option {
    OPTION_END = 0,
    OPTION_NOP = 1,
    OPTION_MSS = 2,
    OPTION_WSCALE = 3,
    OPTION_SACK_PERMITTED = 4,
    OPTION_SACK = 5,
    OPTION_TIMESTAMP = 8,
};

static uint16_t
get16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof(value));
    return __builtin_bswap16(value);
}

static uint32_t
get32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof(value));
    return __builtin_bswap32(value);
}

static uint8_t *
put16(uint8_t *p, uint16_t value)
{
    value = __builtin_bswap16(value);
    memcpy(p, &value, sizeof(value));
    return p + sizeof(value);
}

static uint8_t *
put32(uint8_t *p, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(p, &value, sizeof(value));
    return p + sizeof(value);
}

static void
parse_sack(const uint8_t *blocks, unsigned bytes, struct tcp_segment *segment)
{
    for (; bytes >= 8 && segment->sack_blocks < TCP_MAX_SACK_BLOCKS; bytes -= 8, blocks += 8)
        segment->sack[segment->sack_blocks++] = (struct tcp_range){get32(blocks), get32(blocks + 4)};
}

/* One option, whole; those of a length that their kind cannot have are ignored like unknown ones. */
static void
parse_option(const uint8_t *option, struct tcp_segment *segment)
{
    unsigned kind = option[0], length = option[1];

    if (kind == OPTION_TIMESTAMP && length == 10) {
        segment->has_timestamp = true;
        segment->ts_value = get32(option + 2);
        segment->ts_echo = get32(option + 6);
    } else if (kind == OPTION_MSS && length == 4) {
        segment->mss = get16(option + 2);
    } else if (kind == OPTION_WSCALE && length == 3) {
        segment->has_wscale = true;
        segment->wscale = option[2];
    } else if (kind == OPTION_SACK_PERMITTED && length == 2) {
        segment->sack_permitted = true;
    } else if (kind == OPTION_SACK && length >= 10) {
        parse_sack(option + 2, length - 2, segment);
    }
}

static bool
parse_options(const uint8_t *option, const uint8_t *end, struct tcp_segment *segment)
{
    while (option < end && *option != OPTION_END) {
        if (*option == OPTION_NOP) {
            option++;
            continue;
        }
        if (end - option < 2 || option[1] < 2 || option[1] > end - option)
            return false;
        parse_option(option, segment);
        option += option[1];
    }
    return true;
}

enum tcp_drop
tcp_parse(const uint8_t *data, uint32_t len, struct tcp_segment *segment)
{
    uint32_t header = len < HEADER_SIZE ? 0 : (data[12] >> 4) * 4u;

    if (header < HEADER_SIZE || header > len)
        return TCP_DROP_SHORT;
    tcp_segment_clear(segment);
    segment->src_port = get16(data);
    segment->dst_port = get16(data + 2);
    segment->seq = get32(data + 4);
    segment->ack = get32(data + 8);
    segment->flags = data[13] & (TCP_FIN | TCP_SYN | TCP_RST | TCP_PSH | TCP_ACK);
    segment->wnd = get16(data + 14);
    segment->payload = data + header;
    segment->len = len - header;
    if (segment->flags == 0 || (segment->flags & (TCP_SYN | TCP_FIN)) == (TCP_SYN | TCP_FIN))
        return TCP_DROP_FLAGS;
    if (!parse_options(data + HEADER_SIZE, data + header, segment))
        return TCP_DROP_OPTION;
    return TCP_ACCEPTED;
}

static uint8_t *
build_timestamp(uint8_t *p, const struct tcp_segment *segment)
{
    *p++ = OPTION_TIMESTAMP;
    *p++ = 10;
    p = put32(p, segment->ts_value);
    return put32(p, segment->ts_echo);
}

/* SYN: MSS, SACK permitted, timestamp, NOP + window scale; what is absent leaves no gap, NOPs fill up at the end. */
static uint8_t *
build_syn_options(uint8_t *p, const struct tcp_segment *segment)
{
    if (segment->mss != 0) {
        *p++ = OPTION_MSS;
        *p++ = 4;
        p = put16(p, segment->mss);
    }
    if (segment->sack_permitted) {
        *p++ = OPTION_SACK_PERMITTED;
        *p++ = 2;
    }
    if (segment->has_timestamp)
        p = build_timestamp(p, segment);
    if (segment->has_wscale) {
        *p++ = OPTION_WSCALE;
        *p++ = 3;
        *p++ = segment->wscale;
    }
    return p;
}

static uint8_t *
build_options(uint8_t *p, const struct tcp_segment *segment)
{
    if (segment->has_timestamp) {
        *p++ = OPTION_NOP;
        *p++ = OPTION_NOP;
        p = build_timestamp(p, segment);
    }
    if (segment->sack_blocks != 0) {
        *p++ = OPTION_NOP;
        *p++ = OPTION_NOP;
        *p++ = OPTION_SACK;
        *p++ = (uint8_t)(2 + 8 * segment->sack_blocks);
        for (unsigned i = 0; i < segment->sack_blocks; i++) {
            p = put32(p, segment->sack[i].start);
            p = put32(p, segment->sack[i].end);
        }
    }
    return p;
}

uint32_t
tcp_build(const struct tcp_segment *segment, uint8_t *header)
{
    uint8_t *p = put16(header, segment->src_port);

    p = put16(p, segment->dst_port);
    p = put32(p, segment->seq);
    p = put32(p, segment->ack);
    p[1] = segment->flags;
    put16(p + 2, (uint16_t)segment->wnd);
    put32(p + 4, 0); /* checksum and urgent pointer */
    p = header + HEADER_SIZE;
    p = segment->flags & TCP_SYN ? build_syn_options(p, segment) : build_options(p, segment);
    while ((p - header) % 4 != 0)
        *p++ = OPTION_NOP;
    header[12] = (uint8_t)((p - header) / 4 << 4);
    return (uint32_t)(p - header);
}

bool
tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *rst)
{
    if (segment->flags & TCP_RST)
        return false;
    *rst = (struct tcp_segment){.src_port = segment->dst_port, .dst_port = segment->src_port, .flags = TCP_RST};
    if (segment->flags & TCP_ACK) {
        rst->seq = segment->ack;
    } else {
        rst->flags |= TCP_ACK;
        rst->ack = segment->seq + segment->len + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
    }
    return true;
}
