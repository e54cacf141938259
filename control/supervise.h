/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and watching the dataplane.
 *
 * The dataplane is a process of its own session: it outlives the control process, whatever ends that. It holds a flock
 * on run-dir/dataplane.pid for as long as it lives, so whoever finds the file locked knows that its number is good; a
 * new control process attaches to it by a pidfd. A dead dataplane is started again, at once after a good run and with
 * growing delays after bad ones; one that ended in order (SHUTDOWN) is not, and the control process ends as well.
 *
 * Health is read from the statistics file alone. All times are CLOCK_MONOTONIC milliseconds given by the caller.
 */
#ifndef CONTROL_SUPERVISE_H
#define CONTROL_SUPERVISE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/stats.h"
#include "dataplane/rpc/settings.h"

#define SUPERVISE_GOOD_RUN_MS 1000  /* a dataplane that served so long is started again at once */
#define SUPERVISE_FIRST_DELAY 200   /* ms; doubles with every bad run */
#define SUPERVISE_LAST_DELAY  10000 /* ms */
#define SUPERVISE_STUCK_MS    700   /* no loop iteration for so long: the core is stuck */
#define SUPERVISE_HUNG_MS     2500  /* no heartbeat for so long: it is written once a second */
#define SUPERVISE_KILL_MS     10000 /* patience with an ordered stop */

enum supervise_state {
    SUPERVISE_DOWN,     /* no dataplane; started again at next_start_ms */
    SUPERVISE_STARTING, /* a process, but no statistics of it yet: opening the pool, recovery */
    SUPERVISE_RUNNING,
    SUPERVISE_STOPPED, /* by SIGSTOP or a debugger */
    SUPERVISE_HUNG,    /* no heartbeat */
};

struct supervise {
    const struct settings *settings; /* the caller's; written to run-dir/settings at each start */
    char program[PATH_MAX];
    char settings_path[PATH_MAX], pid_path[PATH_MAX], stats_path[PATH_MAX], socket_path[PATH_MAX], log_path[PATH_MAX];
    int lock_fd; /* run-dir/control.pid: one control process a run-dir */

    enum supervise_state state;
    pid_t pid; /* 0: none */
    int pidfd;
    bool attached;      /* not our child: started by an earlier control process */
    bool stopping;      /* by order: not started again */
    bool ended;         /* stopped by order, or ended by itself in order: nothing is left to watch */
    unsigned starts;    /* by this process */
    int64_t started_ms; /* or attached */
    int64_t serving_ms; /* first heartbeat seen; 0: not yet */
    int64_t next_start_ms, delay_ms, kill_ms;
    char last_end[512]; /* how the last dataplane ended; empty: none did */

    struct stats_snapshot seen; /* the latest; valid when serving_ms != 0 */
    int64_t heartbeat_ms;       /* when the heartbeat last changed */
    uint64_t loops[STATS_CORES];
    int64_t moved_ms[STATS_CORES]; /* when the core's loop counter last changed */
    bool stuck[STATS_CORES];
};

/*
 * Make run-dir (0755, ours) where missing and become its one control process. program: the dataplane's path. 0, or
 * -errno with a sentence in error; -EBUSY: another control process lives.
 */
int supervise_open(struct supervise *supervise, const struct settings *settings, const char *program, char *error,
                   size_t error_size);
/* Look, and do what is due: attach, start, notice death or silence. Call several times a second. */
void supervise_tick(struct supervise *supervise, int64_t now_ms);
/* Stop the dataplane in order (SIGTERM; SIGKILL after SUPERVISE_KILL_MS) and start no other; `ended` tells when. */
void supervise_stop(struct supervise *supervise, int64_t now_ms);
/* Let go. The dataplane goes on. */
void supervise_close(struct supervise *supervise);

/* 0 when the dataplane can be asked; otherwise -EAGAIN and a sentence: what is wrong and what will happen. */
int supervise_ready(const struct supervise *supervise, int64_t now_ms, char *error, size_t error_size);

#endif
