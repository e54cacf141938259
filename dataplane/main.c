/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pollux-dataplane: from a settings file to a serving loop, in order, and back in reverse order.
 *
 *     pollux-dataplane --settings FILE
 */
#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dataplane/command/session.h"
#include "dataplane/core.h"
#include "dataplane/eal.h"
#include "dataplane/housekeeping.h"
#include "dataplane/log.h"
#include "dataplane/mailbox.h"
#include "dataplane/net/transport_tcp.h"
#include "dataplane/server.h"
#include "dataplane/stats/stats_file.h"

#define CONNECTION_SLACK 1024u         /* connections beyond maxclients: half-open, closing, to be refused */
#define EAL_OWN_MEMORY   (32ull << 20) /* what DPDK needs beside packet buffers and tables */
#define CONNECTION_BYTES 128u          /* of DPDK's memory, a connection: its place in the hash */

/* Everything of the process, in the order it is made. */
struct dataplane {
    struct server server;
    struct worker worker;
    struct port port;
    struct stats_file stats;
    struct housekeeping *housekeeping;
    cpu_set_t other_cpus;
    int pid_fd;
    bool eal_up, port_up, sessions_up;
    char error[512];
};

static struct server *signalled;

static void
on_signal(int number)
{
    (void)number;
    atomic_store(&signalled->stop, true);
}

static void
catch_signals(struct server *server)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    signalled = server;
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
}

static uint64_t
wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int
open_log(struct dataplane *dataplane)
{
    const struct settings *settings = &dataplane->server.settings;
    char path[SETTING_STRING_MAX + 32];
    if (mkdir(settings->run_dir, 0755) != 0 && errno != EEXIST) {
        snprintf(dataplane->error, sizeof(dataplane->error), "The run-dir %s cannot be made: %s.", settings->run_dir,
                 strerror(errno));
        return -errno;
    }
    snprintf(path, sizeof(path), "%s/dataplane.log", settings->run_dir);
    const char *chosen = settings->logfile[0] ? settings->logfile : path;
    int rc = log_open(chosen);
    if (rc != 0)
        snprintf(dataplane->error, sizeof(dataplane->error), "The log %s cannot be opened: %s.", chosen, strerror(-rc));
    log_set_level(settings->loglevel);
    return rc;
}

/* The lock lives as long as the process, so a killed one leaves none behind. */
static int
lock_pid_file(struct dataplane *dataplane)
{
    char path[SETTING_STRING_MAX + 32];
    snprintf(path, sizeof(path), "%s/dataplane.pid", dataplane->server.settings.run_dir);
    dataplane->pid_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (dataplane->pid_fd >= 0 && flock(dataplane->pid_fd, LOCK_EX | LOCK_NB) == 0 &&
        ftruncate(dataplane->pid_fd, 0) == 0 && dprintf(dataplane->pid_fd, "%d\n", getpid()) > 0)
        return 0;
    int saved = errno;
    if (saved == EWOULDBLOCK)
        snprintf(dataplane->error, sizeof(dataplane->error), "Another pollux-dataplane runs in %s.",
                 dataplane->server.settings.run_dir);
    else
        snprintf(dataplane->error, sizeof(dataplane->error), "The pid file %s cannot be written: %s.", path,
                 strerror(saved));
    return -saved;
}

static int
open_pool(struct dataplane *dataplane)
{
    struct server *server = &dataplane->server;
    const struct engine_options options = {
        .path = server->settings.pool_path,
        .create_size = (uint64_t)server->settings.pool_size / SEGMENT_SIZE * SEGMENT_SIZE,
        .cores = server->cores,
    };
    server->engine = engine_open(&options, dataplane->error, sizeof(dataplane->error));
    return server->engine ? 0 : -EIO;
}

/* The CPUs we may use that are not data cores: where housekeeping runs. */
static int
check_cores(struct dataplane *dataplane)
{
    const char *cores = dataplane->server.settings.cores;
    char *end;
    long cpu = strtol(cores, &end, 10);
    sched_getaffinity(0, sizeof(dataplane->other_cpus), &dataplane->other_cpus);
    if (end == cores || *end != '\0' || cpu < 0 || cpu >= CPU_SETSIZE) {
        snprintf(dataplane->error, sizeof(dataplane->error),
                 "The setting cores is '%s': this version has one data core, so it is one CPU number.", cores);
        return -EINVAL;
    }
    if (!CPU_ISSET((int)cpu, &dataplane->other_cpus)) {
        snprintf(dataplane->error, sizeof(dataplane->error), "The setting cores is %ld, a CPU we may not use.", cpu);
        return -EINVAL;
    }
    if (CPU_COUNT(&dataplane->other_cpus) > 1)
        CPU_CLR((int)cpu, &dataplane->other_cpus);
    dataplane->server.cores = 1;
    return 0;
}

