/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two connections of the TCP core joined by a wire in virtual time. Segments cross it as bytes (tcp_build, tcp_parse);
 * it drops, duplicates, reorders and delays them as the seed says. Each end has an application that writes a known
 * pattern, reads what has come at its own pace and checks every byte.
 */
#ifndef TESTS_UNIT_DATAPLANE_TCP_WIRE_H
#define TESTS_UNIT_DATAPLANE_TCP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/tcp/tcp.h"

#define WIRE_PACKETS 4096
#define WIRE_PAYLOAD 9000

struct wire_options {
    unsigned drop, duplicate, reorder; /* in 1,000 */
    uint32_t delay_us;
    uint64_t send[2];               /* bytes each end writes */
    uint32_t read_max[2];           /* most an end reads at a time; 0 = all there is */
    uint32_t read_every_us[2];      /* 0 = at once */
    uint32_t want[2];               /* an end reads nothing before it has so much, or all there will be */
    bool close_first[2];            /* closes as soon as it has written all; else after the peer's end */
    bool no_ts, no_sack, no_wscale; /* the client's SYN lacks the option */
    uint16_t syn_mss;               /* the client's MSS option; 0: as configured, 1: none */
    struct tcp_config config[2];
};

struct wire_end {
    struct tcp_conn conn;
    struct tcp_counters counters;
    uint64_t written, read, read_at_us;
    bool saw_end, closed;
};

struct wire_packet {
    uint64_t arrives_us;
    unsigned to;
    uint32_t size;
    uint8_t *data;
};

struct wire {
    struct wire_options options;
    struct wire_end end[2]; /* 0: the client, 1: the server */
    struct wire_packet packet[WIRE_PACKETS];
    unsigned packets, lost, crossed;
    uint64_t now_us, random;
    const char *fault; /* the first thing that went wrong */
};

void wire_options_default(struct wire_options *options);
/* Runs until both ends are closed or a fault is found or `limit_us` of virtual time is over. True: no fault. */
bool wire_run(struct wire *wire, const struct wire_options *options, uint64_t seed, uint64_t limit_us);

uint64_t wire_random(uint64_t *state);
uint8_t wire_pattern(unsigned end, uint64_t offset);

#endif
