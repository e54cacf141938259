/* SPDX-License-Identifier: BSD-3-Clause */
/* INFO: sections under Redis's names, and one of our own. */
#include "dataplane/command/info.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "dataplane/command/clients.h"
#include "dataplane/command/keyspace.h"
#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"
#include "dataplane/command/text.h"

/* What a section may look at. */
struct info {
    struct worker *worker;
    const struct server *server;
    struct bytes text;
    struct engine_info engine;
    uint64_t counter[COUNTERS]; /* of all cores, since CONFIG RESETSTAT */
};

static void
sum_counters(struct info *info)
{
    const struct server *server = info->server;
    for (unsigned c = 0; c < COUNTERS; c++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < server->cores; i++)
            sum += server->worker[i].stats->counter[c];
        info->counter[c] = sum - server->stats_base[c];
    }
}

static void
section_server(struct info *info)
{
    const struct server *server = info->server;
    struct utsname name;
    uname(&name);
    uint64_t now_ms = info->worker->now_ms,
             uptime = now_ms > server->started_ms ? (now_ms - server->started_ms) / 1000 : 0;
    text_printf(
        &info->text,
        "# Server\r\nredis_version:%s\r\nredis_git_sha1:00000000\r\nredis_git_dirty:0\r\nredis_build_id:0\r\n"
        "redis_mode:standalone\r\nos:%s %s %s\r\narch_bits:64\r\nmonotonic_clock:X86 TSC\r\n"
        "multiplexing_api:dpdk\r\natomicvar_api:c11-builtin\r\ngcc_version:%d.%d.%d\r\nprocess_id:%d\r\n"
        "process_supervised:no\r\nrun_id:%s\r\ntcp_port:%ld\r\nserver_time_usec:%lu\r\nuptime_in_seconds:%lu\r\n"
        "uptime_in_days:%lu\r\nhz:10\r\nconfigured_hz:10\r\nlru_clock:%lu\r\nexecutable:\r\nconfig_file:\r\n"
        "io_threads_active:0\r\n",
        REDIS_VERSION_SERVED, name.sysname, name.release, name.machine, __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__,
        getpid(), server->run_id, server->settings.port, now_ms * 1000, uptime, uptime / 86400,
        now_ms / 1000 & 0xffffff);
}

static void
section_clients(struct info *info)
{
    size_t in = 0, out = 0;
    unsigned blocked = 0;
    for (unsigned i = 0; i < info->worker->clients_used; i++) {
        const struct client *client = info->worker->clients[i];
        in = client->stream->in.len > in ? client->stream->in.len : in;
        out = client->stream->out.len > out ? client->stream->out.len : out;
        blocked += client->wait == WAIT_TIME;
    }
    text_printf(&info->text,
                "# Clients\r\nconnected_clients:%u\r\ncluster_connections:0\r\nmaxclients:%ld\r\n"
                "client_recent_max_input_buffer:%zu\r\nclient_recent_max_output_buffer:%zu\r\nblocked_clients:%u\r\n"
                "tracking_clients:0\r\nclients_in_timeout_table:0\r\n",
                info->server->clients, info->server->settings.maxclients, in, out, blocked);
}

static uint64_t
resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    int fields = fscanf(file, "%lu %lu", &size, &resident);
    fclose(file);
    return fields == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void
section_memory(struct info *info)
{
    char human[5][32];
    uint64_t used = info->engine.live_bytes, rss = resident_bytes();
    uint64_t system = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    int64_t maxmemory = info->server->settings.maxmemory;
    text_printf(
        &info->text,
        "# Memory\r\nused_memory:%lu\r\nused_memory_human:%s\r\nused_memory_rss:%lu\r\n"
        "used_memory_rss_human:%s\r\nused_memory_peak:%lu\r\nused_memory_peak_human:%s\r\n"
        "used_memory_peak_perc:100.00%%\r\nused_memory_overhead:0\r\nused_memory_startup:0\r\n"
        "used_memory_dataset:%lu\r\nused_memory_dataset_perc:100.00%%\r\ntotal_system_memory:%lu\r\n"
        "total_system_memory_human:%s\r\nused_memory_lua:0\r\nused_memory_lua_human:0B\r\n"
        "used_memory_scripts:0\r\nused_memory_scripts_human:0B\r\nnumber_of_cached_scripts:0\r\n"
        "number_of_functions:0\r\nnumber_of_libraries:0\r\nmaxmemory:%ld\r\nmaxmemory_human:%s\r\n"
        "maxmemory_policy:%s\r\nmem_fragmentation_ratio:1.00\r\nmem_fragmentation_bytes:0\r\n"
        "mem_allocator:pmem\r\nactive_defrag_running:0\r\nlazyfree_pending_objects:0\r\nlazyfreed_objects:0\r\n",
        used, text_human(used, human[0]), rss, text_human(rss, human[1]), used, text_human(used, human[2]), used,
        system, text_human(system, human[3]), maxmemory, text_human((uint64_t)maxmemory, human[4]),
        info->server->settings.maxmemory_policy);
}

