/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and watching the dataplane: its life from start to end. */
#include "control/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/health.h"
#include "control/launch.h"
#include "control/log.h"

static void
make_paths(struct supervise *supervise, const struct settings *settings, const char *program)
{
    const char *dir = settings->run_dir;

    snprintf(supervise->program, PATH_MAX, "%s", program);
    snprintf(supervise->settings_path, PATH_MAX, "%s/settings", dir);
    snprintf(supervise->pid_path, PATH_MAX, "%s/dataplane.pid", dir);
    snprintf(supervise->stats_path, PATH_MAX, "%s/stats", dir);
    snprintf(supervise->socket_path, PATH_MAX, "%s/dataplane.sock", dir);
    if (settings->logfile[0] != '\0')
        snprintf(supervise->log_path, PATH_MAX, "%s", settings->logfile);
    else
        snprintf(supervise->log_path, PATH_MAX, "%s/dataplane.log", dir);
}

int
supervise_open(struct supervise *supervise, const struct settings *settings, const char *program, char *error,
               size_t error_size)
{
    char path[PATH_MAX];
    int code = run_dir_make(settings->run_dir, error, error_size);

    if (code != 0)
        return code;
    memset(supervise, 0, sizeof(*supervise));
    supervise->settings = settings;
    supervise->pidfd = -1;
    make_paths(supervise, settings, program);
    snprintf(path, sizeof(path), "%s/control.pid", settings->run_dir);
    supervise->lock_fd = pid_file_take(path);
    if (supervise->lock_fd == -EWOULDBLOCK) {
        snprintf(error, error_size, "another pollux-control (pid %d) serves %s", (int)pid_file_holder(path),
                 settings->run_dir);
        return -EBUSY;
    }
    if (supervise->lock_fd < 0)
        snprintf(error, error_size, "cannot lock %s: %s", path, strerror(-supervise->lock_fd));
    return supervise->lock_fd < 0 ? supervise->lock_fd : 0;
}

void
supervise_close(struct supervise *supervise)
{
    if (supervise->pidfd >= 0)
        close(supervise->pidfd);
    close(supervise->lock_fd);
}

static void
adopt(struct supervise *supervise, pid_t pid, int pidfd, bool attached, int64_t now_ms)
{
    supervise->pid = pid;
    supervise->pidfd = pidfd;
    supervise->attached = attached;
    supervise->started_ms = now_ms;
    supervise->state = SUPERVISE_STARTING;
    health_reset(supervise);
    log_event("%s the dataplane (pid %d)", attached ? "attached to" : "started", (int)pid);
}

/* True when a dataplane holds its pid file: nothing is to be started. */
static bool
attach(struct supervise *supervise, int64_t now_ms)
{
    pid_t pid = pid_file_holder(supervise->pid_path);
    int pidfd;

    if (pid <= 0)
        return pid != 0;
    pidfd = pidfd_open(pid, 0);
    if (pidfd < 0)
        return true;
    /* Still held by the same: the pid was not given to another process before the pidfd was made. */
    if (pid_file_holder(supervise->pid_path) == pid)
        adopt(supervise, pid, pidfd, true, now_ms);
    else
        close(pidfd);
    return true;
}

/* When the next start is due: at once after a good run, else with a growing delay. */
static void
back_off(struct supervise *supervise, int64_t now_ms, bool good_run)
{
    if (good_run)
        supervise->delay_ms = 0;
    else if (supervise->delay_ms == 0)
        supervise->delay_ms = SUPERVISE_FIRST_DELAY;
    else if (supervise->delay_ms < SUPERVISE_LAST_DELAY / 2)
        supervise->delay_ms *= 2;
    else
        supervise->delay_ms = SUPERVISE_LAST_DELAY;
    supervise->next_start_ms = now_ms + supervise->delay_ms;
}

static void __attribute__((format(printf, 2, 3))) note_end(struct supervise *supervise, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(supervise->last_end, sizeof(supervise->last_end), format, arguments);
    va_end(arguments);
    log_event("the dataplane %s", supervise->last_end);
}

static void
start(struct supervise *supervise, int64_t now_ms)
{
    char error[512];
    int pidfd;
    pid_t pid;

    unlink(supervise->stats_path); /* of a dead one */
    if (settings_save(supervise->settings, supervise->settings_path, error, sizeof(error)) != 0) {
        note_end(supervise, "could not be started: %s", error);
        back_off(supervise, now_ms, false);
        return;
    }
    pid = launch(supervise->program, supervise->settings_path, supervise->log_path, &pidfd);
    if (pid < 0) {
        note_end(supervise, "could not be started: %s (log %s): %s", supervise->program, supervise->log_path,
                 strerror(-pid));
        back_off(supervise, now_ms, false);
        return;
    }
    supervise->starts++;
    adopt(supervise, pid, pidfd, false, now_ms);
}

