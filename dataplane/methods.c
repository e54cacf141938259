/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC methods of the dataplane. They run on the housekeeping thread; what touches a core goes by mailbox. */
#include "dataplane/methods.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dataplane/command/command.h"
#include "dataplane/mailbox.h"
#include "dataplane/server.h"

#define ANSWER_MS 1000

static uint64_t
wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Call a core; on success the message is the caller's again. False: *message is gone, error is filled. */
static bool
ask_core(struct worker *worker, struct message *message, message_fn run, char *error, size_t error_size)
{
    int rc = mailbox_call(worker, message, run, ANSWER_MS);
    if (rc == 0)
        return true;
    snprintf(error, error_size, "core %u did not answer within %d ms", worker->index, ANSWER_MS);
    if (rc == -ENOBUFS)
        free(message);
    return false;
}

static void *
message_new(size_t size, char *error, size_t error_size)
{
    void *message = calloc(1, size);
    if (!message)
        snprintf(error, error_size, "out of memory");
    return message;
}

/* ---- ping, info, pool.info, shutdown ---- */

static json_t *
method_ping(void *context, json_t *params, char *error, size_t error_size)
{
    (void)context, (void)params, (void)error, (void)error_size;
    return json_string("pong");
}

static json_t *
method_info(void *context, json_t *params, char *error, size_t error_size)
{
    const struct server *server = context;
    (void)params, (void)error, (void)error_size;
    return json_pack("{s:s, s:i, s:s, s:I, s:I, s:s, s:s, s:s, s:I, s:i, s:i}", "version", POLLUX_VERSION, "pid",
                     (int)getpid(), "run_id", server->run_id, "started_ms", (json_int_t)server->started_ms, "uptime_s",
                     (json_int_t)((wall_ms() - server->started_ms) / 1000), "port_kind", server->port_kind, "device",
                     server->settings.device, "bind", server->settings.bind, "port", (json_int_t)server->settings.port,
                     "cores", (int)server->cores, "clients", (int)atomic_load(&((struct server *)context)->clients));
}

static json_t *
method_pool_info(void *context, json_t *params, char *error, size_t error_size)
{
    const struct server *server = context;
    struct engine_info info;
    (void)params, (void)error, (void)error_size;
    engine_info(server->engine, &info);
    json_t *result = json_object();
    json_object_set_new(result, "path", json_string(info.path));
    json_object_set_new(result, "uuid", json_string(info.uuid));
    json_object_set_new(result, "domain", json_string(persistence_domain_name(info.domain)));
    json_object_set_new(result, "survives_power_loss", json_boolean(info.domain != DOMAIN_EMULATED));
    json_object_set_new(result, "was_clean", json_boolean(info.was_clean));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"size", info.size},
        {"segments", info.segments},
        {"segments_free", info.segments_free},
        {"segments_table", info.segments_table},
        {"live_bytes", info.live_bytes},
        {"garbage_bytes", info.garbage_bytes},
        {"writable_bytes", info.writable_bytes},
        {"dirty_shutdowns", info.dirty_shutdowns},
        {"created_ms", info.created_ms},
        {"open_us", info.open_us},
        {"walked_keys", info.walked_keys},
        {"compacted_bytes", info.compacted_bytes},
        {"splits", info.splits},
        {"crc_errors", info.crc_errors},
        {"expired", info.expired},
    };
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        json_object_set_new(result, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    json_t *keys = json_array();
    for (unsigned db = 0; db < DATABASES; db++)
        json_array_append_new(keys, json_integer((json_int_t)engine_keys(server->engine, db, NULL)));
    json_object_set_new(result, "keys", keys);
    return result;
}

static json_t *
method_shutdown(void *context, json_t *params, char *error, size_t error_size)
{
    struct server *server = context;
    (void)params, (void)error, (void)error_size;
    atomic_store(&server->stop, true);
    return json_true();
}

/* ---- settings: read and changed on core 0, whose they are ---- */

struct settings_message {
    struct message message;
    struct settings settings;
};

static void
copy_settings(struct worker *worker, struct message *message)
{
    ((struct settings_message *)message)->settings = worker->server->settings;
}

