/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers: what is malformed and why, options in any shape, what is built is parsed back, RSTs for strangers. */
#include "dataplane/tcp/tcp_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* A header of `size` bytes with these options, in a block of exactly that size so that over-reads are caught. */
static enum tcp_drop
parse(uint8_t flags, unsigned offset, const uint8_t *options, unsigned bytes, struct tcp_segment *segment)
{
    uint8_t *data = calloc(1, 20 + bytes);

    data[12] = (uint8_t)(offset << 4);
    data[13] = flags;
    if (bytes > 0)
        memcpy(data + 20, options, bytes);
    enum tcp_drop drop = tcp_parse(data, 20 + bytes, segment);
    free(data);
    return drop;
}

static enum tcp_drop
parse_options(const uint8_t *options, unsigned bytes, struct tcp_segment *segment)
{
    return parse(TCP_SYN, 5 + bytes / 4, options, bytes, segment);
}

static void
test_short(void)
{
    struct tcp_segment segment;
    uint8_t *data = calloc(1, 19);

    for (uint32_t len = 0; len < 20; len++)
        CU_ASSERT_EQUAL(tcp_parse(data, len, &segment), TCP_DROP_SHORT);
    free(data);
    for (unsigned offset = 0; offset < 5; offset++)
        CU_ASSERT_EQUAL(parse(TCP_ACK, offset, NULL, 0, &segment), TCP_DROP_SHORT);
    for (unsigned offset = 6; offset < 16; offset++)
        CU_ASSERT_EQUAL(parse(TCP_ACK, offset, NULL, 0, &segment), TCP_DROP_SHORT);
    CU_ASSERT_EQUAL(parse(TCP_ACK, 5, NULL, 0, &segment), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(segment.len, 0);
}

static void
test_flags(void)
{
    struct tcp_segment segment;

    CU_ASSERT_EQUAL(parse(0, 5, NULL, 0, &segment), TCP_DROP_FLAGS);
    CU_ASSERT_EQUAL(parse(0x20, 5, NULL, 0, &segment), TCP_DROP_FLAGS); /* URG alone */
    CU_ASSERT_EQUAL(parse(TCP_SYN | TCP_FIN, 5, NULL, 0, &segment), TCP_DROP_FLAGS);
    CU_ASSERT_EQUAL(parse(TCP_SYN | TCP_FIN | TCP_ACK, 5, NULL, 0, &segment), TCP_DROP_FLAGS);
    CU_ASSERT_EQUAL(parse(0xff, 5, NULL, 0, &segment), TCP_DROP_FLAGS);
    CU_ASSERT_EQUAL(parse(TCP_SYN | 0xc0, 5, NULL, 0, &segment), TCP_ACCEPTED); /* ECN is ignored */
    CU_ASSERT_EQUAL(segment.flags, TCP_SYN);
}

static void
test_option_lengths(void)
{
    static const uint8_t zero[] = {99, 0, 0, 0}, one[] = {99, 1, 0, 0}, past[] = {99, 5, 0, 0}, cut[] = {1, 1, 1, 8},
                         timestamp_past[] = {1, 1, 8, 10}, end_first[] = {0, 0, 8, 200}, mss_odd[] = {2, 3, 9, 1};
    struct tcp_segment segment;

    CU_ASSERT_EQUAL(parse_options(zero, sizeof(zero), &segment), TCP_DROP_OPTION);
    CU_ASSERT_EQUAL(parse_options(one, sizeof(one), &segment), TCP_DROP_OPTION);
    CU_ASSERT_EQUAL(parse_options(past, sizeof(past), &segment), TCP_DROP_OPTION);
    CU_ASSERT_EQUAL(parse_options(cut, sizeof(cut), &segment), TCP_DROP_OPTION);
    CU_ASSERT_EQUAL(parse_options(timestamp_past, sizeof(timestamp_past), &segment), TCP_DROP_OPTION);
    CU_ASSERT_EQUAL(parse_options(end_first, sizeof(end_first), &segment), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(parse_options(mss_odd, sizeof(mss_odd), &segment), TCP_ACCEPTED);
    CU_ASSERT_EQUAL(segment.mss, 0);
}

/* Every length of every kind, at every place: never a read past the end, never an endless loop. */
static void
test_option_bytes(void)
{
    struct tcp_segment segment;
    uint8_t options[12];

    for (unsigned kind = 0; kind < 256; kind++)
        for (unsigned length = 0; length < 256; length++)
            for (unsigned at = 0; at + 1 < sizeof(options); at++) {
                memset(options, 1, sizeof(options));
                options[at] = (uint8_t)kind;
                options[at + 1] = (uint8_t)length;
                enum tcp_drop drop = parse_options(options, sizeof(options), &segment);
                bool fits = kind < 2 || (length >= 2 && length <= sizeof(options) - at);
                if (kind >= 2)
                    CU_ASSERT_EQUAL(drop, fits ? TCP_ACCEPTED : TCP_DROP_OPTION);
            }
}

static void
test_unaligned_and_unknown(void)
{
    static const uint8_t options[] = {34, 6, 1,  2, 3, 4, 1, 8, 10, 0, 0, 1,    2, 0, 0,
                                      3,  4, 66, 3, 3, 9, 4, 2, 2,  4, 5, 0xb4, 0, 7, 7};
    uint8_t padded[32] = {0};
    struct tcp_segment segment;

    memcpy(padded, options, sizeof(options));
    CU_ASSERT_EQUAL(parse_options(padded, sizeof(padded), &segment), TCP_DROP_OPTION); /* 66, 3, 3: the last byte */
    padded[17] = 1;
    CU_ASSERT_EQUAL(parse_options(padded, sizeof(padded), &segment), TCP_ACCEPTED);
    CU_ASSERT(segment.has_timestamp);
    CU_ASSERT_EQUAL(segment.ts_value, 258);
    CU_ASSERT_EQUAL(segment.ts_echo, 772);
    CU_ASSERT(segment.has_wscale);
    CU_ASSERT_EQUAL(segment.wscale, 9);
    CU_ASSERT(segment.sack_permitted);
    CU_ASSERT_EQUAL(segment.mss, 1460);
}

static void
test_round_trip(void)
{
    const struct tcp_segment syn = {.seq = 1,
                                    .ack = 2,
                                    .src_port = 6379,
                                    .dst_port = 40000,
                                    .wnd = 65535,
                                    .flags = TCP_SYN | TCP_ACK,
                                    .has_timestamp = true,
                                    .has_wscale = true,
                                    .sack_permitted = true,
                                    .wscale = 7,
                                    .mss = 1460,
                                    .ts_value = 3,
                                    .ts_echo = 0xfffffffc};
    const struct tcp_segment ack = {.seq = 0xfffffffe,
                                    .ack = 5,
                                    .flags = TCP_ACK,
                                    .wnd = 9,
                                    .has_timestamp = true,
                                    .ts_value = 10,
                                    .sack_blocks = 3,
                                    .sack = {{11, 12}, {0xfffffff0, 14}, {15, 16}}};
    struct tcp_segment parsed = {0};
    uint8_t header[TCP_MAX_HEADER];

    uint32_t size = tcp_build(&syn, header);
    CU_ASSERT_EQUAL(size, 40);
    CU_ASSERT_EQUAL(tcp_parse(header, size, &parsed), TCP_ACCEPTED);
    parsed.payload = NULL;
    CU_ASSERT_EQUAL(memcmp(&parsed, &syn, sizeof(syn)), 0);

    size = tcp_build(&ack, header);
    CU_ASSERT_EQUAL(size, 60);
    CU_ASSERT_EQUAL(tcp_parse(header, size, &parsed), TCP_ACCEPTED);
    parsed.payload = NULL;
    CU_ASSERT_EQUAL(memcmp(&parsed, &ack, sizeof(ack)), 0);
}

static void
test_refuse(void)
{
    struct tcp_segment rst, syn = {.flags = TCP_SYN, .seq = 77, .src_port = 1, .dst_port = 2, .len = 3};
    struct tcp_segment ack = {.flags = TCP_ACK, .seq = 77, .ack = 99, .len = 3};

    CU_ASSERT(tcp_refuse(&syn, &rst));
    CU_ASSERT_EQUAL(rst.flags, TCP_RST | TCP_ACK);
    CU_ASSERT_EQUAL(rst.seq, 0);
    CU_ASSERT_EQUAL(rst.ack, 81);
    CU_ASSERT_EQUAL(rst.src_port, 2);
    CU_ASSERT_EQUAL(rst.dst_port, 1);
    CU_ASSERT(tcp_refuse(&ack, &rst));
    CU_ASSERT_EQUAL(rst.flags, TCP_RST);
    CU_ASSERT_EQUAL(rst.seq, 99);
    ack.flags = TCP_RST | TCP_ACK;
    CU_ASSERT_FALSE(tcp_refuse(&ack, &rst));
}

static const struct unit_test tests[] = {
    {"short headers, wrong data offset", test_short},
    {"impossible flags", test_flags},
    {"option lengths", test_option_lengths},
    {"every kind and length of option", test_option_bytes},
    {"unaligned and unknown options", test_unaligned_and_unknown},
    {"built and parsed back", test_round_trip},
    {"refusing strangers", test_refuse},
};
UNIT_MAIN("dataplane/tcp/header", tests)
