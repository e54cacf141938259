/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a data core. */
#include "dataplane/mailbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_lcore.h>
#include <rte_ring.h>

#include "dataplane/server.h"

#define MAILBOX_SIZE 64
#define LOOK_US      200 /* how often the sender looks for the answer */

enum { MESSAGE_SENT, MESSAGE_ANSWERED, MESSAGE_ABANDONED };

struct rte_ring *
mailbox_create(unsigned core)
{
    char name[32];
    snprintf(name, sizeof(name), "mailbox-%u", core);
    return rte_ring_create(name, MAILBOX_SIZE, (int)rte_socket_id(), RING_F_SC_DEQ);
}

void
mailbox_free(struct rte_ring *ring)
{
    void *message;
    while (ring && rte_ring_dequeue(ring, &message) == 0)
        free(message);
    rte_ring_free(ring);
}

int
mailbox_call(struct worker *worker, struct message *message, message_fn run, unsigned timeout_ms)
{
    const struct timespec look = {.tv_nsec = LOOK_US * 1000};
    message->run = run;
    atomic_init(&message->state, MESSAGE_SENT);
    if (rte_ring_enqueue(worker->mailbox, message) != 0)
        return -ENOBUFS;
    for (uint64_t waited_us = 0; waited_us < (uint64_t)timeout_ms * 1000; waited_us += LOOK_US) {
        if (atomic_load(&message->state) == MESSAGE_ANSWERED)
            return 0;
        nanosleep(&look, NULL);
    }
    int sent = MESSAGE_SENT;
    return atomic_compare_exchange_strong(&message->state, &sent, MESSAGE_ABANDONED) ? -ETIMEDOUT : 0;
}

unsigned
mailbox_run(struct worker *worker)
{
    void *found;
    if (rte_ring_dequeue(worker->mailbox, &found) != 0)
        return 0;
    struct message *message = found;
    message->run(worker, message);
    int sent = MESSAGE_SENT;
    if (!atomic_compare_exchange_strong(&message->state, &sent, MESSAGE_ANSWERED))
        free(message);
    return 1;
}
