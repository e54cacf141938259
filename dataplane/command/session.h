/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: the protocol's side of a core's streams, as the stages of a batch.
 *
 *     session_decode     ready streams -> requests: up to SESSION_COMMANDS, arguments are slices of stream->in
 *     session_prefetch   bucket lines of all first keys, then the records they name
 *     session_prepare    likely records for the writes                      (between batch_begin and batch_prepared)
 *     session_execute    in order of arrival; replies go to stream->out     (between batch_prepared and batch_commit)
 *     session_finish     after batch_commit: consume the input of what was done, count, put back what was held
 *     session_tend       a bounded look at parked, slow and idle clients
 *
 * Per connection, order is kept: a command that is put off (COMMAND_DEFER), that waits for a time (COMMAND_PARK), or
 * that finds too much unread output before it (backlog.c) holds back all later ones of its connection; they are decoded
 * again.
 *
 * All calls: the core's thread. A stream may be opened or closed at any time except between session_decode and
 * session_finish. Whoever looks after streams puts one on transport.ready when it has new input or its end of input.
 */
#ifndef DATAPLANE_COMMAND_SESSION_H
#define DATAPLANE_COMMAND_SESSION_H

#include "dataplane/command/command.h"
#include "dataplane/server.h"

#define SESSION_COMMANDS 256  /* most commands of a batch */
#define SESSION_ARGS     2048 /* arguments of a batch; commands with more bring their own array */
#define SESSION_TURN     32   /* most commands of one stream before the next stream's turn */

struct batch_requests {
    unsigned count, args;
    struct request request[SESSION_COMMANDS];
    struct slice arg[SESSION_ARGS];
    struct slice *own[SESSION_COMMANDS]; /* arrays of commands with very many arguments, freed in finish */
    unsigned owns;
};

/* Once a worker, before its first stream: 0 or -ENOMEM. session_stop closes all sessions that are left. */
int session_start(struct worker *worker);
void session_stop(struct worker *worker);

/* A connection is established: make its client, or refuse it (maxclients, protected mode) with an error and close. */
void session_open(struct worker *worker, struct stream *stream);
/* The connection is no more (stream->gone): let go of it. stream->client may be NULL. */
void session_close(struct worker *worker, struct stream *stream);

/* Returns the number of requests; 0: the stages up to session_finish may be left out. */
unsigned session_decode(struct worker *worker, struct batch_requests *batch);
void session_prefetch(struct worker *worker, struct batch_requests *batch);
void session_prepare(struct worker *worker, struct batch_requests *batch);
void session_execute(struct worker *worker, struct batch_requests *batch);
/* elapsed_ns: from receive to commit, for the latency histograms. */
void session_finish(struct worker *worker, struct batch_requests *batch, uint64_t elapsed_ns);

/* True if there is more to do soon. */
bool session_tend(struct worker *worker);
/* When session_tend has something to do next, in us of worker->now_us; UINT64_MAX: never. */
uint64_t session_deadline(const struct worker *worker);

#endif
