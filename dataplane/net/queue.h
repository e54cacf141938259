/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames about to leave, inside net/: append one; a full queue goes out at once. */
#ifndef DATAPLANE_NET_QUEUE_H
#define DATAPLANE_NET_QUEUE_H

#include "dataplane/net/net.h"

static inline void
net_queue(struct net *net, struct rte_mbuf *frame)
{
    if (net->queued == NET_QUEUE)
        net_flush(net);
    net->queue[net->queued++] = frame;
}

#endif
