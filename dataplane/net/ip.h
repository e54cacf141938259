/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 (RFC 791, RFC 1122): check a received header, write one. */
#ifndef DATAPLANE_NET_IP_H
#define DATAPLANE_NET_IP_H

#include "dataplane/net/net.h"

/* The frame behind its Ethernet header. NET_DROPS: good, *packet and *protocol filled; else why it is dropped. */
enum net_drop ip_check(const struct net *net, const struct rte_mbuf *frame, struct ip_packet *packet,
                       uint8_t *protocol);

/* False: the packet's TCP checksum is wrong. Trusts the device where it has checked. */
bool ip_tcp_checksum_good(const struct rte_mbuf *frame, const struct ip_packet *packet);

/* Write all of a packet but its Ethernet header into an empty buffer. The checksums of IP and TCP are left to the
 * port if it can. */
void ip_write(struct net *net, struct rte_mbuf *frame, const struct net_packet *packet);

#endif
