/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections by 4-tuple. */
#include "dataplane/net/conn_table.h"

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_random.h>

#define CHUNK 256u

static_assert(sizeof(struct flow_key) == 16, "no padding: the key is hashed and compared as bytes");
static_assert(CONN_TABLE_BURST <= RTE_HASH_LOOKUP_BULK_MAX, "one bulk lookup a burst");

struct conn_table {
    struct rte_hash *hash;
    unsigned limit, used, made;
    uint64_t next_id;
    struct flow_list flows, spare;
    struct flow **chunk; /* [limit / CHUNK, rounded up] */
    unsigned chunks;
};

struct conn_table *
conn_table_create(const char *name, unsigned limit)
{
    struct conn_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->limit = limit;
    table->next_id = 1;
    TAILQ_INIT(&table->flows);
    TAILQ_INIT(&table->spare);
    table->chunk = calloc((limit + CHUNK - 1) / CHUNK, sizeof(*table->chunk));
    struct rte_hash_parameters parameters = {
        .name = name,
        .entries = RTE_MAX(limit, 64u),
        .key_len = sizeof(struct flow_key),
        .hash_func = rte_hash_crc,
        .hash_func_init_val = (uint32_t)rte_rand(),
        .socket_id = (int)rte_socket_id(),
        .extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* no insert fails below the limit, whatever the keys */
    };
    table->hash = rte_hash_create(&parameters);
    if (!table->chunk || !table->hash) {
        conn_table_free(table);
        return NULL;
    }
    return table;
}

void
conn_table_free(struct conn_table *table)
{
    if (!table)
        return;
    while (!TAILQ_EMPTY(&table->flows))
        conn_table_remove(table, TAILQ_FIRST(&table->flows));
    for (unsigned i = 0; i < table->chunks; i++)
        free(table->chunk[i]);
    free(table->chunk);
    rte_hash_free(table->hash);
    free(table);
}

void
conn_table_find(struct conn_table *table, const struct flow_key *const *keys, unsigned count, struct flow **flows)
{
    const void *key[CONN_TABLE_BURST];
    void *data[CONN_TABLE_BURST];
    uint64_t found = 0;
    if (count == 0)
        return;
    for (unsigned i = 0; i < count; i++)
        key[i] = keys[i];
    rte_hash_lookup_bulk_data(table->hash, key, count, &found, data);
    for (unsigned i = 0; i < count; i++)
        flows[i] = found >> i & 1 ? data[i] : NULL;
}

static bool
grow(struct conn_table *table)
{
    if (table->made >= table->limit)
        return false;
    struct flow *chunk = calloc(CHUNK, sizeof(*chunk));
    if (!chunk)
        return false;
    table->chunk[table->chunks++] = chunk;
    for (unsigned i = 0; i < CHUNK && table->made < table->limit; i++, table->made++)
        TAILQ_INSERT_TAIL(&table->spare, &chunk[i], link);
    return true;
}

static void
begin(struct conn_table *table, struct flow *flow, const struct flow_key *key)
{
    struct stream *stream = &flow->tcp.stream;
    memset(flow, 0, sizeof(*flow));
    flow->key = *key;
    stream->id = table->next_id++;
    memcpy(stream->peer_ip, &key->peer_ip, sizeof(stream->peer_ip));
    memcpy(stream->local_ip, &key->local_ip, sizeof(stream->local_ip));
    stream->peer_port = rte_be_to_cpu_16(key->peer_port);
    stream->local_port = rte_be_to_cpu_16(key->local_port);
    TAILQ_INSERT_TAIL(&table->flows, flow, link);
}

static void
end(struct conn_table *table, struct flow *flow)
{
    bytes_free(&flow->tcp.stream.in);
    bytes_free(&flow->tcp.stream.out);
    TAILQ_REMOVE(&table->flows, flow, link);
}

struct flow *
conn_table_add(struct conn_table *table, const struct flow_key *key)
{
    if (TAILQ_EMPTY(&table->spare) && !grow(table))
        return NULL;
    struct flow *flow = TAILQ_FIRST(&table->spare);
    if (rte_hash_add_key_data(table->hash, key, flow) != 0)
        return NULL;
    TAILQ_REMOVE(&table->spare, flow, link);
    begin(table, flow, key);
    table->used++;
    return flow;
}

void
conn_table_renew(struct conn_table *table, struct flow *flow)
{
    struct flow_key key = flow->key;
    end(table, flow);
    begin(table, flow, &key);
}

void
conn_table_remove(struct conn_table *table, struct flow *flow)
{
    rte_hash_del_key(table->hash, &flow->key);
    end(table, flow);
    flow->tcp.state = TCP_CLOSED;
    TAILQ_INSERT_HEAD(&table->spare, flow, link);
    table->used--;
}

unsigned
conn_table_used(const struct conn_table *table)
{
    return table->used;
}

struct flow_list *
conn_table_flows(struct conn_table *table)
{
    return &table->flows;
}
