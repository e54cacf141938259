/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a data core: one batch a turn, run to completion, as numbered stages.
 */
#ifndef DATAPLANE_CORE_H
#define DATAPLANE_CORE_H

#include "dataplane/port.h"
#include "dataplane/server.h"

/* Takes turns until server->stop, then says goodbye to the clients. Thread: the core's, for as long as it serves.
 * Everything in worker is ready; port is the one under worker->transport. 0 or -ENOMEM. */
int core_run(struct worker *worker, const struct port *port);

/* Microseconds of the monotonic clock that the loop uses. */
uint64_t core_clock_us(void);
/* Cycles a second of the time stamp counter. */
uint64_t core_tsc_hz(void);

#endif
