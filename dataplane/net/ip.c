/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 headers, in and out. */
#include "dataplane/net/ip.h"

#include <netinet/in.h>

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

static void
tcp_checksum(struct net *net, struct rte_mbuf *frame, const struct rte_ipv4_hdr *ip)
{
    struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(frame, struct rte_tcp_hdr *, NET_HEADROOM);
    if (net->port->tx_tcp_checksum) {
        frame->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM;
        tcp->cksum = rte_ipv4_phdr_cksum(ip, frame->ol_flags);
    } else {
        tcp->cksum = rte_ipv4_udptcp_cksum(ip, tcp);
    }
}

void
ip_write(struct net *net, struct rte_mbuf *frame, uint32_t dst, uint8_t protocol)
{
    struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(frame, struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
    *ip = (struct rte_ipv4_hdr){
        .version_ihl = RTE_IPV4_VHL_DEF,
        .total_length = rte_cpu_to_be_16((uint16_t)(frame->pkt_len - sizeof(struct rte_ether_hdr))),
        .packet_id = rte_cpu_to_be_16(net->ip_id++),
        .time_to_live = TIME_TO_LIVE,
        .next_proto_id = protocol,
        .src_addr = net->address,
        .dst_addr = dst,
    };
    frame->l2_len = sizeof(struct rte_ether_hdr);
    frame->l3_len = sizeof(*ip);
    if (net->port->tx_ip_checksum)
        frame->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
    else
        ip->hdr_checksum = rte_ipv4_cksum(ip);
    if (protocol == IPPROTO_TCP)
        tcp_checksum(net, frame, ip);
}
