/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP: answers, learns within bounds, keeps what is in use. */
#include "dataplane/net/arp.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "tests/unit/dataplane/net/wire.h"
#include "tests/unit/unit.h"

static struct net net;
static uint8_t data[2048];

static void
open_net(void)
{
    wire_drain();
    CU_ASSERT_FATAL(net_open(&net, &wire_port, wire_ip(10, 0, 0, 2), WIRE_PREFIX, wire_ip(10, 0, 0, 1), 7) == 0);
}

static void
receive(uint32_t len, uint64_t now_us)
{
    struct ip_packet packet;
    CU_ASSERT_FALSE(net_input(&net, wire_frame(data, len), &packet, now_us));
    net_flush(&net);
}

static void
send_to(uint32_t dst, uint64_t now_us)
{
    const uint8_t zeros[8] = {0};
    const struct net_packet packet = {.dst = dst, .protocol = IPPROTO_ICMP, .header = zeros, .header_len = 8};
    net_output(&net, &packet, now_us);
    net_flush(&net);
}

static uint16_t
sent_type(void)
{
    if (wire_sent(data, sizeof(data)) == 0)
        return 0;
    return rte_be_to_cpu_16(((struct rte_ether_hdr *)data)->ether_type);
}

static const struct rte_arp_hdr *
arp_of(const uint8_t *frame)
{
    return (const struct rte_arp_hdr *)(frame + sizeof(struct rte_ether_hdr));
}

static void
answers_a_question_about_us(void)
{
    open_net();
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, wire_ip(10, 0, 0, 9), 9, wire_ip(10, 0, 0, 2)), WIRE_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_ARP);
    const struct rte_arp_hdr *arp = arp_of(data);
    CU_ASSERT_EQUAL(arp->arp_opcode, RTE_BE16(RTE_ARP_OP_REPLY));
    CU_ASSERT_EQUAL(arp->arp_data.arp_sip, wire_ip(10, 0, 0, 2));
    CU_ASSERT_EQUAL(memcmp(&arp->arp_data.arp_sha, wire_port.mac, 6), 0);
    CU_ASSERT_EQUAL(arp->arp_data.arp_tha.addr_bytes[5], 9);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 9);
    CU_ASSERT_PTR_NOT_NULL(arp_find(net.arp, wire_ip(10, 0, 0, 9)));
    net_close(&net);
}

static void
ignores_questions_about_others_and_unasked_replies(void)
{
    open_net();
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, wire_ip(10, 0, 0, 9), 9, wire_ip(10, 0, 0, 3)), WIRE_US);
    receive(wire_arp(data, RTE_ARP_OP_REPLY, wire_ip(10, 0, 0, 9), 9, wire_ip(10, 0, 0, 2)), WIRE_US);
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, wire_ip(10, 0, 0, 9), 9, wire_ip(10, 0, 0, 9)), WIRE_US);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    CU_ASSERT_PTR_NULL(arp_find(net.arp, wire_ip(10, 0, 0, 9)));
    net_close(&net);
}

static void
drops_what_is_malformed(void)
{
    const uint32_t us = wire_ip(10, 0, 0, 2), peer = wire_ip(10, 0, 0, 9);
    open_net();
    uint32_t len = wire_arp(data, RTE_ARP_OP_REQUEST, peer, 9, us);
    for (uint32_t cut = sizeof(struct rte_ether_hdr); cut < len; cut++)
        receive(cut, WIRE_US);
    CU_ASSERT_EQUAL(net.drops[NET_DROP_ARP], len - sizeof(struct rte_ether_hdr));
    net.drops[NET_DROP_ARP] = 0;
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, us, 9, us), WIRE_US);                      /* our own address */
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, wire_ip(192, 168, 0, 1), 9, us), WIRE_US); /* not a neighbour */
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, 0, 9, us), WIRE_US);
    wire_arp(data, RTE_ARP_OP_REQUEST, peer, 9, us);
    ((struct rte_arp_hdr *)(data + sizeof(struct rte_ether_hdr)))->arp_data.arp_sha.addr_bytes[0] = 1; /* multicast */
    receive(len, WIRE_US);
    wire_arp(data, RTE_ARP_OP_REQUEST, peer, 9, us);
    ((struct rte_arp_hdr *)(data + sizeof(struct rte_ether_hdr)))->arp_hlen = 8;
    receive(len, WIRE_US);
    CU_ASSERT_EQUAL(net.drops[NET_DROP_ARP], 5);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    net_close(&net);
}

static void
asks_holds_one_frame_and_sends_it(void)
{
    const uint32_t peer = wire_ip(10, 0, 0, 9);
    open_net();
    send_to(peer, WIRE_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_ARP);
    CU_ASSERT_EQUAL(arp_of(data)->arp_opcode, RTE_BE16(RTE_ARP_OP_REQUEST));
    CU_ASSERT_EQUAL(arp_of(data)->arp_data.arp_tip, peer);
    send_to(peer, WIRE_US + 10); /* takes the place of the first; no second question within a second */
    CU_ASSERT_EQUAL(wire_drain(), 0);
    CU_ASSERT_EQUAL(net.drops[NET_DROP_NO_ROUTE], 1);
    receive(wire_arp(data, RTE_ARP_OP_REPLY, peer, 9, wire_ip(10, 0, 0, 2)), WIRE_US + 20);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 9);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    send_to(peer, WIRE_US + 30);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    net_close(&net);
}

