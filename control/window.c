/* SPDX-License-Identifier: BSD-3-Clause */
/* The two snapshots between which rates are computed. */
#include "control/window.h"

#include <stdbool.h>

void
window_add(struct window *window, const struct stats_snapshot *seen)
{
    const struct stats_header *held = &window->newer.header;

    if (held->pid != seen->header.pid || held->started_ms != seen->header.started_ms) {
        window->older = *seen;
        window->newer = *seen;
    } else if (seen->taken_ms - window->newer.taken_ms >= WINDOW_MS) {
        window->older = window->newer;
        window->newer = *seen;
    }
}

json_t *
window_report(const struct window *window, const struct stats_snapshot *seen)
{
    bool only_one = window->older.taken_ms == window->newer.taken_ms;

    return stats_report(only_one ? seen : &window->newer, &window->older);
}
