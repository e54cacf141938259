/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One core's place on the network: our IPv4 address, the way to others, and the frames about to leave.
 *
 * net_input sorts a received frame: ARP and ICMP echo are answered here, TCP is handed up as a packet. net_output
 * makes a frame of a packet and queues it; net_flush sends the queue.
 *
 * Frames are written and never read back: their lines are seldom in the cache, and a load from one would wait until
 * all stores before it have found theirs. So checksums are taken from where the bytes come from.
 * Threads: the owning core's. Addresses are in network byte order unless said otherwise.
 */
#ifndef DATAPLANE_NET_NET_H
#define DATAPLANE_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/port.h"

struct arp;

/* Why a frame was dropped below TCP; names and texts in net_drops.def, which the statistics use too. */
enum net_drop {
#define NET_DROP(name, what) NET_DROP_##name,
#include "dataplane/net/net_drops.def"
#undef NET_DROP
    NET_DROPS
};

#define NET_QUEUE (4 * PORT_BURST)
#define NET_SPARE PORT_BURST

struct net {
    struct port *port;
    struct arp *arp;
    uint32_t address, mask, gateway; /* gateway 0 = none */
    uint16_t ip_id;
    unsigned queued, spares;
    struct rte_mbuf *queue[NET_QUEUE];
    struct rte_mbuf *spare[NET_SPARE]; /* for frames to come */
    uint64_t drops[NET_DROPS];
};

/* A TCP packet that passed the checks of IPv4: payload points into the frame. */
struct ip_packet {
    uint32_t src, dst;
    const uint8_t *payload;
    uint32_t len;
    bool checked; /* the device vouches for the TCP checksum */
    bool bad;     /* the device says it is wrong */
};

/* seed: makes the ARP table's order secret. 0 or -ENOMEM. */
int net_open(struct net *net, struct port *port, uint32_t address, unsigned prefix, uint32_t gateway, uint64_t seed);
void net_close(struct net *net);

/* Tell all neighbours our hardware address: it may have changed since they learned it (RFC 5227 2.3). */
void net_announce(struct net *net);

/* True: a TCP packet, described in *packet; the frame stays the caller's. False: dealt with, the frame is gone. */
bool net_input(struct net *net, struct rte_mbuf *frame, struct ip_packet *packet, uint64_t now_us);

/* The sender of this packet begins a connection: remember which way it came. */
void net_note_sender(struct net *net, const struct rte_mbuf *frame, uint32_t src, uint64_t now_us);

/* A packet to send. header and payload are copied. TCP: the header's checksum field is zero and is filled in here;
 * other protocols bring theirs. */
struct net_packet {
    uint32_t dst;
    uint8_t protocol;
    const uint8_t *header, *payload;
    uint32_t header_len, payload_len;
};
/* Nothing leaves before net_flush or a full queue. A packet that cannot be sent is counted and forgotten. */
void net_output(struct net *net, const struct net_packet *packet, uint64_t now_us);
unsigned net_flush(struct net *net);

/* An empty buffer, or NULL (counted). */
struct rte_mbuf *net_buffer(struct net *net);

#endif
