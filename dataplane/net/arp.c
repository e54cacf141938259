/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP: a bounded table of neighbours. */
#include "dataplane/net/arp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "dataplane/net/queue.h"

struct arp *
arp_create(uint64_t seed)
{
    struct arp *arp = calloc(1, sizeof(*arp));
    if (arp)
        arp->seed = seed;
    return arp;
}

void
arp_free(struct arp *arp)
{
    if (!arp)
        return;
    for (unsigned s = 0; s < ARP_SETS; s++)
        for (unsigned w = 0; w < ARP_WAYS; w++)
            rte_pktmbuf_free(arp->set[s][w].held);
    free(arp);
}

static struct arp_entry *
set_of(struct arp *arp, uint32_t ip)
{
    return arp->set[rte_jhash_2words(ip, (uint32_t)(arp->seed >> 32), (uint32_t)arp->seed) % ARP_SETS];
}

struct arp_entry *
arp_find(struct arp *arp, uint32_t ip)
{
    struct arp_entry *set = set_of(arp, ip);
    for (unsigned w = 0; w < ARP_WAYS; w++)
        if (set[w].ip == ip)
            return &set[w];
    return NULL;
}

/* How dear an entry is: the least dear of a set makes room. UINT64_MAX: in use, stays. */
static uint64_t
worth(const struct arp_entry *entry, uint64_t now_us)
{
    if (entry->ip == 0)
        return 0;
    if (entry->confirmed_us == 0)
        return 1 + entry->asked_us;
    if (entry->used_us && now_us - entry->used_us < ARP_IN_USE_US)
        return UINT64_MAX;
    return UINT64_MAX / 2 + entry->confirmed_us;
}

static struct arp_entry *
arp_add(struct arp *arp, uint32_t ip, uint64_t now_us)
{
    struct arp_entry *set = set_of(arp, ip), *victim = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned w = 0; w < ARP_WAYS; w++) {
        uint64_t value = worth(&set[w], now_us);
        if (value < least) {
            least = value;
            victim = &set[w];
        }
    }
    if (!victim)
        return NULL;
    rte_pktmbuf_free(victim->held);
    memset(victim, 0, sizeof(*victim));
    victim->ip = ip;
    return victim;
}

static void
fill(const struct net *net, struct rte_mbuf *frame, uint16_t opcode, const struct rte_ether_addr *to, uint32_t to_ip)
{
    struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, struct rte_ether_hdr *);
    struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(eth + 1);
    struct rte_arp_ipv4 *data = &arp->arp_data;
    frame->data_len = sizeof(*eth) + sizeof(*arp);
    frame->pkt_len = frame->data_len;
    frame->ol_flags = 0;
    memcpy(&eth->src_addr, net->port->mac, sizeof(eth->src_addr));
    if (to)
        eth->dst_addr = *to;
    else
        memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
    eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
    arp->arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
    arp->arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
    arp->arp_hlen = RTE_ETHER_ADDR_LEN;
    arp->arp_plen = sizeof(uint32_t);
    arp->arp_opcode = rte_cpu_to_be_16(opcode);
    memcpy(&data->arp_sha, net->port->mac, sizeof(data->arp_sha));
    data->arp_sip = net->address;
    memset(&data->arp_tha, 0, sizeof(data->arp_tha));
    if (to)
        data->arp_tha = *to;
    data->arp_tip = to_ip;
}

static void
broadcast_question(struct net *net, uint32_t about)
{
    struct rte_mbuf *frame = net_buffer(net);
    if (!frame)
        return;
    fill(net, frame, RTE_ARP_OP_REQUEST, NULL, about);
    net_queue(net, frame);
}

void
arp_announce(struct net *net)
{
    broadcast_question(net, net->address);
}

static void
ask(struct net *net, struct arp_entry *entry, uint64_t now_us)
{
    if (entry->asked_us && now_us - entry->asked_us < ARP_BETWEEN_US)
        return;
    entry->asked_us = now_us;
    broadcast_question(net, entry->ip);
}

