/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet and the frame queue: sort what arrives, address what leaves. */
#include "dataplane/net/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "dataplane/net/arp.h"
#include "dataplane/net/icmp.h"
#include "dataplane/net/ip.h"

int
net_open(struct net *net, struct port *port, uint32_t address, unsigned prefix, uint32_t gateway, uint64_t seed)
{
    memset(net, 0, sizeof(*net));
    net->port = port;
    net->address = address;
    net->mask = prefix ? rte_cpu_to_be_32(UINT32_MAX << (32 - prefix)) : 0;
    net->gateway = gateway;
    net->arp = arp_create(seed);
    return net->arp ? 0 : -ENOMEM;
}

void
net_close(struct net *net)
{
    net_flush(net);
    rte_pktmbuf_free_bulk(net->spare, net->spares);
    net->spares = 0;
    arp_free(net->arp);
    net->arp = NULL;
}

void
net_announce(struct net *net)
{
    arp_announce(net);
    net_flush(net);
}

static void
drop(struct net *net, struct rte_mbuf *frame, enum net_drop reason)
{
    net->drops[reason]++;
    rte_pktmbuf_free(frame);
}

static bool
addressed_to_us(const struct net *net, const struct rte_ether_hdr *eth)
{
    return memcmp(eth->dst_addr.addr_bytes, net->port->mac, RTE_ETHER_ADDR_LEN) == 0;
}

bool
net_input(struct net *net, struct rte_mbuf *frame, struct ip_packet *packet, uint64_t now_us)
{
    if (frame->data_len < sizeof(struct rte_ether_hdr) || frame->nb_segs != 1) {
        drop(net, frame, NET_DROP_SHORT);
        return false;
    }
    const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);
    if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP)) {
        arp_input(net, frame, now_us);
        return false;
    }
    if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
        drop(net, frame, NET_DROP_ETHERTYPE);
        return false;
    }
    if (!addressed_to_us(net, eth)) {
        drop(net, frame, NET_DROP_NOT_OURS);
        return false;
    }
    uint8_t protocol;
    enum net_drop reason = ip_check(net, frame, packet, &protocol);
    if (reason != NET_DROPS) {
        drop(net, frame, reason);
        return false;
    }
    if (protocol == IPPROTO_ICMP) {
        icmp_input(net, frame, packet, now_us);
        return false;
    }
    return true;
}

/* Buffers are taken many at a time, so that their misses overlap. */
static void
refill(struct net *net)
{
    if (rte_pktmbuf_alloc_bulk(net->port->pool, net->spare, NET_SPARE) != 0)
        return;
    net->spares = NET_SPARE;
    for (unsigned i = 0; i < NET_SPARE; i++)
        __builtin_prefetch(rte_pktmbuf_mtod(net->spare[i], const void *), 1);
}

struct rte_mbuf *
net_buffer(struct net *net)
{
    if (net->spares == 0)
        refill(net);
    if (net->spares > 0)
        return net->spare[--net->spares];
    struct rte_mbuf *frame = rte_pktmbuf_alloc(net->port->pool);
    if (!frame)
        net->drops[NET_DROP_NO_MBUF]++;
    return frame;
}

/* Where packets to dst go first; 0: nowhere. */
static uint32_t
next_hop(const struct net *net, uint32_t dst)
{
    return ((dst ^ net->address) & net->mask) == 0 ? dst : net->gateway;
}

void
net_note_sender(struct net *net, const struct rte_mbuf *frame, uint32_t src, uint64_t now_us)
{
    const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, const struct rte_ether_hdr *);
    uint32_t hop = next_hop(net, src);
    if (hop)
        arp_suggest(net, hop, &eth->src_addr, now_us);
}

void
net_output(struct net *net, const struct net_packet *packet, uint64_t now_us)
{
    uint32_t hop = next_hop(net, packet->dst);
    if (hop == 0) {
        net->drops[NET_DROP_NO_ROUTE]++;
        return;
    }
    struct rte_mbuf *frame = net_buffer(net);
    if (!frame)
        return;
    ip_write(net, frame, packet);
    struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, struct rte_ether_hdr *);
    eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
    arp_send(net, frame, hop, now_us);
}

unsigned
net_flush(struct net *net)
{
    unsigned count = net->queued;
    for (unsigned sent = 0; sent < count; sent += PORT_BURST)
        port_tx_burst(net->port, net->queue + sent, count - sent < PORT_BURST ? count - sent : PORT_BURST);
    net->queued = 0;
    return count;
}
