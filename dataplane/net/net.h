/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One core's place on the network: our IPv4 address, the way to others, and the frames about to leave.
 *
 * net_input sorts a received frame: ARP and ICMP echo are answered here, TCP is handed up as a packet. net_output
 * puts an IPv4 header and an Ethernet header in front of a payload and queues the frame; net_flush sends the queue.
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

struct net {
    struct port *port;
    struct arp *arp;
    uint32_t address, mask, gateway; /* gateway 0 = none */
    uint16_t ip_id;
    unsigned queued;
    struct rte_mbuf *queue[NET_QUEUE];
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

/* Room that net_output needs in front of the payload. */
#define NET_HEADROOM (14 + 20)

/* seed: makes the ARP table's order secret. 0 or -ENOMEM. */
int net_open(struct net *net, struct port *port, uint32_t address, unsigned prefix, uint32_t gateway, uint64_t seed);
void net_close(struct net *net);

/* Tell all neighbours our hardware address: it may have changed since they learned it (RFC 5227 2.3). */
void net_announce(struct net *net);

/* True: a TCP packet, described in *packet; the frame stays the caller's. False: dealt with, the frame is gone. */
bool net_input(struct net *net, struct rte_mbuf *frame, struct ip_packet *packet, uint64_t now_us);

/* The sender of this packet begins a connection: remember which way it came. */
void net_note_sender(struct net *net, const struct rte_mbuf *frame, uint32_t src, uint64_t now_us);

/* Send a frame whose data is NET_HEADROOM bytes left for headers and then the payload of that protocol, to dst. The
 * frame is the net's from here. Nothing leaves before net_flush or a full queue. */
void net_output(struct net *net, struct rte_mbuf *frame, uint32_t dst, uint8_t protocol, uint64_t now_us);
unsigned net_flush(struct net *net);

/* A buffer for net_output with len bytes of payload, or NULL (counted). *payload: where it goes. */
struct rte_mbuf *net_buffer(struct net *net, uint32_t len, uint8_t **payload);

#endif
