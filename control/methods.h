/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What pollux-control answers on run-dir/control.sock: status and stats out of what it has seen, so also while data
 * cores are at 100%; shutdown; and what it passes on to the dataplane's housekeeping thread.
 */
#ifndef CONTROL_METHODS_H
#define CONTROL_METHODS_H

#include "control/supervise.h"
#include "control/window.h"
#include "dataplane/rpc/rpc.h"

struct control { /* all that the process has */
    struct settings settings;
    struct supervise supervise;
    struct window window;
    int64_t started_ms;
};

/* For rpc_server_open with a struct control as context. */
extern const struct rpc_method control_methods[];

int64_t control_now_ms(void); /* CLOCK_MONOTONIC */

#endif