static void
other_subnets_go_to_the_gateway(void)
{
    open_net();
    send_to(wire_ip(192, 168, 5, 5), WIRE_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_ARP);
    CU_ASSERT_EQUAL(arp_of(data)->arp_data.arp_tip, wire_ip(10, 0, 0, 1));
    receive(wire_arp(data, RTE_ARP_OP_REPLY, wire_ip(10, 0, 0, 1), 1, wire_ip(10, 0, 0, 2)), WIRE_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 1);
    net.gateway = 0;
    send_to(wire_ip(192, 168, 5, 5), WIRE_US);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    CU_ASSERT_EQUAL(net.drops[NET_DROP_NO_ROUTE], 1);
    net_close(&net);
}

static void
an_old_entry_is_used_and_asked_for_again(void)
{
    const uint32_t peer = wire_ip(10, 0, 0, 9);
    open_net();
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, peer, 9, wire_ip(10, 0, 0, 2)), WIRE_US);
    wire_drain();
    send_to(peer, WIRE_US + ARP_FRESH_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(wire_drain(), 0);
    send_to(peer, WIRE_US + ARP_FRESH_US + 1);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_ARP);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    receive(wire_arp(data, RTE_ARP_OP_REPLY, peer, 8, wire_ip(10, 0, 0, 2)), WIRE_US + ARP_FRESH_US + 2);
    send_to(peer, WIRE_US + ARP_FRESH_US + 3);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 8); /* it has moved */
    net_close(&net);
}

static void
a_suggestion_counts_until_arp_answers(void)
{
    const uint32_t peer = wire_ip(10, 0, 0, 9);
    const struct rte_ether_addr first = {{2, 0, 0, 0, 1, 7}}, second = {{2, 0, 0, 0, 1, 6}};
    open_net();
    arp_suggest(&net, peer, &first, WIRE_US);
    arp_suggest(&net, peer, &second, WIRE_US); /* something is known already */
    send_to(peer, WIRE_US);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_ARP);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 7);
    receive(wire_arp(data, RTE_ARP_OP_REPLY, peer, 9, wire_ip(10, 0, 0, 2)), WIRE_US + 1);
    send_to(peer, WIRE_US + 2);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 9);
    net_close(&net);
}

/* HARDENING: 10^6 ARP senders. The table's size is its type's; what must be shown is who stays. */
static void
a_million_senders_do_not_disturb_entries_in_use(void)
{
    const uint32_t us = wire_ip(10, 0, 0, 2), used = wire_ip(10, 0, 0, 9), unused = wire_ip(10, 0, 0, 10);
    open_net();
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, used, 9, us), WIRE_US);
    receive(wire_arp(data, RTE_ARP_OP_REQUEST, unused, 10, us), WIRE_US);
    send_to(used, WIRE_US);
    wire_drain();
    for (unsigned i = 0; i < 1000000; i++) {
        receive(wire_arp(data, RTE_ARP_OP_REQUEST, rte_cpu_to_be_32(0x0a100000u + i), 3, us), WIRE_US + i);
        if (i % 256 == 0)
            wire_drain();
    }
    wire_drain();
    CU_ASSERT_PTR_NULL(arp_find(net.arp, unused)); /* or the flood was none */
    send_to(used, WIRE_US + 1000000);
    CU_ASSERT_EQUAL(sent_type(), RTE_ETHER_TYPE_IPV4);
    CU_ASSERT_EQUAL(((struct rte_ether_hdr *)data)->dst_addr.addr_bytes[5], 9);
    net_close(&net);
}

static void
nothing_leaks(void)
{
    wire_drain();
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(wire_port.pool), 0);
}

static const struct unit_test tests[] = {
    {"answers a question about us", answers_a_question_about_us},
    {"ignores questions about others and unasked replies", ignores_questions_about_others_and_unasked_replies},
    {"drops what is malformed", drops_what_is_malformed},
    {"asks, holds one frame and sends it", asks_holds_one_frame_and_sends_it},
    {"other subnets go to the gateway", other_subnets_go_to_the_gateway},
    {"an old entry is used and asked for again", an_old_entry_is_used_and_asked_for_again},
    {"a suggestion counts until ARP answers", a_suggestion_counts_until_arp_answers},
    {"a million senders do not disturb entries in use", a_million_senders_do_not_disturb_entries_in_use},
    {"nothing leaks", nothing_leaks},
};

int
main(void)
{
    wire_start();
    return unit_main("arp", tests, sizeof(tests) / sizeof(tests[0]));
}
