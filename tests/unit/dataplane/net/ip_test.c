/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and what lies right above and below it: which frames are dropped, and why. */
#include "dataplane/net/ip.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "dataplane/net/arp.h"
#include "tests/unit/dataplane/net/wire.h"
#include "tests/unit/unit.h"

#define PAYLOAD 40u
#define GOOD    NET_DROPS

static struct net net;
static uint8_t data[2048];

static struct rte_ipv4_hdr *
ip(void)
{
    return (struct rte_ipv4_hdr *)(data + sizeof(struct rte_ether_hdr));
}

static void
seal(void)
{
    ip()->hdr_checksum = 0;
    ip()->hdr_checksum = (uint16_t)~rte_raw_cksum(ip(), (ip()->version_ihl & 15u) * 4u);
}

static uint32_t
packet_from(uint32_t src)
{
    memset(data, 0, sizeof(data));
    return wire_ipv4(data, src, wire_ip(10, 0, 0, 2), IPPROTO_TCP, PAYLOAD) + PAYLOAD;
}

static uint32_t
good_packet(void)
{
    return packet_from(wire_ip(10, 0, 0, 9));
}

/* Give net_input the frame; which drop it counted, or GOOD. */
static enum net_drop
verdict_flags(uint32_t len, uint64_t ol_flags, struct ip_packet *packet)
{
    struct rte_mbuf *frame = wire_frame(data, len);
    frame->ol_flags |= ol_flags;
    memset(net.drops, 0, sizeof(net.drops));
    if (net_input(&net, frame, packet, WIRE_US)) {
        rte_pktmbuf_free(frame);
        return GOOD;
    }
    for (unsigned i = 0; i < NET_DROPS; i++)
        if (net.drops[i] == 1)
            return (enum net_drop)i;
    CU_FAIL("neither taken nor counted");
    return GOOD;
}

static enum net_drop
verdict(uint32_t len)
{
    struct ip_packet packet;
    return verdict_flags(len, 0, &packet);
}

static void
a_good_packet_is_described(void)
{
    struct ip_packet packet;
    uint32_t len = good_packet();
    CU_ASSERT_EQUAL(verdict_flags(len, 0, &packet), GOOD);
    CU_ASSERT_EQUAL(packet.src, wire_ip(10, 0, 0, 9));
    CU_ASSERT_EQUAL(packet.dst, wire_ip(10, 0, 0, 2));
    CU_ASSERT_EQUAL(packet.len, PAYLOAD);
    CU_ASSERT_FALSE(packet.checked);
}

static void
lengths_must_agree(void)
{
    uint32_t len = good_packet();
    for (uint32_t cut = 0; cut < sizeof(struct rte_ether_hdr); cut++)
        CU_ASSERT_EQUAL(verdict(cut), NET_DROP_SHORT);
    for (uint32_t cut = sizeof(struct rte_ether_hdr); cut < sizeof(struct rte_ether_hdr) + sizeof(*ip()); cut++)
        CU_ASSERT_EQUAL(verdict(cut), NET_DROP_SHORT);
    for (uint32_t cut = sizeof(struct rte_ether_hdr) + sizeof(*ip()); cut < len; cut++)
        CU_ASSERT_EQUAL(verdict(cut), NET_DROP_IP_HEADER);
    CU_ASSERT_EQUAL(verdict(len), GOOD);
    CU_ASSERT_EQUAL(verdict(len + 1), NET_DROP_IP_HEADER);
    for (unsigned ihl = 0; ihl < 16; ihl++) {
        good_packet();
        ip()->version_ihl = (uint8_t)(0x40 | ihl);
        seal();
        CU_ASSERT_EQUAL(verdict(len), ihl < 5 ? NET_DROP_IP_HEADER : GOOD);
    }
    for (unsigned total = 0; total < 20; total++) {
        good_packet();
        ip()->total_length = rte_cpu_to_be_16((uint16_t)total);
        seal();
        CU_ASSERT_EQUAL(verdict(len), NET_DROP_IP_HEADER);
    }
    good_packet();
    ip()->version_ihl = 0x65;
    seal();
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_IP_HEADER);
}

static void
ethernet_padding_is_not_payload(void)
{
    struct ip_packet packet;
    memset(data, 0, sizeof(data));
    wire_ipv4(data, wire_ip(10, 0, 0, 9), wire_ip(10, 0, 0, 2), IPPROTO_TCP, 20);
    CU_ASSERT_EQUAL(verdict_flags(60, 0, &packet), GOOD);
    CU_ASSERT_EQUAL(packet.len, 20);
    CU_ASSERT_EQUAL(verdict(65), NET_DROP_IP_HEADER);
}