/* Every write is durable before its reply: the last save is always now. */
static void
section_persistence(struct info *info)
{
    text_printf(
        &info->text,
        "# Persistence\r\nloading:0\r\nasync_loading:0\r\ncurrent_cow_peak:0\r\ncurrent_cow_size:0\r\n"
        "current_cow_size_age:0\r\ncurrent_fork_perc:0.00\r\ncurrent_save_keys_processed:0\r\n"
        "current_save_keys_total:0\r\nrdb_changes_since_last_save:0\r\nrdb_bgsave_in_progress:0\r\n"
        "rdb_last_save_time:%lu\r\nrdb_last_bgsave_status:ok\r\nrdb_last_bgsave_time_sec:0\r\n"
        "rdb_current_bgsave_time_sec:-1\r\nrdb_saves:0\r\nrdb_last_cow_size:0\r\nrdb_last_load_keys_expired:0\r\n"
        "rdb_last_load_keys_loaded:0\r\naof_enabled:0\r\naof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n"
        "aof_last_rewrite_time_sec:-1\r\naof_current_rewrite_time_sec:-1\r\naof_last_bgrewrite_status:ok\r\n"
        "aof_rewrites:0\r\naof_rewrites_consecutive_failures:0\r\naof_last_write_status:ok\r\n"
        "aof_last_cow_size:0\r\nmodule_fork_in_progress:0\r\nmodule_fork_last_cow_size:0\r\n",
        info->worker->now_ms / 1000);
}

static void
section_stats(struct info *info)
{
    const uint64_t *counter = info->counter;
    double rate[RATES] = {0};
    for (unsigned i = 0; i < info->server->cores; i++)
        for (unsigned r = 0; r < RATES; r++)
            rate[r] += session_rate(&info->server->worker[i], r);
    text_printf(
        &info->text,
        "# Stats\r\ntotal_connections_received:%lu\r\ntotal_commands_processed:%lu\r\n"
        "instantaneous_ops_per_sec:%.0f\r\ntotal_net_input_bytes:%lu\r\ntotal_net_output_bytes:%lu\r\n"
        "total_net_repl_input_bytes:0\r\ntotal_net_repl_output_bytes:0\r\ninstantaneous_input_kbps:%.2f\r\n"
        "instantaneous_output_kbps:%.2f\r\ninstantaneous_input_repl_kbps:0.00\r\n"
        "instantaneous_output_repl_kbps:0.00\r\nrejected_connections:%lu\r\nsync_full:0\r\nsync_partial_ok:0\r\n"
        "sync_partial_err:0\r\nexpired_keys:%lu\r\nexpired_stale_perc:0.00\r\n"
        "expired_time_cap_reached_count:0\r\nexpire_cycle_cpu_milliseconds:0\r\nevicted_keys:0\r\n"
        "evicted_clients:0\r\ntotal_eviction_exceeded_time:0\r\ncurrent_eviction_exceeded_time:0\r\n"
        "keyspace_hits:%lu\r\nkeyspace_misses:%lu\r\npubsub_channels:0\r\npubsub_patterns:0\r\n"
        "pubsubshard_channels:0\r\nlatest_fork_usec:0\r\ntotal_forks:0\r\nmigrate_cached_sockets:0\r\n"
        "slave_expires_tracked_keys:0\r\nactive_defrag_hits:0\r\nactive_defrag_misses:0\r\n"
        "active_defrag_key_hits:0\r\nactive_defrag_key_misses:0\r\ntotal_active_defrag_time:0\r\n"
        "current_active_defrag_time:0\r\ntracking_total_keys:0\r\ntracking_total_items:0\r\n"
        "tracking_total_prefixes:0\r\nunexpected_error_replies:0\r\ntotal_error_replies:%lu\r\n"
        "dump_payload_sanitizations:0\r\ntotal_reads_processed:%lu\r\ntotal_writes_processed:%lu\r\n"
        "io_threaded_reads_processed:0\r\nio_threaded_writes_processed:0\r\nreply_buffer_shrinks:0\r\n"
        "reply_buffer_expands:0\r\n",
        counter[COUNTER_connections_opened], counter[COUNTER_commands], rate[RATE_COMMANDS],
        counter[COUNTER_input_bytes], counter[COUNTER_output_bytes], rate[RATE_INPUT] / 1024, rate[RATE_OUTPUT] / 1024,
        counter[COUNTER_connections_rejected], counter[COUNTER_expired], counter[COUNTER_keyspace_hits],
        counter[COUNTER_keyspace_misses], counter[COUNTER_errors], counter[COUNTER_batches], counter[COUNTER_batches]);
}