static unsigned
connection_limit(const struct settings *settings)
{
    return (unsigned)settings->maxclients + CONNECTION_SLACK;
}

static int
open_port(struct dataplane *dataplane)
{
    const struct settings *settings = &dataplane->server.settings;
    const struct eal_options options = {
        .device = settings->device,
        .cores = settings->cores,
        .hugepages = settings->hugepages,
        .memory = (uint64_t)settings->packet_memory + EAL_OWN_MEMORY +
                  (uint64_t)connection_limit(settings) * CONNECTION_BYTES,
    };
    bool huge;
    int rc = eal_start(&options, &huge, dataplane->error, sizeof(dataplane->error));
    if (rc != 0)
        return rc;
    dataplane->eal_up = true;
    log_write(LEVEL_NOTICE, "packet buffers: %lld MiB on %s", (long long)(settings->packet_memory >> 20),
              huge ? "huge pages" : "4 KiB pages");
    dataplane->port.pool =
        eal_packet_pool((uint64_t)settings->packet_memory, dataplane->error, sizeof(dataplane->error));
    if (!dataplane->port.pool)
        return -ENOMEM;
    rc = port_open(&dataplane->port, settings->device, dataplane->error, sizeof(dataplane->error));
    dataplane->port_up = rc == 0;
    return rc;
}

static void
stream_opened(void *context, struct stream *stream)
{
    session_open(context, stream);
}

static void
stream_closed(void *context, struct stream *stream)
{
    session_close(context, stream);
}

static int
parse_address(struct dataplane *dataplane, const char *name, const char *text, uint32_t *address)
{
    struct in_addr parsed = {0};
    if (text[0] && inet_pton(AF_INET, text, &parsed) != 1) {
        snprintf(dataplane->error, sizeof(dataplane->error), "The setting %s is '%s', not an IPv4 address.", name,
                 text);
        return -EINVAL;
    }
    *address = parsed.s_addr;
    return 0;
}

static int
open_transport(struct dataplane *dataplane)
{
    const struct settings *settings = &dataplane->server.settings;
    struct worker *worker = &dataplane->worker;
    struct transport_tcp_options options = {
        .port = &dataplane->port,
        .prefix = (unsigned)settings->prefix,
        .tcp_port = (uint16_t)settings->port,
        .connections = connection_limit(settings),
        .now_us = core_clock_us(),
        .events = {.context = worker, .opened = stream_opened, .closed = stream_closed},
    };
    int rc = parse_address(dataplane, "bind", settings->bind, &options.address);
    if (rc == 0)
        rc = parse_address(dataplane, "gateway", settings->gateway, &options.gateway);
    if (rc == 0)
        rc = transport_tcp_open(&worker->transport, &options, dataplane->error, sizeof(dataplane->error));
    return rc;
}

static void
make_run_id(struct server *server)
{
    uint8_t random[20];
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        memset(random, 0, sizeof(random));
    for (unsigned i = 0; i < sizeof(random); i++)
        snprintf(server->run_id + 2 * i, 3, "%02x", random[i]);
}

static int
open_worker(struct dataplane *dataplane)
{
    struct server *server = &dataplane->server;
    struct worker *worker = &dataplane->worker;
    server->worker = worker;
    server->stats = dataplane->stats.header;
    worker->server = server;
    worker->core = engine_core(server->engine, 0);
    worker->stats = &dataplane->stats.header->core[0];
    worker->now_ms = wall_ms();
    worker->random = worker->now_ms * 0x9e3779b97f4a7c15ull | 1;
    worker->mailbox = mailbox_create(0);
    if (!worker->mailbox || session_start(worker) != 0) {
        snprintf(dataplane->error, sizeof(dataplane->error), "Out of memory for the core's state.");
        return -ENOMEM;
    }
    dataplane->sessions_up = true;
    return 0;
}