static json_t *
method_config_get(void *context, json_t *params, char *error, size_t error_size)
{
    struct server *server = context;
    const char *pattern = json_string_value(json_object_get(params, "pattern"));
    struct settings_message *copy = message_new(sizeof(*copy), error, error_size);
    if (!copy || !ask_core(&server->worker[0], &copy->message, copy_settings, error, error_size))
        return NULL;
    json_t *result = json_object();
    for (unsigned i = 0; i < setting_count; i++) {
        char text[SETTING_STRING_MAX];
        if (fnmatch(pattern ? pattern : "*", setting_table[i].name, FNM_CASEFOLD) != 0)
            continue;
        setting_get(&copy->settings, &setting_table[i], text, sizeof(text));
        json_object_set_new(result, setting_table[i].name, json_string(text));
    }
    free(copy);
    return result;
}

#define MAX_CHANGES 64

struct change_message {
    struct message message;
    struct setting_change change[MAX_CHANGES];
    char name[MAX_CHANGES][64], value[MAX_CHANGES][SETTING_STRING_MAX];
    unsigned count, culprit;
    int result;
    char error[256];
};

static void
change_settings(struct worker *worker, struct message *message)
{
    struct change_message *change = (struct change_message *)message;
    struct server *server = worker->server;
    change->result = -EAGAIN;
    if (atomic_flag_test_and_set(&server->settings_latch))
        return;
    change->result = settings_change(&server->settings, change->change, change->count, &change->culprit, change->error,
                                     sizeof(change->error));
    atomic_flag_clear(&server->settings_latch);
}

/* A JSON value as it would stand in a config file. */
static bool
value_text(const json_t *value, char *text, size_t size)
{
    int len = -1;
    if (json_is_string(value))
        len = snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_integer(value))
        len = snprintf(text, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        len = snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    return len >= 0 && (size_t)len < size;
}

static bool
fill_changes(struct change_message *change, json_t *params, char *error, size_t error_size)
{
    const char *name;
    json_t *value;
    json_object_foreach(params, name, value)
    {
        unsigned i = change->count;
        if (i == MAX_CHANGES || strlen(name) >= sizeof(change->name[i]) ||
            !value_text(value, change->value[i], sizeof(change->value[i]))) {
            snprintf(error, error_size, "'%.64s': too many settings, or a value that is not text, number or boolean",
                     name);
            return false;
        }
        snprintf(change->name[i], sizeof(change->name[i]), "%s", name);
        change->change[i] = (struct setting_change){change->name[i], change->value[i]};
        change->count++;
    }
    return true;
}

static json_t *
method_config_set(void *context, json_t *params, char *error, size_t error_size)
{
    struct server *server = context;
    struct change_message *change = message_new(sizeof(*change), error, error_size);
    if (!change)
        return NULL;
    if (!fill_changes(change, params, error, error_size)) {
        free(change);
        return NULL;
    }
    do {
        if (!ask_core(&server->worker[0], &change->message, change_settings, error, error_size))
            return NULL;
    } while (change->result == -EAGAIN); /* another core is changing settings at this moment */
    json_t *result = change->result == 0 ? json_true() : NULL;
    if (!result)
        snprintf(error, error_size, "%s: %s", change->name[change->culprit], change->error);
    free(change);
    return result;
}

/* ---- clients: copied in slices, so that a core is not held up by many ---- */

#define CLIENTS_A_SLICE 64u

struct client_row {
    uint64_t id, created_ms, last_ms, commands;
    uint8_t peer_ip[4];
    uint16_t peer_port;
    uint8_t db, protocol;
    uint32_t in, out;
    char name[64], library[80], command[64];
};

struct clients_message {
    struct message message;
    unsigned from, count;
    bool more;
    struct client_row row[CLIENTS_A_SLICE];
};

