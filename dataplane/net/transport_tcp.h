/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport over our own TCP: frames of a port in, streams out, and back (stream.h).
 *
 * poll: one burst of frames; ARP and ICMP are dealt with, TCP segments are looked up as a burst and given to the TCP
 * core. Whatever a segment touched is marked dirty. flush: each dirty connection is asked what it wants to send;
 * connections that ended are released here and only here, so a pointer from poll holds until flush.
 *
 * A SYN takes a place in the table; those not established yet are bounded, and the oldest gives way (RFC 4987), so
 * that a flood of SYNs costs live connections nothing. A connection that the protocol has let go of (TIME_WAIT, or
 * FIN_WAIT_2) gives way too, oldest first, when the table is about to be full.
 * Threads: the owning core's.
 */
#ifndef DATAPLANE_NET_TRANSPORT_TCP_H
#define DATAPLANE_NET_TRANSPORT_TCP_H

#include <stddef.h>
#include <stdint.h>

#include "dataplane/net/net.h"
#include "dataplane/stream.h"
#include "dataplane/tcp/tcp.h"

#define TRANSPORT_HALF_OPEN 1024u

/* What the core wants to hear. opened: established, in poll. closed: no more to come or to send, in flush; the
 * stream's memory is gone soon after. Each stream that was opened is closed once. */
struct transport_events {
    void *context;
    void (*opened)(void *context, struct stream *stream);
    void (*closed)(void *context, struct stream *stream);
};

struct transport_tcp_options {
    struct port *port;
    uint32_t address, gateway; /* network byte order; gateway 0 = none */
    unsigned prefix;
    uint16_t tcp_port;
    unsigned connections; /* most at a time */
    uint64_t now_us;
    struct transport_events events;
};

/* 0, or -errno with one sentence in error. */
int transport_tcp_open(struct transport *transport, const struct transport_tcp_options *options, char *error,
                       size_t error_size);

/* Seconds of silence before a keepalive probe; 0 = off. For new connections; others take it over when their present
 * time is up. */
void transport_tcp_keepalive(struct transport *transport, uint64_t seconds);

/* For statistics. */
const struct tcp_counters *transport_tcp_counters(const struct transport *transport);
const uint64_t *transport_tcp_drops(const struct transport *transport); /* [NET_DROPS] */

#endif