static int
open_stats(struct dataplane *dataplane)
{
    const struct settings *settings = &dataplane->server.settings;
    char path[SETTING_STRING_MAX + 32];
    snprintf(path, sizeof(path), "%s/stats", settings->run_dir);
    int rc =
        stats_file_create(&dataplane->stats, path, dataplane->server.cores, dataplane->error, sizeof(dataplane->error));
    if (rc != 0)
        return rc;
    struct stats_header *header = dataplane->stats.header;
    header->started_ms = dataplane->server.started_ms;
    snprintf(header->port, sizeof(header->port), "%.63s", settings->device);
    snprintf(header->address, sizeof(header->address), "%.40s:%lld", settings->bind, (long long)settings->port);
    header->tsc_hz = core_tsc_hz();
    return 0;
}

static int
start_housekeeping(struct dataplane *dataplane)
{
    stats_file_publish(&dataplane->stats);
    dataplane->housekeeping = housekeeping_start(&dataplane->server, &dataplane->stats, &dataplane->other_cpus,
                                                 dataplane->error, sizeof(dataplane->error));
    return dataplane->housekeeping ? 0 : -EIO;
}

static int
open_all(struct dataplane *dataplane)
{
    static int (*const steps[])(struct dataplane *) = {
        open_log,   lock_pid_file, check_cores,    open_pool,          open_port,
        open_stats, open_worker,   open_transport, start_housekeeping,
    };
    struct server *server = &dataplane->server;
    server->started_ms = wall_ms();
    make_run_id(server);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int rc = steps[i](dataplane);
        if (rc != 0)
            return rc;
    }
    snprintf(server->port_kind, sizeof(server->port_kind), "%s", dataplane->port.kind);
    return 0;
}

static void
say_ready(const struct dataplane *dataplane)
{
    const struct settings *settings = &dataplane->server.settings;
    struct engine_info info;
    engine_info(dataplane->server.engine, &info);
    log_write(LEVEL_NOTICE, "ready  %s:%lld  port %s  pool %llu MiB %s", settings->bind, (long long)settings->port,
              dataplane->port.kind, (unsigned long long)(info.size >> 20), persistence_domain_name(info.domain));
    if (!info.was_clean)
        log_write(LEVEL_NOTICE, "recovered %llu keys in %.1f ms after a shutdown that was not in order",
                  (unsigned long long)info.walked_keys, (double)info.open_us / 1000);
    if (info.domain == DOMAIN_EMULATED)
        log_write(LEVEL_WARNING, "the pool %s is emulated: what it holds is lost at power-off", info.path);
}

/* In reverse order; each part may be missing. */
static void
close_all(struct dataplane *dataplane)
{
    struct worker *worker = &dataplane->worker;
    housekeeping_stop(dataplane->housekeeping);
    if (worker->transport.close)
        worker->transport.close(worker->transport.context);
    if (dataplane->sessions_up)
        session_stop(worker);
    mailbox_free(worker->mailbox);
    stats_file_close(&dataplane->stats);
    if (dataplane->port_up)
        port_close(&dataplane->port);
    if (dataplane->server.engine)
        engine_close(dataplane->server.engine);
    if (dataplane->eal_up)
        eal_stop();
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
    const char **settings_path = state->input;
    switch (key) {
    case 's':
        *settings_path = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", arg);
        return EINVAL;
    case ARGP_KEY_END:
        if (!*settings_path)
            argp_error(state, "--settings FILE is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const char *argp_program_version = "pollux-dataplane " POLLUX_VERSION;

int
main(int argc, char **argv)
{
    static struct dataplane dataplane = {.pid_fd = -1};
    static const struct argp_option options[] = {
        {"settings", 's', "FILE", 0, "Settings, one 'name value' a line; pollux-control writes it", 0},
        {0},
    };
    static const struct argp parser = {
        .options = options,
        .parser = parse_option,
        .doc = "Serves the Redis protocol from a network port and a pool of persistent memory.",
    };
    const char *settings_path = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &settings_path);
    catch_signals(&dataplane.server);
    int rc = settings_load(&dataplane.server.settings, settings_path, dataplane.error, sizeof(dataplane.error));
    if (rc == 0)
        rc = open_all(&dataplane);
    if (rc == 0) {
        say_ready(&dataplane);
        rc = core_run(&dataplane.worker, &dataplane.port);
        if (rc != 0)
            snprintf(dataplane.error, sizeof(dataplane.error), "Out of memory for the loop.");
    }
    if (rc != 0) {
        fprintf(stderr, "pollux-dataplane: %s\n", dataplane.error);
        if (log_is_open())
            log_write(LEVEL_WARNING, "%s", dataplane.error);
    }
    close_all(&dataplane);
    if (rc == 0)
        log_write(LEVEL_NOTICE, "stopped in order");
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
