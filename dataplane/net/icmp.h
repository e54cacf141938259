/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP (RFC 792): echo, so that ping works. Errors about our packets are counted and ignored (RFC 5927). */
#ifndef DATAPLANE_NET_ICMP_H
#define DATAPLANE_NET_ICMP_H

#include "dataplane/net/net.h"

/* Takes the frame. */
void icmp_input(struct net *net, struct rte_mbuf *frame, const struct ip_packet *packet, uint64_t now_us);

#endif
