/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to a data core: a function that runs there between two batches, and an answer. The core looks at its ring
 * once a turn and never waits; the sender waits for the answer, with a timeout. A message begins with struct message
 * and is heap memory: after an answer it is the sender's again, after a timeout the core frees it.
 */
#ifndef DATAPLANE_MAILBOX_H
#define DATAPLANE_MAILBOX_H

#include <stdatomic.h>

struct worker;
struct rte_ring;
struct message;

/* Runs on the core's thread; has a slice of 100 us at most. */
typedef void (*message_fn)(struct worker *worker, struct message *message);

struct message {
    message_fn run;
    atomic_int state;
};

struct rte_ring *mailbox_create(unsigned core); /* NULL: out of memory */
void mailbox_free(struct rte_ring *ring);

/* Any thread but the core's. 0: answered. -ETIMEDOUT: no answer yet; the message is the core's now. -ENOBUFS: the
 * ring is full, nothing was sent. */
int mailbox_call(struct worker *worker, struct message *message, message_fn run, unsigned timeout_ms);

/* The core's side: handle one message. Returns how many there were: 0 or 1. */
unsigned mailbox_run(struct worker *worker);

#endif
