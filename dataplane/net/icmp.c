/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP echo. */
#include "dataplane/net/icmp.h"

#include <netinet/in.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

static bool
is_echo_request(const struct ip_packet *packet)
{
    const struct rte_icmp_hdr *icmp = (const struct rte_icmp_hdr *)packet->payload;
    return packet->len >= sizeof(*icmp) && icmp->icmp_type == RTE_IP_ICMP_ECHO_REQUEST && icmp->icmp_code == 0 &&
           rte_raw_cksum(icmp, packet->len) == 0xffff;
}

void
icmp_input(struct net *net, struct rte_mbuf *frame, const struct ip_packet *packet, uint64_t now_us)
{
    if (is_echo_request(packet)) {
        const struct rte_icmp_hdr *request = (const struct rte_icmp_hdr *)packet->payload;
        struct rte_icmp_hdr reply = *request;
        reply.icmp_type = RTE_IP_ICMP_ECHO_REPLY;
        /* Only the type has changed: RFC 1624, equation 3. */
        uint32_t sum = (uint16_t)~request->icmp_cksum + (uint32_t)(uint16_t)~RTE_BE16(RTE_IP_ICMP_ECHO_REQUEST << 8);
        sum = (sum & 0xffffu) + (sum >> 16);
        reply.icmp_cksum = (uint16_t) ~((sum & 0xffffu) + (sum >> 16));
        const struct net_packet answer = {
            .dst = packet->src,
            .protocol = IPPROTO_ICMP,
            .header = (const uint8_t *)&reply,
            .header_len = sizeof(reply),
            .payload = packet->payload + sizeof(reply),
            .payload_len = packet->len - (uint32_t)sizeof(reply),
        };
        net_output(net, &answer, now_us);
    } else {
        net->drops[NET_DROP_ICMP]++;
    }
    rte_pktmbuf_free(frame);
}
