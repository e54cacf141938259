/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the dataplane well? Judged by its statistics file and by what the kernel says of the process. */
#ifndef CONTROL_HEALTH_H
#define CONTROL_HEALTH_H

#include "control/supervise.h"

/* Forget what was seen of an earlier process. */
void health_reset(struct supervise *supervise);
/* Look at a living one: sets state, seen, serving_ms, stuck; logs what changed. */
void health_look(struct supervise *supervise, int64_t now_ms);

#endif
