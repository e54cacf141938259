/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the dataplane well? */
#include "control/health.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/log.h"

void
health_reset(struct supervise *supervise)
{
    supervise->serving_ms = 0;
    supervise->seen.taken_ms = 0;
    supervise->heartbeat_ms = 0;
    memset(supervise->stuck, 0, sizeof(supervise->stuck));
}

/* The state letter of /proc/PID/stat: T stopped by a signal, t by a debugger. It follows the last ')'. */
static bool
is_stopped(pid_t pid)
{
    char path[32], text[256];
    const char *name_end;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    name_end = strrchr(text, ')');
    return name_end != NULL && (name_end[2] == 'T' || name_end[2] == 't');
}

static void
first_sight(struct supervise *supervise, int64_t now_ms)
{
    supervise->serving_ms = now_ms;
    supervise->heartbeat_ms = now_ms;
    for (unsigned i = 0; i < STATS_CORES; i++) {
        supervise->moved_ms[i] = now_ms;
        supervise->loops[i] = 0;
    }
    log_event("the dataplane (pid %d) serves %s on port %s with %u cores", (int)supervise->pid,
              supervise->seen.header.address, supervise->seen.header.port, supervise->seen.header.cores);
}

static void
look_at_cores(struct supervise *supervise, int64_t now_ms)
{
    for (unsigned i = 0; i < supervise->seen.header.cores; i++) {
        uint64_t loops = supervise->seen.header.core[i].counter[COUNTER_loops];
        bool moved = loops != supervise->loops[i];
        supervise->loops[i] = loops;
        if (moved)
            supervise->moved_ms[i] = now_ms;
        bool stuck = now_ms - supervise->moved_ms[i] >= SUPERVISE_STUCK_MS;
        if (stuck != supervise->stuck[i])
            log_event("core %u %s", i, stuck ? "is stuck: its loop does not go round" : "goes on");
        supervise->stuck[i] = stuck;
    }
}

/* While a process is stopped, time stands still for it: nothing of it is late. */
static void
forgive(struct supervise *supervise, int64_t now_ms)
{
    supervise->heartbeat_ms = now_ms;
    for (unsigned i = 0; i < STATS_CORES; i++)
        supervise->moved_ms[i] = now_ms;
}

static enum supervise_state
judge(const struct supervise *supervise, int64_t now_ms, bool stopped)
{
    if (stopped)
        return SUPERVISE_STOPPED;
    if (supervise->serving_ms == 0)
        return SUPERVISE_STARTING;
    return now_ms - supervise->heartbeat_ms >= SUPERVISE_HUNG_MS ? SUPERVISE_HUNG : SUPERVISE_RUNNING;
}

void
health_look(struct supervise *supervise, int64_t now_ms)
{
    static const char *const events[] = {
        [SUPERVISE_DOWN] = "is down",
        [SUPERVISE_STARTING] = "is starting",
        [SUPERVISE_RUNNING] = "runs",
        [SUPERVISE_STOPPED] = "is stopped by a signal or a debugger",
        [SUPERVISE_HUNG] = "gives no sign of life",
    };
    uint64_t heartbeat = supervise->seen.header.heartbeat_ms;
    bool stopped = is_stopped(supervise->pid);
    enum supervise_state state;

    if (stopped)
        forgive(supervise, now_ms);
    if (stats_read(&supervise->seen, supervise->stats_path, supervise->pid, now_ms) == 0 &&
        supervise->seen.header.heartbeat_ms != 0) {
        if (supervise->serving_ms == 0)
            first_sight(supervise, now_ms);
        if (supervise->seen.header.heartbeat_ms != heartbeat)
            supervise->heartbeat_ms = now_ms;
        look_at_cores(supervise, now_ms);
    }
    state = judge(supervise, now_ms, stopped);
    if (state != supervise->state)
        log_event("the dataplane (pid %d) %s", (int)supervise->pid, events[state]);
    supervise->state = state;
}
