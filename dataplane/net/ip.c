/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 headers, in and out. */
#include "dataplane/net/ip.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#define TIME_TO_LIVE 64

/* The shortest Ethernet frame is 60 bytes, 64 with a tag or check sequence left in: what a shorter packet is padded
 * to. More behind the packet than that is a length that lies. */
#define PADDED_FRAME 64u

static bool
bad_source(const struct net *net, uint32_t src)
{
    uint32_t host = rte_be_to_cpu_32(src);
    bool subnet_broadcast = net->mask != UINT32_MAX && ((src ^ net->address) & net->mask) == 0 &&
                            (src & ~net->mask) == ~net->mask && rte_be_to_cpu_32(~net->mask) > 1;
    return host >> 24 == 0 || host >> 24 == 127 || host >> 28 >= 14 || src == net->address || subnet_broadcast;
}

static bool
checksum_is_wrong(const struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip, uint32_t header)
{
    uint64_t verdict = frame->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
    if (verdict == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
        return false;
    return verdict == RTE_MBUF_F_RX_IP_CKSUM_BAD || rte_raw_cksum(ip, header) != 0xffff;
}

enum net_drop
ip_check(const struct net *net, const struct rte_mbuf *frame, struct ip_packet *packet, uint8_t *protocol)
{
    const struct rte_ipv4_hdr *ip =
        rte_pktmbuf_mtod_offset(frame, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
    uint32_t room = frame->data_len - (uint32_t)sizeof(struct rte_ether_hdr);
    if (room < sizeof(*ip))
        return NET_DROP_SHORT;
    uint32_t header = (ip->version_ihl & 15u) * 4u, total = rte_be_to_cpu_16(ip->total_length);
    if (ip->version_ihl >> 4 != 4 || header < sizeof(*ip) || total < header || total > room)
        return NET_DROP_IP_HEADER;
    if (total < room && frame->data_len > PADDED_FRAME)
        return NET_DROP_IP_HEADER;
    if (checksum_is_wrong(frame, ip, header))
        return NET_DROP_IP_CHECKSUM;
    if (ip->dst_addr != net->address)
        return NET_DROP_NOT_OURS;
    if (bad_source(net, ip->src_addr))
        return NET_DROP_IP_SOURCE;
    if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
        return NET_DROP_FRAGMENT;
    if (ip->next_proto_id != IPPROTO_TCP && ip->next_proto_id != IPPROTO_ICMP)
        return NET_DROP_PROTOCOL;
    uint64_t verdict = frame->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
    *protocol = ip->next_proto_id;
    *packet = (struct ip_packet){
        .src = ip->src_addr,
        .dst = ip->dst_addr,
        .payload = (const uint8_t *)ip + header,
        .len = total - header,
        .checked = verdict == RTE_MBUF_F_RX_L4_CKSUM_GOOD || verdict == RTE_MBUF_F_RX_L4_CKSUM_NONE,
        .bad = verdict == RTE_MBUF_F_RX_L4_CKSUM_BAD,
    };
    return NET_DROPS;
}

bool
ip_tcp_checksum_good(const struct rte_mbuf *frame, const struct ip_packet *packet)
{
    if (packet->checked || packet->bad)
        return packet->checked;
    const struct rte_ipv4_hdr *ip =
        rte_pktmbuf_mtod_offset(frame, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
    return rte_ipv4_udptcp_cksum(ip, packet->payload) == 0; /* over a checksum that is right: 0 */
}

static uint16_t
fold(uint64_t sum)
{
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint16_t)((sum & 0xffffu) + (sum >> 16));
}

/* A header that was just stored as 4-byte fields: loads of the same size are served by those stores. */
static uint64_t
header_sum(const uint8_t *header, uint32_t len)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < len; i += 4) {
        uint32_t field;
        memcpy(&field, header + i, sizeof(field));
        sum += field;
        __asm__("" : "+r"(sum)); /* one by one */
    }
    return sum;
}

/* Of the pseudo header (RFC 9293 3.1), as far as it is the same for the port and for us. */
static uint64_t
pseudo_sum(const struct net *net, const struct net_packet *packet)
{
    uint32_t len = packet->header_len + packet->payload_len;
    return (uint64_t)net->address + packet->dst + rte_cpu_to_be_16(packet->protocol) + rte_cpu_to_be_16((uint16_t)len);
}

static uint16_t
tcp_checksum(const struct net *net, const struct net_packet *packet)
{
    uint64_t sum = pseudo_sum(net, packet);
    if (net->port->tx_tcp_checksum)
        return fold(sum); /* the port adds the rest */
    sum += header_sum(packet->header, packet->header_len);
    sum += rte_raw_cksum(packet->payload, packet->payload_len);
    return (uint16_t)~fold(sum);
}

static uint16_t
ip_checksum(const struct net *net, const struct rte_ipv4_hdr *ip)
{
    if (net->port->tx_ip_checksum)
        return 0;
    uint64_t sum = RTE_BE16(RTE_IPV4_VHL_DEF << 8) + (uint64_t)ip->total_length + ip->packet_id +
                   rte_cpu_to_be_16((uint16_t)(ip->time_to_live << 8 | ip->next_proto_id)) + ip->src_addr +
                   ip->dst_addr;
    return (uint16_t)~fold(sum);
}

static uint64_t
offload_flags(const struct port *port, uint8_t protocol)
{
    uint64_t flags = 0;
    if (port->tx_ip_checksum)
        flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
    if (port->tx_tcp_checksum && protocol == IPPROTO_TCP)
        flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM;
    return flags;
}

void
ip_write(struct net *net, struct rte_mbuf *frame, const struct net_packet *packet)
{
    uint32_t len = (uint32_t)sizeof(struct rte_ipv4_hdr) + packet->header_len + packet->payload_len;
    struct rte_ipv4_hdr ip = {
        .version_ihl = RTE_IPV4_VHL_DEF,
        .total_length = rte_cpu_to_be_16((uint16_t)len),
        .packet_id = rte_cpu_to_be_16(net->ip_id++),
        .time_to_live = TIME_TO_LIVE,
        .next_proto_id = packet->protocol,
        .src_addr = net->address,
        .dst_addr = packet->dst,
    };
    ip.hdr_checksum = ip_checksum(net, &ip);
    frame->l2_len = sizeof(struct rte_ether_hdr);
    frame->l3_len = sizeof(ip);
    frame->ol_flags |= offload_flags(net->port, packet->protocol);
    frame->data_len = (uint16_t)(sizeof(struct rte_ether_hdr) + len);
    frame->pkt_len = frame->data_len;
    uint8_t *to = rte_pktmbuf_mtod_offset(frame, uint8_t *, sizeof(struct rte_ether_hdr));
    memcpy(to, &ip, sizeof(ip));
    to += sizeof(ip);
    memcpy(to, packet->header, packet->header_len);
    if (packet->payload_len)
        memcpy(to + packet->header_len, packet->payload, packet->payload_len);
    if (packet->protocol == IPPROTO_TCP) {
        uint16_t checksum = tcp_checksum(net, packet);
        memcpy(to + offsetof(struct rte_tcp_hdr, cksum), &checksum, sizeof(checksum));
    }
}
