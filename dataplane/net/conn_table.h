/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of one core: found by 4-tuple (rte_hash), kept in a pool that grows in chunks up to a limit and is
 * never moved, so that pointers stay good. A flow is a TCP connection with its places in table, wheel and lists.
 * Threads: the owning core's.
 */
#ifndef DATAPLANE_NET_CONN_TABLE_H
#define DATAPLANE_NET_CONN_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "dataplane/net/timers.h"
#include "dataplane/tcp/tcp.h"

struct flow_key { /* addresses and ports in network byte order; hashed and compared as 16 bytes */
    uint32_t peer_ip, local_ip;
    uint16_t peer_port, local_port;
    uint32_t zero;
} __attribute__((aligned(8)));

struct flow {
    struct tcp_conn tcp; /* first: a stream of this transport is its flow */
    struct flow_key key;
    bool opened; /* announced to the protocol, which has not let go yet */
    struct timer timer;
    TAILQ_ENTRY(flow) link; /* all flows, or the free ones */
    struct aging_list *aging;
    TAILQ_ENTRY(flow) aging_link;
};
TAILQ_HEAD(flow_list, flow);

/* Flows that nobody would miss much, oldest first: not established yet, or only waiting for their end. */
struct aging_list {
    struct flow_list flows;
    unsigned used;
};

struct conn_table;

/* limit: most connections at a time. name tells tables of one process apart. NULL: out of memory. */
struct conn_table *conn_table_create(const char *name, unsigned limit);
/* Releases all flows. */
void conn_table_free(struct conn_table *table);

#define CONN_TABLE_BURST 32u
/* flows[i] = the flow of keys[i] or NULL; count <= CONN_TABLE_BURST. */
void conn_table_find(struct conn_table *table, const struct flow_key *const *keys, unsigned count, struct flow **flows);

/* A new flow, all zero but key, stream addresses and id; NULL: the limit is reached or memory is out. */
struct flow *conn_table_add(struct conn_table *table, const struct flow_key *key);
/* The same place for a new connection between the same ends: as if removed and added. */
void conn_table_renew(struct conn_table *table, struct flow *flow);
/* Frees its queues too. */
void conn_table_remove(struct conn_table *table, struct flow *flow);

unsigned conn_table_used(const struct conn_table *table);
struct flow_list *conn_table_flows(struct conn_table *table);

#endif
