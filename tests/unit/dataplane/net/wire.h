/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network for tests: DPDK without huge pages, a real port over net_ring, whose frames come back as received ones.
 * So what the code under test sends is read with wire_sent, and what a peer sends goes in with wire_put.
 */
#ifndef TESTS_UNIT_DATAPLANE_NET_WIRE_H
#define TESTS_UNIT_DATAPLANE_NET_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/net/net.h"

#define WIRE_US     1000000000ull /* a moment to start from */
#define WIRE_PREFIX 8u            /* 10.0.0.0/8 */

extern struct port wire_port;

/* Once a program, before anything else; ends the program with a message when DPDK does not start. */
void wire_start(void);

uint32_t wire_ip(unsigned a, unsigned b, unsigned c, unsigned d); /* network byte order */

/* A frame with this content. */
struct rte_mbuf *wire_frame(const void *data, uint32_t len);
/* Into the port, to be received. */
void wire_put(const void *data, uint32_t len);
/* The next frame that was sent, copied into data; its length, 0 = none. */
uint32_t wire_sent(void *data, uint32_t size);
/* Throw away what was sent; how many frames. */
unsigned wire_drain(void);

/* An ARP packet of the peer: from (ip, mac ending in that byte) about target. Returns the frame's length. */
uint32_t wire_arp(uint8_t *data, uint16_t opcode, uint32_t sender_ip, uint8_t sender_mac, uint32_t target_ip);
/* An IPv4 packet from src, with a right checksum; payload behind it is the caller's. Returns the length of the headers.
 */
uint32_t wire_ipv4(uint8_t *data, uint32_t src, uint32_t dst, uint8_t protocol, uint32_t payload);

#endif
