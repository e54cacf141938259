/* SPDX-License-Identifier: BSD-3-Clause */
/* INFO's statistics start anew. */
#ifndef DATAPLANE_COMMAND_INFO_H
#define DATAPLANE_COMMAND_INFO_H

struct worker;

/* Counts begin at 0 again, on all cores. Thread: the worker's. */
void info_reset(struct worker *worker);

#endif