static void
copy_clients(struct worker *worker, struct message *message)
{
    struct clients_message *slice = (struct clients_message *)message;
    slice->count = 0;
    for (unsigned i = slice->from; i < worker->clients_used && slice->count < CLIENTS_A_SLICE; i++) {
        const struct client *client = worker->clients[i];
        struct client_row *row = &slice->row[slice->count++];
        *row = (struct client_row){
            .id = client->id,
            .created_ms = client->created_ms,
            .last_ms = client->last_ms,
            .commands = client->commands,
            .peer_port = client->stream->peer_port,
            .db = client->db,
            .protocol = client->protocol,
            .in = client->stream->in.len,
            .out = client->stream->out.len,
        };
        memcpy(row->peer_ip, client->stream->peer_ip, sizeof(row->peer_ip));
        memcpy(row->name, client->name, sizeof(row->name));
        snprintf(row->library, sizeof(row->library), "%s%s%s", client->lib_name, client->lib_version[0] ? " " : "",
                 client->lib_version);
        snprintf(row->command, sizeof(row->command), "%s", client->last_command ? client->last_command->full_name : "");
    }
    slice->more = slice->from + slice->count < worker->clients_used;
}

static json_t *
client_json(const struct client_row *row, unsigned core, uint64_t now_ms)
{
    char address[32];
    snprintf(address, sizeof(address), "%u.%u.%u.%u:%u", row->peer_ip[0], row->peer_ip[1], row->peer_ip[2],
             row->peer_ip[3], row->peer_port);
    return json_pack(
        "{s:I, s:s, s:i, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:s, s:I, s:I}", "id", (json_int_t)row->id, "address",
        address, "core", (int)core, "name", row->name, "library", row->library, "db", (int)row->db, "protocol",
        (int)row->protocol, "age_s", (json_int_t)((now_ms - row->created_ms) / 1000), "idle_s",
        (json_int_t)((now_ms - row->last_ms) / 1000), "commands", (json_int_t)row->commands, "last_command",
        row->command, "input_bytes", (json_int_t)row->in, "output_bytes", (json_int_t)row->out);
}

static json_t *
method_clients(void *context, json_t *params, char *error, size_t error_size)
{
    struct server *server = context;
    json_t *result = json_array();
    (void)params;
    for (unsigned core = 0; core < server->cores; core++) {
        struct clients_message *slice = message_new(sizeof(*slice), error, error_size);
        do {
            if (!slice || !ask_core(&server->worker[core], &slice->message, copy_clients, error, error_size)) {
                json_decref(result);
                return NULL;
            }
            for (unsigned i = 0; i < slice->count; i++)
                json_array_append_new(result, client_json(&slice->row[i], core, wall_ms()));
            slice->from += slice->count;
        } while (slice->more);
        free(slice);
    }
    return result;
}

struct kill_message {
    struct message message;
    uint64_t id;
    bool found;
};

static void
kill_client(struct worker *worker, struct message *message)
{
    struct kill_message *kill = (struct kill_message *)message;
    for (unsigned i = 0; i < worker->clients_used && !kill->found; i++) {
        struct stream *stream = worker->clients[i]->stream;
        if (worker->clients[i]->id != kill->id)
            continue;
        kill->found = true;
        stream->abort = true;
        if (stream->dirty)
            continue;
        stream->dirty = true;
        TAILQ_INSERT_TAIL(worker->transport.dirty, stream, dirty_link);
    }
}

static json_t *
method_client_kill(void *context, json_t *params, char *error, size_t error_size)
{
    struct server *server = context;
    json_int_t id = json_integer_value(json_object_get(params, "id"));
    bool found = false;
    for (unsigned core = 0; core < server->cores && !found; core++) {
        struct kill_message *kill = message_new(sizeof(*kill), error, error_size);
        if (!kill)
            return NULL;
        kill->id = (uint64_t)id;
        if (!ask_core(&server->worker[core], &kill->message, kill_client, error, error_size))
            return NULL;
        found = kill->found;
        free(kill);
    }
    if (!found)
        snprintf(error, error_size, "no client has the id %lld", (long long)id);
    return found ? json_true() : NULL;
}

const struct rpc_method dataplane_methods[] = {
    {"ping", method_ping},
    {"info", method_info},
    {"pool.info", method_pool_info},
    {"config.get", method_config_get},
    {"config.set", method_config_set},
    {"clients", method_clients},
    {"client.kill", method_client_kill},
    {"shutdown", method_shutdown},
    {NULL, NULL},
};
