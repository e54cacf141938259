/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of control/supervise.h with a real child process, dataplane_double, whose path is in $DATAPLANE_DOUBLE. Waits
 * are for events, not for times; where time has to pass for the supervisor, the clock that it is given is moved.
 */
#include "control/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/launch.h"
#include "tests/unit/control/scratch.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 30000 /* only a failure takes so long */

static struct settings settings;
static struct supervise supervise, second;
static char error[1024];
static int64_t clock_offset;

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000 + clock_offset;
}

static int
open_with(struct supervise *one, const char *program)
{
    return supervise_open(one, &settings, program, error, sizeof(error));
}

static void
open_double(void)
{
    settings_default(&settings);
    snprintf(settings.run_dir, sizeof(settings.run_dir), "%s/run", scratch);
    CU_ASSERT_EQUAL_FATAL(open_with(&supervise, getenv("DATAPLANE_DOUBLE")), 0);
}

typedef bool (*condition)(void);

static void
tick_until(condition holds)
{
    int64_t end = now_ms() + PATIENCE_MS;

    while (!holds() && now_ms() < end) {
        supervise_tick(&supervise, now_ms());
        usleep(2000);
    }
    CU_ASSERT_TRUE_FATAL(holds());
}

static bool
is_running(void)
{
    return supervise.state == SUPERVISE_RUNNING;
}

static bool
is_stopped(void)
{
    return supervise.state == SUPERVISE_STOPPED;
}

static bool
is_down(void)
{
    return supervise.pid == 0;
}

static bool
has_ended(void)
{
    return supervise.ended;
}

/* Stop the dataplane, so that the next test starts from nothing. */
static void
finish(void)
{
    supervise_stop(&supervise, now_ms());
    tick_until(has_ended);
    CU_ASSERT_EQUAL(pid_file_holder(supervise.pid_path), 0);
    supervise_close(&supervise);
}

static void
starts_with_the_settings(void)
{
    struct settings given;
    struct stat status;

    open_double();
    CU_ASSERT_EQUAL(stat(settings.run_dir, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 07777, 0755);
    settings.maxclients = 77;
    CU_ASSERT_EQUAL(supervise_ready(&supervise, now_ms(), error, sizeof(error)), -EAGAIN);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not started yet"));
    tick_until(is_running);
    CU_ASSERT_EQUAL(supervise_ready(&supervise, now_ms(), error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(settings_load(&given, supervise.settings_path, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(memcmp(&given, &settings, sizeof(given)), 0);
    CU_ASSERT_EQUAL(pid_file_holder(supervise.pid_path), supervise.pid);
    CU_ASSERT_EQUAL(getsid(supervise.pid), supervise.pid);
    CU_ASSERT_EQUAL(supervise.starts, 1);
    finish();
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "ended in order"));
}

static void
one_control_process_a_run_dir(void)
{
    open_double();
    CU_ASSERT_EQUAL(open_with(&second, getenv("DATAPLANE_DOUBLE")), -EBUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "another pollux-control (pid "));
    finish();
}

/* Another process becomes the control process, starts a dataplane and dies by kill -9. */
static pid_t
control_that_is_killed(void)
{
    int ends[2], status;
    pid_t dataplane = 0;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        open_double();
        tick_until(is_running);
        if (write(ends[1], &supervise.pid, sizeof(supervise.pid)) != sizeof(supervise.pid))
            _exit(1);
        pause();
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], &dataplane, sizeof(dataplane)), sizeof(dataplane));
    close(ends[0]);
    kill(child, SIGKILL);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    return dataplane;
}

static void
attaches_after_kill_9_of_control(void)
{
    pid_t dataplane = control_that_is_killed();

    open_double(); /* the lock is free again */
    tick_until(is_running);
    CU_ASSERT_EQUAL(supervise.pid, dataplane);
    CU_ASSERT_TRUE(supervise.attached);
    CU_ASSERT_EQUAL(supervise.starts, 0);
    kill(dataplane, SIGKILL); /* and it watches what it did not start */
    tick_until(is_down);
    tick_until(is_running);
    CU_ASSERT_NOT_EQUAL(supervise.pid, dataplane);
    CU_ASSERT_FALSE(supervise.attached);
    CU_ASSERT_EQUAL(supervise.starts, 1);
    finish();
}

