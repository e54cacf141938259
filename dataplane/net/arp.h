/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP (RFC 826): which hardware address an IPv4 neighbour has.
 *
 * The table is bounded: sets of four entries. Whoever asks for us is learned if a place is free or holds an entry
 * that nothing was sent to lately; entries in use stay. So a flood of senders costs bounded memory and disturbs no
 * connection. A reply is believed only for an address that is already in the table. An entry that was not confirmed
 * for a minute is asked for again while it goes on being used. One frame waits for an answer.
 *
 * Who opens a connection has just shown a way back to it: arp_suggest takes the sender of that frame for the
 * neighbour until ARP confirms it, so that a crowd of clients that still know us after our restart is answered at
 * once.
 */
#ifndef DATAPLANE_NET_ARP_H
#define DATAPLANE_NET_ARP_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "dataplane/net/net.h"

#define ARP_SETS       256u
#define ARP_WAYS       4u
#define ARP_IN_USE_US  60000000ull /* sent to within this time: not replaced */
#define ARP_FRESH_US   60000000ull /* confirmed within this time: not asked for */
#define ARP_BETWEEN_US 1000000ull  /* from one question to the next */

struct arp_entry {
    uint32_t ip; /* 0 = free */
    bool known;
    struct rte_ether_addr mac;
    uint64_t used_us, confirmed_us, asked_us; /* confirmed: by ARP; 0 = only suggested */
    struct rte_mbuf *held;                    /* waits for the answer */
};

struct arp {
    uint64_t seed;
    struct arp_entry set[ARP_SETS][ARP_WAYS];
};

struct arp *arp_create(uint64_t seed); /* NULL: out of memory */
void arp_free(struct arp *arp);

/* Queue the announcement of our own address. */
void arp_announce(struct net *net);

/* A received ARP frame: learn, answer. Takes the frame. */
void arp_input(struct net *net, struct rte_mbuf *frame, uint64_t now_us);

/* Fill in the destination of a frame to this neighbour and queue it; or hold it and ask. Takes the frame. */
void arp_send(struct net *net, struct rte_mbuf *frame, uint32_t neighbour, uint64_t now_us);

/* A frame from this neighbour came from mac. Counts only where nothing is known yet. */
void arp_suggest(struct net *net, uint32_t neighbour, const struct rte_ether_addr *mac, uint64_t now_us);

/* The entry of an address, or NULL. */
struct arp_entry *arp_find(struct arp *arp, uint32_t ip);

#endif
