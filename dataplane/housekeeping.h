/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The housekeeping thread: answers JSON-RPC on run-dir/dataplane.sock (methods in rpc/rpc.h) and beats the heart of
 * the statistics file once a second. It never polls and never holds up a data core: what a core must do goes through
 * its mailbox.
 */
#ifndef DATAPLANE_HOUSEKEEPING_H
#define DATAPLANE_HOUSEKEEPING_H

#include <sched.h>
#include <stddef.h>

#include "dataplane/server.h"
#include "dataplane/stats/stats_file.h"

struct housekeeping;

/* Starts the thread on the given CPUs. NULL with one sentence in error. Thread: main. */
struct housekeeping *housekeeping_start(struct server *server, struct stats_file *stats, const cpu_set_t *cpus,
                                        char *error, size_t error_size);
/* Ends and joins it, removes the socket. While it runs out its last call the cores may already have stopped. */
void housekeeping_stop(struct housekeeping *housekeeping);

#endif
