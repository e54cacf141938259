/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seam between a transport and RESP: a connection as two queues of bytes.
 *
 * The transport (TCP-lite, or kernel sockets) appends what arrives in order to `in` and puts the stream on its ready
 * list; the protocol consumes `in`, appends replies to `out` and marks the stream dirty. Nothing of `out` leaves
 * before the transport's flush, which the core calls after the batch is durable.
 */
#ifndef DATAPLANE_STREAM_H
#define DATAPLANE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "dataplane/bytes.h"

struct client;

struct stream {
    struct bytes in;
    struct bytes out;      /* TCP keeps what is sent here until it is acknowledged */
    struct client *client; /* the protocol's side; made when the connection is established */
    uint32_t want;         /* protocol: bytes it needs in `in` at once (a large value): the window grows by it */
    uint64_t id;           /* never used twice in a process */
    uint8_t peer_ip[4], local_ip[4];
    uint16_t peer_port, local_port; /* host byte order */
    bool end_of_input;              /* the peer has sent its last byte */
    bool close_after_out;           /* protocol: no more input; close once `out` is delivered */
    bool abort;                     /* protocol: drop the connection now */
    bool gone;                      /* transport: the connection is no more; the client must let go */
    bool ready, dirty;              /* on the list below */
    TAILQ_ENTRY(stream) ready_link; /* has input that has not been decoded */
    TAILQ_ENTRY(stream) dirty_link; /* has new output or a wish to close */
};
TAILQ_HEAD(stream_list, stream);

/* Replies a client has not taken yet; what goes beyond counts as backlog, which is limited (command/backlog.c). */
#define STREAM_OUT_SOFT_LIMIT (256u << 10)

/* What a transport offers to the core. All calls: the owning core's thread. */
struct transport {
    const char *name;
    void *context;
    /* Receive a burst: input is appended, streams put on *ready, new ones announced by opened(). Returns frames or
     * reads handled: 0 = nothing was there. */
    unsigned (*poll)(void *context, uint64_t now_us);
    /* Send what dirty streams hold, run timers; the only place where anything leaves. Returns frames sent. */
    unsigned (*flush)(void *context, uint64_t now_us);
    /* When the next timer is due, in us; the core sleeps no longer than that. */
    uint64_t (*deadline)(const void *context);
    void (*close)(void *context);
    struct stream_list *ready, *dirty;
};

#endif