static void
stops_an_attached_one(void)
{
    pid_t dataplane = control_that_is_killed();

    open_double();
    tick_until(is_running);
    CU_ASSERT_EQUAL(supervise.pid, dataplane);
    finish();
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "ended in order"));
}

static void
restarts_after_kill_9(void)
{
    pid_t first;

    open_double();
    tick_until(is_running);
    first = supervise.pid;
    clock_offset += SUPERVISE_GOOD_RUN_MS;
    supervise_tick(&supervise, now_ms());
    kill(first, SIGKILL);
    tick_until(is_down);
    CU_ASSERT_EQUAL(supervise.delay_ms, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "signal 9"));
    tick_until(is_running);
    CU_ASSERT_NOT_EQUAL(supervise.pid, first);
    finish();
}

static void
ends_when_the_dataplane_ended_in_order(void)
{
    open_double();
    tick_until(is_running);
    kill(supervise.pid, SIGTERM); /* as SHUTDOWN by a client does */
    tick_until(has_ended);
    CU_ASSERT_EQUAL(supervise.starts, 1);
    supervise_close(&supervise);
}

static void
backs_off_from_one_that_cannot_start(void)
{
    static const int64_t delays[] = {200, 400, 800, 1600, 3200, 6400, 10000, 10000};
    int64_t frozen = now_ms();

    open_double();
    settings.maxclients = 666; /* the double ends with status 3 */
    for (unsigned i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        supervise_tick(&supervise, frozen);
        CU_ASSERT_NOT_EQUAL_FATAL(supervise.pid, 0);
        for (int waited = 0; supervise.pid != 0 && waited < PATIENCE_MS; waited++) {
            supervise_tick(&supervise, frozen);
            usleep(1000);
        }
        CU_ASSERT_EQUAL_FATAL(supervise.next_start_ms - frozen, delays[i]);
        supervise_tick(&supervise, frozen + delays[i] - 1);
        CU_ASSERT_EQUAL(supervise.pid, 0);
        frozen += delays[i];
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "exit status 3; its last words: the pool is damaged"));
    CU_ASSERT_EQUAL(supervise_ready(&supervise, frozen - 1500, error, sizeof(error)), -EAGAIN);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "the pool is damaged; next start in 1.5 s"));
    settings.maxclients = 10; /* the operator mends it; a good run makes the next start immediate */
    clock_offset = frozen - now_ms() + clock_offset;
    tick_until(is_running);
    clock_offset += SUPERVISE_GOOD_RUN_MS;
    supervise_tick(&supervise, now_ms());
    kill(supervise.pid, SIGKILL);
    tick_until(is_down);
    CU_ASSERT_EQUAL(supervise.delay_ms, 0);
    finish();
}

static void
says_when_the_program_cannot_be_executed(void)
{
    settings_default(&settings);
    snprintf(settings.run_dir, sizeof(settings.run_dir), "%s/run", scratch);
    CU_ASSERT_EQUAL_FATAL(open_with(&supervise, "/nonexistent/pollux-dataplane"), 0);
    supervise_tick(&supervise, now_ms());
    CU_ASSERT_EQUAL(supervise.pid, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "No such file"));
    CU_ASSERT_EQUAL(supervise.delay_ms, SUPERVISE_FIRST_DELAY);
    finish();
}

static void
sees_a_stopped_process_and_its_return(void)
{
    pid_t first;

    open_double();
    tick_until(is_running);
    first = supervise.pid;
    kill(first, SIGSTOP);
    tick_until(is_stopped);
    clock_offset += 60000; /* however long it lasts, it is left alone */
    supervise_tick(&supervise, now_ms());
    CU_ASSERT_EQUAL(supervise.state, SUPERVISE_STOPPED);
    CU_ASSERT_FALSE(supervise.stuck[0]);
    supervise_ready(&supervise, now_ms(), error, sizeof(error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "kill -CONT"));
    kill(first, SIGCONT);
    tick_until(is_running);
    CU_ASSERT_EQUAL(supervise.pid, first);
    kill(first, SIGSTOP);
    tick_until(is_stopped);
    finish(); /* also a stopped one ends in order */
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "ended in order"));
}