static bool
has_ended(const struct supervise *supervise)
{
    struct pollfd pollfd = {supervise->pidfd, POLLIN, 0};

    return poll(&pollfd, 1, 0) > 0;
}

/* How it ended, in words. True: in order. */
static bool
post_mortem(struct supervise *supervise)
{
    siginfo_t end = {0};
    char line[256];

    if (supervise->attached) {
        /* No exit status of another's child; but a server that ends in order removes its socket. */
        bool in_order = supervise->serving_ms != 0 && access(supervise->socket_path, F_OK) != 0;
        note_end(supervise, "(pid %d) ended%s", (int)supervise->pid, in_order ? " in order" : "");
        return in_order;
    }
    waitid(P_PID, (id_t)supervise->pid, &end, WEXITED);
    if (end.si_code != CLD_EXITED) {
        note_end(supervise, "(pid %d) was killed by signal %d (%s)", (int)supervise->pid, end.si_status,
                 strsignal(end.si_status));
        return false;
    }
    last_line(supervise->log_path, line, sizeof(line));
    if (end.si_status == 0)
        note_end(supervise, "(pid %d) ended in order", (int)supervise->pid);
    else
        note_end(supervise, "(pid %d) ended with exit status %d; its last words: %s", (int)supervise->pid,
                 end.si_status, line);
    return end.si_status == 0;
}

static void
bury(struct supervise *supervise, int64_t now_ms)
{
    bool good_run = supervise->serving_ms != 0 && now_ms - supervise->serving_ms >= SUPERVISE_GOOD_RUN_MS;
    bool in_order = post_mortem(supervise);

    close(supervise->pidfd);
    supervise->pidfd = -1;
    supervise->pid = 0;
    supervise->state = SUPERVISE_DOWN;
    health_reset(supervise);
    supervise->ended = in_order || supervise->stopping;
    back_off(supervise, now_ms, good_run);
}

static void
signal_dataplane(const struct supervise *supervise, int signal_number)
{
    pidfd_send_signal(supervise->pidfd, signal_number, NULL, 0);
}

void
supervise_tick(struct supervise *supervise, int64_t now_ms)
{
    if (supervise->ended)
        return;
    if (supervise->pid == 0) {
        if (!attach(supervise, now_ms) && now_ms >= supervise->next_start_ms)
            start(supervise, now_ms);
    } else if (has_ended(supervise)) {
        bury(supervise, now_ms);
    } else {
        health_look(supervise, now_ms);
        if (supervise->stopping && now_ms >= supervise->kill_ms)
            signal_dataplane(supervise, SIGKILL);
    }
}

void
supervise_stop(struct supervise *supervise, int64_t now_ms)
{
    if (!supervise->stopping)
        supervise->kill_ms = now_ms + SUPERVISE_KILL_MS;
    supervise->stopping = true;
    if (supervise->pid == 0) {
        supervise->ended = true;
        return;
    }
    log_event("stopping the dataplane (pid %d)", (int)supervise->pid);
    signal_dataplane(supervise, SIGTERM);
    signal_dataplane(supervise, SIGCONT); /* a stopped process takes no other signal but SIGKILL */
}

int
supervise_ready(const struct supervise *supervise, int64_t now_ms, char *error, size_t error_size)
{
    int pid = (int)supervise->pid;

    if (supervise->stopping) {
        snprintf(error, error_size, "the dataplane is being stopped");
        return -EAGAIN;
    }
    switch (supervise->state) {
    case SUPERVISE_RUNNING:
        return 0;
    case SUPERVISE_DOWN:
        snprintf(error, error_size, "the dataplane is not running; it %s; next start in %.1f s",
                 supervise->last_end[0] != '\0' ? supervise->last_end : "was not started yet",
                 supervise->next_start_ms > now_ms ? (double)(supervise->next_start_ms - now_ms) / 1000 : 0.0);
        break;
    case SUPERVISE_STARTING:
        snprintf(error, error_size, "the dataplane (pid %d) is starting; try again in a moment", pid);
        break;
    case SUPERVISE_STOPPED:
        snprintf(error, error_size, "the dataplane (pid %d) is stopped; `kill -CONT %d` lets it go on", pid, pid);
        break;
    case SUPERVISE_HUNG:
        snprintf(error, error_size, "the dataplane (pid %d) gives no sign of life since %.1f s", pid,
                 (double)(now_ms - supervise->heartbeat_ms) / 1000);
        break;
    }
    return -EAGAIN;
}