static void
leave(struct net *net, struct arp_entry *entry, struct rte_mbuf *frame, uint64_t now_us)
{
    struct rte_ether_hdr *eth = rte_pktmbuf_mtod(frame, struct rte_ether_hdr *);
    memcpy(&eth->src_addr, net->port->mac, sizeof(eth->src_addr));
    eth->dst_addr = entry->mac;
    entry->used_us = now_us;
    net_queue(net, frame);
}

void
arp_send(struct net *net, struct rte_mbuf *frame, uint32_t neighbour, uint64_t now_us)
{
    struct arp_entry *entry = arp_find(net->arp, neighbour);
    if (!entry)
        entry = arp_add(net->arp, neighbour, now_us);
    if (!entry) {
        net->drops[NET_DROP_NO_ROUTE]++;
        rte_pktmbuf_free(frame);
        return;
    }
    if (entry->confirmed_us == 0 || now_us - entry->confirmed_us > ARP_FRESH_US)
        ask(net, entry, now_us);
    if (entry->known) {
        leave(net, entry, frame, now_us);
        return;
    }
    if (entry->held) {
        net->drops[NET_DROP_NO_ROUTE]++;
        rte_pktmbuf_free(entry->held);
    }
    entry->held = frame;
}

void
arp_suggest(struct net *net, uint32_t neighbour, const struct rte_ether_addr *mac, uint64_t now_us)
{
    struct arp_entry *entry = arp_find(net->arp, neighbour);
    if (!entry)
        entry = arp_add(net->arp, neighbour, now_us);
    if (!entry || entry->known || !rte_is_valid_assigned_ether_addr(mac))
        return;
    entry->mac = *mac;
    entry->known = true;
}

static bool
well_formed(const struct net *net, const struct rte_mbuf *frame, const struct rte_arp_hdr *arp)
{
    if (frame->data_len < sizeof(struct rte_ether_hdr) + sizeof(*arp))
        return false;
    if (arp->arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER) || arp->arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
        arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != sizeof(uint32_t))
        return false;
    const struct rte_arp_ipv4 *data = &arp->arp_data;
    bool neighbour = ((data->arp_sip ^ net->address) & net->mask) == 0 || data->arp_sip == net->gateway;
    return data->arp_sip != 0 && data->arp_sip != net->address && neighbour &&
           rte_is_valid_assigned_ether_addr(&data->arp_sha);
}

static void
learn(struct net *net, const struct rte_arp_ipv4 *data, bool asks_us, uint64_t now_us)
{
    struct arp_entry *entry = arp_find(net->arp, data->arp_sip);
    if (!entry && asks_us)
        entry = arp_add(net->arp, data->arp_sip, now_us);
    if (!entry)
        return;
    entry->mac = data->arp_sha;
    entry->known = true;
    entry->confirmed_us = now_us;
    if (entry->held) {
        struct rte_mbuf *held = entry->held;
        entry->held = NULL;
        leave(net, entry, held, now_us);
    }
}

void
arp_input(struct net *net, struct rte_mbuf *frame, uint64_t now_us)
{
    const struct rte_arp_hdr *arp =
        rte_pktmbuf_mtod_offset(frame, const struct rte_arp_hdr *, sizeof(struct rte_ether_hdr));
    if (!well_formed(net, frame, arp)) {
        net->drops[NET_DROP_ARP]++;
        rte_pktmbuf_free(frame);
        return;
    }
    bool asks_us = arp->arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST) && arp->arp_data.arp_tip == net->address;
    learn(net, &arp->arp_data, asks_us, now_us);
    if (!asks_us) {
        rte_pktmbuf_free(frame);
        return;
    }
    struct rte_ether_addr asker = arp->arp_data.arp_sha;
    fill(net, frame, RTE_ARP_OP_REPLY, &asker, arp->arp_data.arp_sip);
    net_queue(net, frame);
}