static void
section_replication(struct info *info)
{
    text_printf(
        &info->text,
        "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\n"
        "master_replid:%s\r\nmaster_replid2:0000000000000000000000000000000000000000\r\nmaster_repl_offset:0\r\n"
        "second_repl_offset:-1\r\nrepl_backlog_active:0\r\nrepl_backlog_size:1048576\r\n"
        "repl_backlog_first_byte_offset:0\r\nrepl_backlog_histlen:0\r\n",
        info->server->run_id);
}

static void
cpu_line(struct info *info, const char *name, const char *suffix, const struct timeval *time)
{
    text_printf(&info->text, "used_cpu_%s%s:%ld.%06ld\r\n", name, suffix, time->tv_sec, time->tv_usec);
}

static void
section_cpu(struct info *info)
{
    static const struct {
        int who;
        const char *suffix;
    } row[] = {{RUSAGE_SELF, ""}, {RUSAGE_CHILDREN, "_children"}, {RUSAGE_THREAD, "_main_thread"}};
    text_printf(&info->text, "# CPU\r\n");
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct rusage usage;
        getrusage(row[i].who, &usage);
        cpu_line(info, "sys", row[i].suffix, &usage.ru_stime);
        cpu_line(info, "user", row[i].suffix, &usage.ru_utime);
    }
}

static void
section_modules(struct info *info)
{
    text_printf(&info->text, "# Modules\r\n");
}

/* The time of a command is its even share of the batches it was in. */
static void
section_commandstats(struct info *info)
{
    text_printf(&info->text, "# Commandstats\r\n");
    for (unsigned c = 0; c < command_count; c++) {
        struct command_stats sum = {0};
        for (unsigned i = 0; i < info->server->cores; i++) {
            const struct sessions *sessions = info->server->worker[i].sessions;
            if (!sessions)
                continue;
            sum.calls += sessions->command[c].calls;
            sum.ns += sessions->command[c].ns;
            sum.rejected += sessions->command[c].rejected;
            sum.failed += sessions->command[c].failed;
        }
        if (sum.calls || sum.rejected || sum.failed)
            text_printf(&info->text,
                        "cmdstat_%s:calls=%lu,usec=%lu,usec_per_call=%.2f,rejected_calls=%lu,failed_calls=%lu\r\n",
                        command_table[c].full_name, sum.calls, sum.ns / 1000,
                        sum.calls ? (double)sum.ns / 1000 / (double)sum.calls : 0, sum.rejected, sum.failed);
    }
}

static void
section_errorstats(struct info *info)
{
    struct error_stats sum[ERROR_KINDS];
    unsigned kinds = 0;
    text_printf(&info->text, "# Errorstats\r\n");
    for (unsigned i = 0; i < info->server->cores; i++) {
        const struct sessions *sessions = info->server->worker[i].sessions;
        for (unsigned e = 0; sessions && e < sessions->errors; e++) {
            unsigned k = 0;
            while (k < kinds && strcmp(sum[k].prefix, sessions->error[e].prefix) != 0)
                k++;
            if (k == ERROR_KINDS)
                continue;
            if (k == kinds)
                sum[kinds++] = sessions->error[e];
            else
                sum[k].count += sessions->error[e].count;
        }
    }
    for (unsigned k = 0; k < kinds; k++)
        text_printf(&info->text, "errorstat_%s:count=%lu\r\n", sum[k].prefix, sum[k].count);
}