static bool
core_0_goes_on(void)
{
    return !supervise.stuck[0];
}

/* Tick, with the clock moved forth by SUPERVISE_STUCK_MS in between: what has not moved by then is stuck. */
static bool
core_0_gets_stuck(void)
{
    uint64_t other = supervise.loops[1];

    clock_offset += SUPERVISE_STUCK_MS;
    while (supervise.loops[1] == other) {
        usleep(1000);
        supervise_tick(&supervise, now_ms());
    }
    return supervise.stuck[0];
}

static void
sees_a_stuck_core(void)
{
    open_double();
    tick_until(is_running);
    kill(supervise.pid, SIGUSR1);
    tick_until(core_0_gets_stuck);
    CU_ASSERT_FALSE(supervise.stuck[1]);
    CU_ASSERT_EQUAL(supervise.state, SUPERVISE_RUNNING);
    CU_ASSERT_EQUAL(supervise_ready(&supervise, now_ms(), error, sizeof(error)), 0);
    kill(supervise.pid, SIGUSR2);
    tick_until(core_0_goes_on);
    finish();
}

static bool
is_hung(void)
{
    clock_offset += SUPERVISE_HUNG_MS;
    return supervise.state == SUPERVISE_HUNG;
}

static void
sees_a_missing_heartbeat(void)
{
    open_double();
    tick_until(is_running);
    kill(supervise.pid, SIGHUP);
    tick_until(is_hung);
    supervise_ready(&supervise, now_ms(), error, sizeof(error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no sign of life"));
    finish();
}

static void
kills_one_that_does_not_stop(void)
{
    open_double();
    settings.timeout = 666; /* the double ignores SIGTERM */
    tick_until(is_running);
    supervise_stop(&supervise, now_ms());
    CU_ASSERT_EQUAL(supervise_ready(&supervise, now_ms(), error, sizeof(error)), -EAGAIN);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is being stopped"));
    clock_offset += SUPERVISE_KILL_MS;
    tick_until(has_ended);
    CU_ASSERT_PTR_NOT_NULL(strstr(supervise.last_end, "signal 9"));
    supervise_close(&supervise);
}

static void
a_run_dir_that_others_can_write_is_refused(void)
{
    char path[64];

    CU_ASSERT_EQUAL(chmod(settings.run_dir, 0777), 0);
    CU_ASSERT_EQUAL(open_with(&second, "/bin/true"), -EPERM);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "others may write to it"));
    CU_ASSERT_EQUAL(chmod(settings.run_dir, 0755), 0);
    snprintf(path, sizeof(path), "%s/file", scratch);
    fclose(fopen(path, "w"));
    CU_ASSERT_EQUAL(run_dir_make(path, error, sizeof(error)), -EPERM);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not a folder"));
    snprintf(path, sizeof(path), "%s/no/such", scratch);
    CU_ASSERT_EQUAL(run_dir_make(path, error, sizeof(error)), -EPERM);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "No such file"));
}

static const struct unit_test tests[] = {
    {"starts with the settings", starts_with_the_settings},
    {"one control process a run-dir", one_control_process_a_run_dir},
    {"attaches after kill -9 of control", attaches_after_kill_9_of_control},
    {"stops an attached one", stops_an_attached_one},
    {"restarts after kill -9", restarts_after_kill_9},
    {"ends when the dataplane ended in order", ends_when_the_dataplane_ended_in_order},
    {"backs off from one that cannot start", backs_off_from_one_that_cannot_start},
    {"says when the program cannot be executed", says_when_the_program_cannot_be_executed},
    {"sees a stopped process and its return", sees_a_stopped_process_and_its_return},
    {"sees a stuck core", sees_a_stuck_core},
    {"sees a missing heartbeat", sees_a_missing_heartbeat},
    {"kills one that does not stop", kills_one_that_does_not_stop},
    {"a run-dir that others can write is refused", a_run_dir_that_others_can_write_is_refused},
};

int
main(void)
{
    int failed;

    if (getenv("DATAPLANE_DOUBLE") == NULL || !scratch_make())
        return 1;
    failed = unit_main("control/supervise", tests, sizeof(tests) / sizeof(tests[0]));
    scratch_remove();
    return failed;
}