static void
checksum_is_verified_unless_the_device_did(void)
{
    struct ip_packet packet;
    uint32_t len = good_packet();
    ip()->hdr_checksum ^= RTE_BE16(1);
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_IP_CHECKSUM);
    CU_ASSERT_EQUAL(verdict_flags(len, RTE_MBUF_F_RX_IP_CKSUM_GOOD, &packet), GOOD);
    good_packet();
    CU_ASSERT_EQUAL(verdict_flags(len, RTE_MBUF_F_RX_IP_CKSUM_BAD, &packet), NET_DROP_IP_CHECKSUM);
    for (unsigned bit = 0; bit < sizeof(*ip()) * 8; bit++) { /* any flipped bit shows, as that or as something else */
        good_packet();
        data[sizeof(struct rte_ether_hdr) + bit / 8] ^= (uint8_t)(1u << bit % 8);
        CU_ASSERT_NOT_EQUAL(verdict(len), GOOD);
    }
}

static void
addresses(void)
{
    const uint32_t bad[] = {
        wire_ip(10, 0, 0, 2),  wire_ip(0, 0, 0, 0),         wire_ip(0, 1, 2, 3),
        wire_ip(127, 0, 0, 1), wire_ip(224, 0, 0, 1),       wire_ip(239, 255, 255, 255),
        wire_ip(240, 0, 0, 1), wire_ip(255, 255, 255, 255), wire_ip(10, 255, 255, 255),
    };
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CU_ASSERT_EQUAL(verdict(packet_from(bad[i])), NET_DROP_IP_SOURCE);
    CU_ASSERT_EQUAL(verdict(packet_from(wire_ip(192, 168, 1, 1))), GOOD); /* through the gateway */
    uint32_t len = good_packet();
    ip()->dst_addr = wire_ip(10, 0, 0, 3);
    seal();
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_NOT_OURS);
    ip()->dst_addr = wire_ip(10, 255, 255, 255);
    seal();
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_NOT_OURS);
    good_packet();
    data[5] ^= 1; /* another's hardware address */
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_NOT_OURS);
    good_packet();
    memset(data, 0xff, 6);
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_NOT_OURS);
}

static void
fragments_and_protocols(void)
{
    uint32_t len = good_packet();
    ip()->fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
    seal();
    CU_ASSERT_EQUAL(verdict(len), GOOD);
    ip()->fragment_offset = RTE_BE16(RTE_IPV4_HDR_MF_FLAG);
    seal();
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_FRAGMENT);
    ip()->fragment_offset = RTE_BE16(1);
    seal();
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_FRAGMENT);
    for (unsigned protocol = 0; protocol < 256; protocol++) {
        good_packet();
        ip()->next_proto_id = (uint8_t)protocol;
        seal();
        enum net_drop expected = NET_DROP_PROTOCOL; /* IP-in-IP among them */
        if (protocol == IPPROTO_TCP)
            expected = GOOD;
        if (protocol == IPPROTO_ICMP)
            expected = NET_DROP_ICMP; /* all zero: an echo reply */
        CU_ASSERT_EQUAL(verdict(len), expected);
    }
    good_packet();
    data[12] = 0x86; /* IPv6 */
    data[13] = 0xdd;
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_ETHERTYPE);
}

/* ---- ICMP echo ---- */

static uint32_t
echo_request(uint32_t payload)
{
    memset(data, 0x5a, sizeof(data));
    uint32_t header = wire_ipv4(data, wire_ip(10, 0, 0, 9), wire_ip(10, 0, 0, 2), IPPROTO_ICMP, payload);
    struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(data + header);
    icmp->icmp_type = RTE_IP_ICMP_ECHO_REQUEST;
    icmp->icmp_code = 0;
    icmp->icmp_cksum = 0;
    icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, payload);
    return header + payload;
}

static void
echo_is_answered(void)
{
    static uint8_t answer[2048];
    struct ip_packet packet;
    const struct rte_ether_addr mac = {{2, 0, 0, 0, 1, 0x11}};
    uint32_t len = echo_request(56);
    struct rte_mbuf *frame = wire_frame(data, len);
    net_note_sender(&net, frame, wire_ip(10, 0, 0, 9), WIRE_US);
    rte_pktmbuf_free(frame);
    wire_drain();
    CU_ASSERT_FALSE(net_input(&net, wire_frame(data, len), &packet, WIRE_US));
    net_flush(&net);
    CU_ASSERT_EQUAL(wire_sent(answer, sizeof(answer)), 42); /* the question whether the suggestion is right */
    CU_ASSERT_EQUAL_FATAL(wire_sent(answer, sizeof(answer)), len);
    const struct rte_ipv4_hdr *header = (const struct rte_ipv4_hdr *)(answer + sizeof(struct rte_ether_hdr));
    const struct rte_icmp_hdr *icmp = (const struct rte_icmp_hdr *)(header + 1);
    CU_ASSERT_EQUAL(memcmp(answer, &mac, sizeof(mac)), 0);
    CU_ASSERT_EQUAL(header->src_addr, wire_ip(10, 0, 0, 2));
    CU_ASSERT_EQUAL(header->dst_addr, wire_ip(10, 0, 0, 9));
    CU_ASSERT_EQUAL(rte_raw_cksum(header, sizeof(*header)), 0xffff);
    CU_ASSERT_EQUAL(icmp->icmp_type, RTE_IP_ICMP_ECHO_REPLY);
    CU_ASSERT_EQUAL(rte_raw_cksum(icmp, 56), 0xffff);
    CU_ASSERT_EQUAL(memcmp(icmp + 1, data + len - 48, 48), 0);
}

