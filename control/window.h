/* SPDX-License-Identifier: BSD-3-Clause */
/* The two snapshots between which rates and percentiles are computed: the last whole second or so. */
#ifndef CONTROL_WINDOW_H
#define CONTROL_WINDOW_H

#include "control/stats.h"

#define WINDOW_MS 1000

struct window {
    struct stats_snapshot older, newer; /* both of the same process; the same one until WINDOW_MS have passed */
};

/* Take note of what is seen; another process's snapshot starts anew. */
void window_add(struct window *window, const struct stats_snapshot *seen);
/* The report between the two; while there is only one, up to what is seen now. */
json_t *window_report(const struct window *window, const struct stats_snapshot *seen);

#endif