static void
section_latencystats(struct info *info)
{
    text_printf(&info->text, "# Latencystats\r\n");
}

static void
section_cluster(struct info *info)
{
    text_printf(&info->text, "# Cluster\r\ncluster_enabled:0\r\n");
}

static void
section_keyspace(struct info *info)
{
    text_printf(&info->text, "# Keyspace\r\n");
    for (unsigned db = 0; db < DATABASES; db++) {
        uint64_t with_expiry, keys = engine_keys(info->server->engine, db, &with_expiry);
        if (keys)
            text_printf(&info->text, "db%u:keys=%lu,expires=%lu,avg_ttl=0\r\n", db, keys, with_expiry);
    }
}

static void
section_pollux(struct info *info)
{
    const struct engine_info *engine = &info->engine;
    text_printf(
        &info->text,
        "# Pollux\r\npollux_version:%s\r\npersistence_domain:%s\r\nport_kind:%s\r\ncores:%u\r\npool_path:%s\r\n"
        "pool_uuid:%s\r\npool_size:%lu\r\npool_segments:%lu\r\npool_segments_free:%lu\r\npool_segments_table:%lu\r\n"
        "pool_live_bytes:%lu\r\npool_garbage_bytes:%lu\r\npool_writable_bytes:%lu\r\npool_compacted_bytes:%lu\r\n"
        "pool_splits:%lu\r\npool_crc_errors:%lu\r\npool_was_clean:%d\r\npool_dirty_shutdowns:%lu\r\n"
        "pool_open_usec:%lu\r\n",
        POLLUX_VERSION, persistence_domain_name(engine->domain), info->server->port_kind, info->server->cores,
        engine->path, engine->uuid, engine->size, engine->segments, engine->segments_free, engine->segments_table,
        engine->live_bytes, engine->garbage_bytes, engine->writable_bytes, engine->compacted_bytes, engine->splits,
        engine->crc_errors, engine->was_clean, engine->dirty_shutdowns, engine->open_us);
}

static const struct {
    const char *name;
    bool standard; /* part of INFO without arguments */
    void (*write)(struct info *info);
} section_table[] = {
    {"server", true, section_server},
    {"clients", true, section_clients},
    {"memory", true, section_memory},
    {"persistence", true, section_persistence},
    {"stats", true, section_stats},
    {"replication", true, section_replication},
    {"cpu", true, section_cpu},
    {"modules", true, section_modules},
    {"commandstats", false, section_commandstats},
    {"errorstats", true, section_errorstats},
    {"latencystats", false, section_latencystats},
    {"cluster", true, section_cluster},
    {"keyspace", true, section_keyspace},
    {"pollux", true, section_pollux},
};
#define SECTIONS (sizeof(section_table) / sizeof(section_table[0]))

static bool
wants(const struct request *request, unsigned section)
{
    if (request->argc == 1)
        return section_table[section].standard;
    for (uint32_t i = 1; i < request->argc; i++) {
        const struct slice *arg = &request->argv[i];
        if (arg_is(arg, section_table[section].name) || arg_is(arg, "all") || arg_is(arg, "everything") ||
            (arg_is(arg, "default") && section_table[section].standard))
            return true;
    }
    return false;
}

enum command_result
command_info(struct worker *worker, struct request *request)
{
    struct info info = {.worker = worker, .server = worker->server};
    engine_info(worker->server->engine, &info.engine);
    sum_counters(&info);
    for (unsigned i = 0; i < SECTIONS; i++) {
        if (!wants(request, i))
            continue;
        if (info.text.len > 0)
            text_printf(&info.text, "\r\n");
        section_table[i].write(&info);
    }
    text_reply(request->client, &info.text);
    return COMMAND_DONE;
}

/* CONFIG RESETSTAT: the shared counters only grow, so what they are now becomes the base; each core clears what it
 * keeps by command and error when it sees the new epoch. */
void
info_reset(struct worker *worker)
{
    struct server *server = worker->server;
    for (unsigned c = 0; c < COUNTERS; c++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < server->cores; i++)
            sum += server->worker[i].stats->counter[c];
        server->stats_base[c] = sum;
    }
    atomic_fetch_add(&server->stats_epoch, 1);
    session_reset_stats(worker);
}