static void
short_or_wrong_echo_is_dropped(void)
{
    for (uint32_t payload = 0; payload < sizeof(struct rte_icmp_hdr); payload++) {
        echo_request(sizeof(struct rte_icmp_hdr));
        ip()->total_length = rte_cpu_to_be_16((uint16_t)(20 + payload));
        seal();
        CU_ASSERT_EQUAL(verdict(34 + payload), NET_DROP_ICMP);
    }
    uint32_t len = echo_request(56);
    data[len - 1] ^= 1;
    CU_ASSERT_EQUAL(verdict(len), NET_DROP_ICMP);
    for (unsigned type = 0; type < 256; type++) { /* unreachable, too big, redirect ...: none has an effect */
        if (type == RTE_IP_ICMP_ECHO_REQUEST)
            continue;
        len = echo_request(56);
        struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(data + 34);
        icmp->icmp_type = (uint8_t)type;
        icmp->icmp_cksum = 0;
        icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, 56);
        CU_ASSERT_EQUAL(verdict(len), NET_DROP_ICMP);
    }
    net_flush(&net);
    CU_ASSERT_EQUAL(wire_drain(), 0);
}

/* ---- what we send ---- */

static struct rte_mbuf *
sent_tcp_frame(uint32_t payload_len)
{
    static uint8_t header[20], payload[1500];
    const struct rte_ether_addr mac = {{2, 0, 0, 0, 1, 0x11}};
    struct rte_mbuf *frame = NULL;
    for (unsigned i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 7 + payload_len);
    for (unsigned i = 0; i < sizeof(header); i++)
        header[i] = (uint8_t)(0xf0 + i);
    header[16] = header[17] = 0;
    const struct net_packet packet = {.dst = wire_ip(10, 0, 0, 9),
                                      .protocol = IPPROTO_TCP,
                                      .header = header,
                                      .header_len = sizeof(header),
                                      .payload = payload,
                                      .payload_len = payload_len};
    arp_suggest(&net, packet.dst, &mac, WIRE_US);
    net_output(&net, &packet, WIRE_US);
    net_flush(&net);
    while (rte_eth_rx_burst(wire_port.id, 0, &frame, 1) == 1 && frame->pkt_len == 42)
        rte_pktmbuf_free(frame); /* ARP */
    CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
    CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod_offset(frame, uint8_t *, 54), payload, payload_len), 0);
    return frame;
}

static void
checksums_are_ours_or_the_port_s(void)
{
    for (uint32_t len = 0; len <= 1460; len += 73) {
        struct rte_mbuf *frame = sent_tcp_frame(len);
        const struct rte_ipv4_hdr *header = rte_pktmbuf_mtod_offset(frame, const struct rte_ipv4_hdr *, 14);
        CU_ASSERT_EQUAL(rte_raw_cksum(header, sizeof(*header)), 0xffff);
        CU_ASSERT_EQUAL(rte_ipv4_udptcp_cksum(header, header + 1), 0);
        CU_ASSERT_EQUAL(frame->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, 0);
        rte_pktmbuf_free(frame);
    }
    wire_port.tx_ip_checksum = wire_port.tx_tcp_checksum = true;
    struct rte_mbuf *frame = sent_tcp_frame(100);
    wire_port.tx_ip_checksum = wire_port.tx_tcp_checksum = false;
    const struct rte_ipv4_hdr *header = rte_pktmbuf_mtod_offset(frame, const struct rte_ipv4_hdr *, 14);
    const struct rte_tcp_hdr *tcp = (const struct rte_tcp_hdr *)(header + 1);
    const uint64_t flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM;
    CU_ASSERT_EQUAL(header->hdr_checksum, 0);
    CU_ASSERT_EQUAL(tcp->cksum, rte_ipv4_phdr_cksum(header, frame->ol_flags));
    CU_ASSERT_EQUAL(frame->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, flags);
    CU_ASSERT(frame->l2_len == 14 && frame->l3_len == 20);
    rte_pktmbuf_free(frame);
}

static const struct unit_test tests[] = {
    {"a good packet is described", a_good_packet_is_described},
    {"lengths must agree", lengths_must_agree},
    {"Ethernet padding is not payload", ethernet_padding_is_not_payload},
    {"the checksum is verified unless the device did", checksum_is_verified_unless_the_device_did},
    {"addresses", addresses},
    {"fragments and protocols", fragments_and_protocols},
    {"an echo request is answered", echo_is_answered},
    {"checksums are ours or the port's", checksums_are_ours_or_the_port_s},
    {"a short or wrong echo is dropped", short_or_wrong_echo_is_dropped},
};

int
main(void)
{
    wire_start();
    if (net_open(&net, &wire_port, wire_ip(10, 0, 0, 2), WIRE_PREFIX, wire_ip(10, 0, 0, 1), 7) != 0)
        return 1;
    return unit_main("ip", tests, sizeof(tests) / sizeof(tests[0]));
}
