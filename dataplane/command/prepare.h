/* SPDX-License-Identifier: BSD-3-Clause */
/* The prepare functions that rows of commands.def name: each builds the record its command will probably install. */
#ifndef DATAPLANE_COMMAND_PREPARE_H
#define DATAPLANE_COMMAND_PREPARE_H

#include "dataplane/command/command.h"

void prepare_set(struct worker *worker, struct request *request); /* and SETNX SETEX PSETEX GETSET */
void prepare_append(struct worker *worker, struct request *request);
void prepare_count(struct worker *worker, struct request *request); /* INCR DECR INCRBY DECRBY */

#endif
