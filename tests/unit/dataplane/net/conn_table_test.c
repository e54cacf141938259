/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: found by all four parts of their address, bounded, given back. */
#include "dataplane/net/conn_table.h"

#include <stddef.h>
#include <string.h>

#include "tests/unit/dataplane/net/wire.h"
#include "tests/unit/unit.h"

static struct flow_key
key_of(unsigned i)
{
    return (struct flow_key){
        .peer_ip = wire_ip(10, 1, i >> 16 & 255, i >> 8 & 255),
        .local_ip = wire_ip(10, 0, 0, 2),
        .peer_port = (uint16_t)i,
        .local_port = 6379,
    };
}

static struct flow *
find(struct conn_table *table, const struct flow_key *key)
{
    struct flow *flow;
    conn_table_find(table, &key, 1, &flow);
    return flow;
}

static void
each_part_of_the_key_counts(void)
{
    struct conn_table *table = conn_table_create("keys", 100);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    struct flow_key key = key_of(1);
    struct flow *flow = conn_table_add(table, &key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(flow);
    CU_ASSERT_PTR_EQUAL(find(table, &key), flow);
    for (unsigned byte = 0; byte < offsetof(struct flow_key, zero); byte++) {
        struct flow_key other = key;
        ((uint8_t *)&other)[byte] ^= 0x40;
        CU_ASSERT_PTR_NULL(find(table, &other));
    }
    conn_table_free(table);
}

static void
limit_and_reuse(void)
{
    enum { LIMIT = 1000 };
    struct conn_table *table = conn_table_create("limit", LIMIT);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    for (unsigned i = 0; i < LIMIT; i++) {
        struct flow_key key = key_of(i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(conn_table_add(table, &key));
    }
    struct flow_key more = key_of(LIMIT), gone = key_of(17);
    CU_ASSERT_PTR_NULL(conn_table_add(table, &more));
    CU_ASSERT_EQUAL(conn_table_used(table), LIMIT);
    conn_table_remove(table, find(table, &gone));
    CU_ASSERT_PTR_NULL(find(table, &gone));
    CU_ASSERT_PTR_NOT_NULL(conn_table_add(table, &more));
    for (unsigned i = 0; i < LIMIT; i += 32) {
        struct flow_key keys[32];
        const struct flow_key *pointers[32];
        struct flow *flows[32];
        unsigned count = LIMIT - i < 32 ? LIMIT - i : 32;
        for (unsigned k = 0; k < count; k++) {
            keys[k] = key_of(i + k);
            pointers[k] = &keys[k];
        }
        conn_table_find(table, pointers, count, flows);
        for (unsigned k = 0; k < count; k++)
            CU_ASSERT(i + k == 17 ? !flows[k] : flows[k] && memcmp(&flows[k]->key, &keys[k], sizeof(keys[k])) == 0);
    }
    conn_table_free(table);
}

static void
a_new_flow_is_clean_and_has_a_new_id(void)
{
    struct conn_table *table = conn_table_create("clean", 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    struct flow_key key = key_of(5);
    struct flow *flow = conn_table_add(table, &key);
    uint64_t first = flow->tcp.stream.id;
    bytes_append(&flow->tcp.stream.in, "abc", 3);
    flow->opened = true;
    conn_table_renew(table, flow);
    CU_ASSERT_PTR_EQUAL(find(table, &key), flow);
    CU_ASSERT_EQUAL(flow->tcp.stream.in.len, 0);
    CU_ASSERT_FALSE(flow->opened);
    CU_ASSERT_NOT_EQUAL(flow->tcp.stream.id, first);
    conn_table_remove(table, flow);
    flow = conn_table_add(table, &key);
    CU_ASSERT(flow->tcp.stream.id > first + 1);
    CU_ASSERT_EQUAL(flow->tcp.stream.in.len, 0);
    CU_ASSERT_EQUAL(conn_table_used(table), 1);
    conn_table_free(table);
}

/* HARDENING: no leak after 10^6 cycles. */
static void
a_million_connections_come_and_go(void)
{
    struct conn_table *table = conn_table_create("cycles", 64);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    struct flow *held[64] = {0};
    for (unsigned i = 0; i < 1000000; i++) {
        struct flow_key key = key_of(i);
        if (held[i % 64])
            conn_table_remove(table, held[i % 64]);
        held[i % 64] = conn_table_add(table, &key);
        CU_ASSERT_PTR_NOT_NULL_FATAL(held[i % 64]);
    }
    CU_ASSERT_EQUAL(conn_table_used(table), 64);
    for (unsigned i = 0; i < 64; i++)
        conn_table_remove(table, held[i]);
    CU_ASSERT_EQUAL(conn_table_used(table), 0);
    CU_ASSERT(TAILQ_EMPTY(conn_table_flows(table)));
    conn_table_free(table);
}

static const struct unit_test tests[] = {
    {"each part of the key counts", each_part_of_the_key_counts},
    {"limit and reuse", limit_and_reuse},
    {"a new flow is clean and has a new id", a_new_flow_is_clean_and_has_a_new_id},
    {"a million connections come and go", a_million_connections_come_and_go},
};

int
main(void)
{
    wire_start();
    return unit_main("conn_table", tests, sizeof(tests) / sizeof(tests[0]));
}
