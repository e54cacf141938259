/* SPDX-License-Identifier: BSD-3-Clause */
/* A network for tests. */
#include "tests/unit/dataplane/net/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "dataplane/eal.h"

struct port wire_port;

static void
insist(bool good, const char *error)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", error);
    exit(1);
}

void
wire_start(void)
{
    char error[512];
    bool huge;
    const struct eal_options options = {
        .device = "vdev:net_ring0", .cores = "0", .hugepages = "no", .memory = 64u << 20};
    insist(eal_start(&options, &huge, error, sizeof(error)) == 0, error);
    wire_port.pool = eal_packet_pool(8u << 20, error, sizeof(error));
    insist(wire_port.pool, error);
    insist(port_open(&wire_port, options.device, error, sizeof(error)) == 0, error);
    memcpy(wire_port.mac, "\x02\x00\x00\x00\x00\x01", 6);
}

uint32_t
wire_ip(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return rte_cpu_to_be_32(a << 24 | b << 16 | c << 8 | d);
}

struct rte_mbuf *
wire_frame(const void *data, uint32_t len)
{
    struct rte_mbuf *frame = rte_pktmbuf_alloc(wire_port.pool);
    insist(frame, "out of packet buffers: a leak");
    memcpy(rte_pktmbuf_append(frame, (uint16_t)len), data, len);
    return frame;
}

void
wire_put(const void *data, uint32_t len)
{
    struct rte_mbuf *frame = wire_frame(data, len);
    insist(rte_eth_tx_burst(wire_port.id, 0, &frame, 1) == 1, "the ring is full");
}

uint32_t
wire_sent(void *data, uint32_t size)
{
    struct rte_mbuf *frame;
    if (rte_eth_rx_burst(wire_port.id, 0, &frame, 1) == 0)
        return 0;
    uint32_t len = frame->pkt_len;
    insist(len <= size, "a frame longer than the test expects");
    memcpy(data, rte_pktmbuf_mtod(frame, const void *), len);
    rte_pktmbuf_free(frame);
    return len;
}

unsigned
wire_drain(void)
{
    struct rte_mbuf *frames[PORT_BURST];
    unsigned total = 0, count;
    while ((count = rte_eth_rx_burst(wire_port.id, 0, frames, PORT_BURST)) > 0) {
        rte_pktmbuf_free_bulk(frames, count);
        total += count;
    }
    return total;
}

static struct rte_ether_hdr *
ethernet(uint8_t *data, uint8_t sender_mac, uint16_t type)
{
    struct rte_ether_hdr *eth = (struct rte_ether_hdr *)data;
    memcpy(eth->dst_addr.addr_bytes, wire_port.mac, 6);
    memcpy(eth->src_addr.addr_bytes, "\x02\x00\x00\x00\x01", 5);
    eth->src_addr.addr_bytes[5] = sender_mac;
    eth->ether_type = rte_cpu_to_be_16(type);
    return eth;
}

uint32_t
wire_arp(uint8_t *data, uint16_t opcode, uint32_t sender_ip, uint8_t sender_mac, uint32_t target_ip)
{
    struct rte_ether_hdr *eth = ethernet(data, sender_mac, RTE_ETHER_TYPE_ARP);
    struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(eth + 1);
    memset(arp, 0, sizeof(*arp));
    arp->arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
    arp->arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
    arp->arp_hlen = 6;
    arp->arp_plen = 4;
    arp->arp_opcode = rte_cpu_to_be_16(opcode);
    arp->arp_data.arp_sha = eth->src_addr;
    arp->arp_data.arp_sip = sender_ip;
    arp->arp_data.arp_tip = target_ip;
    return sizeof(*eth) + sizeof(*arp);
}

uint32_t
wire_ipv4(uint8_t *data, uint32_t src, uint32_t dst, uint8_t protocol, uint32_t payload)
{
    struct rte_ether_hdr *eth = ethernet(data, 0x11, RTE_ETHER_TYPE_IPV4);
    struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
    *ip = (struct rte_ipv4_hdr){
        .version_ihl = RTE_IPV4_VHL_DEF,
        .total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + payload)),
        .time_to_live = 64,
        .next_proto_id = protocol,
        .src_addr = src,
        .dst_addr = dst,
    };
    ip->hdr_checksum = rte_ipv4_cksum(ip);
    return sizeof(*eth) + sizeof(*ip);
}
