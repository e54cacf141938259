/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP echo. */
#include "dataplane/net/icmp.h"

#include <netinet/in.h>
#include <string.h>

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
    uint8_t *payload;
    struct rte_mbuf *answer = NULL;
    if (!is_echo_request(packet))
        net->drops[NET_DROP_ICMP]++;
    else
        answer = net_buffer(net, packet->len, &payload);
    if (answer) {
        struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)payload;
        memcpy(payload, packet->payload, packet->len);
        icmp->icmp_type = RTE_IP_ICMP_ECHO_REPLY;
        icmp->icmp_cksum = 0;
        icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(payload, packet->len);
        net_output(net, answer, packet->src, IPPROTO_ICMP, now_us);
    }
    rte_pktmbuf_free(frame);
}
