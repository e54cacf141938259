/* SPDX-License-Identifier: BSD-3-Clause */
/* Databases: made by their first write, emptied, swapped; old tables are given back. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/engine_internal.h"
#include "tests/unit/pmem/engine_fixture.h"

static void
fill(unsigned db, unsigned keys, const char *value)
{
    char name[32];
    for (unsigned k = 0; k < keys; k++)
        CU_ASSERT_FATAL(set(db, key_name(name, "key", k), value) == 0);
}

static unsigned
tables_in_use(void)
{
    unsigned used = 0;
    for (unsigned i = 0; i < TABLES; i++)
        used += atomic_load(&engine->table[i].id) != 0;
    return used;
}

static int
flush(uint32_t mask)
{
    batch_begin(core, fixture_now);
    int rc = databases_flush(core, mask);
    batch_commit(core);
    batch_tend(core);
    return rc;
}

static void
test_flush(void)
{
    struct engine_info empty, info;
    fixture_create(32 * MIB, 1);
    engine_info(engine, &empty);
    CU_ASSERT(flush(~0u) == 0); /* nothing there: nothing is written */
    CU_ASSERT(*engine->pool->roots_word == 0);
    fill(0, 3000, "a");
    fill(1, 100, "b");
    fill(2, 100, "c");
    CU_ASSERT(flush(1u << 0 | 1u << 2) == 0);
    CU_ASSERT(holds(0, "key:1", NULL));
    CU_ASSERT(holds(1, "key:1", "b"));
    CU_ASSERT(holds(2, "key:1", NULL));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 0);
    CU_ASSERT(set(0, "key:1", "new") == 0);
    CU_ASSERT(engine_keys(engine, 0, NULL) == 1);
    CU_ASSERT(settle(100000) < 100000);
    CU_ASSERT(tables_in_use() == 2);
    engine_info(engine, &info);
    CU_ASSERT(info.live_bytes <= 101 * 48 + 512); /* the records of 0 and 2 are dead */
    CU_ASSERT(info.segments_table == 1);
    fixture_reopen(1);
    CU_ASSERT(holds(0, "key:1", "new"));
    CU_ASSERT(holds(0, "key:2", NULL));
    CU_ASSERT(engine_keys(engine, 1, NULL) == 100);
    CU_ASSERT(engine_keys(engine, 2, NULL) == 0);
    fixture_destroy();
}

/* FLUSHALL at every stage of growth, splits under way, for more tables than there are slots at a time. */
static void
test_flush_while_it_grows(void)
{
    char name[32];
    struct engine_info info;
    fixture_create(64 * MIB, 1);
    for (unsigned round = 0; round < 2 * TABLES; round++) {
        unsigned keys = round * 37 % 3000;
        fill(round % 3, keys, "value");
        CU_ASSERT_FATAL(flush(7) == 0);
        for (unsigned k = 0; k < keys; k += 100)
            CU_ASSERT(holds(round % 3, key_name(name, "key", k), NULL));
        if (round % 16 == 0)
            fixture_reopen(1);
    }
    CU_ASSERT(settle(100000) < 100000);
    CU_ASSERT(tables_in_use() == 0);
    engine_info(engine, &info);
    CU_ASSERT(info.live_bytes <= 512); /* the ROOTS record */
    fixture_destroy();
}

static void
test_swap(void)
{
    fixture_create(32 * MIB, 1);
    fill(0, 50, "zero");
    fill(7, 20, "seven");
    batch_begin(core, fixture_now);
    CU_ASSERT(databases_swap(core, 0, 7) == 0);
    CU_ASSERT(databases_swap(core, 3, 3) == 0);
    CU_ASSERT(databases_swap(core, 4, 5) == 0); /* both empty */
    batch_commit(core);
    CU_ASSERT(holds(0, "key:1", "seven"));
    CU_ASSERT(holds(7, "key:1", "zero"));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 20);
    CU_ASSERT(engine_keys(engine, 7, NULL) == 50);
    batch_begin(core, fixture_now);
    CU_ASSERT(databases_swap(core, 0, 1) == 0); /* with an empty one */
    batch_commit(core);
    batch_tend(core);
    fixture_reopen(1);
    CU_ASSERT(holds(0, "key:1", NULL));
    CU_ASSERT(holds(1, "key:1", "seven"));
    CU_ASSERT(holds(7, "key:1", "zero"));
    fixture_destroy();
}

/* What another core did to ROOTS is told only when it is durable. */
static void
test_roots_are_helped(void)
{
    struct key key;
    struct entry entry;
    fixture_create(32 * MIB, 2);
    struct core *second = engine_core(engine, 1);
    CU_ASSERT(set(0, "k", "v") == 0);
    key_init(engine, &key, "k", 1);
    batch_begin(core, fixture_now);
    batch_begin(second, fixture_now);
    CU_ASSERT(databases_flush(core, 1) == 0);
    struct persist_counts began = persist_counts();
    CU_ASSERT(entry_read(second, 0, &key, &entry) == -ENOENT);
    batch_commit(second);
    CU_ASSERT(persist_counts().lines == began.lines + 1);
    CU_ASSERT(persist_counts().fences == began.fences + 1);
    batch_commit(core);
    batch_begin(second, fixture_now);
    began = persist_counts();
    CU_ASSERT(entry_read(second, 0, &key, &entry) == -ENOENT);
    batch_commit(second);
    CU_ASSERT(persist_counts().fences == began.fences);
    fixture_destroy();
}

/* A SWAPDB that may still be lost is made durable before a write that it led to is published. */
static void
test_writes_settle_roots(void)
{
    fixture_create(32 * MIB, 2);
    struct core *first = core, *second = engine_core(engine, 1);
    fill(0, 1, "zero");
    fill(1, 1, "one");
    core = second;
    CU_ASSERT(set(3, "k", "v") == 0); /* its segment is open by now */
    core = first;
    batch_begin(first, fixture_now);
    batch_begin(second, fixture_now);
    CU_ASSERT(databases_swap(first, 0, 1) == 0);
    core = second;
    uint64_t began = persist_counts().lines;
    CU_ASSERT(put(0, "key:0", "", 0, 0) == 0);
    CU_ASSERT(put(0, "key:0", "", 0, 0) == 0);
    uint64_t lines = persist_counts().lines - began; /* two records of 32 bytes, and ROOTS once */
    CU_ASSERT(lines >= 1 + 2 && lines <= 1 + 4);
    core = first;
    batch_commit(first);
    core = second;
    began = persist_counts().lines;
    CU_ASSERT(put(0, "key:0", "", 0, 0) == 0);
    CU_ASSERT(persist_counts().lines - began <= 2);
    batch_commit(second);
    core = first;
    CU_ASSERT(holds(0, "key:0", ""));
    fixture_destroy();
}

/* A table is not given back while a core may be in it. */
static void
test_old_root_stays_for_those_in_it(void)
{
    struct key key;
    struct entry entry;
    fixture_create(32 * MIB, 2);
    struct core *second = engine_core(engine, 1);
    fill(0, 100, "value");
    key_init(engine, &key, "key:5", 5);
    batch_begin(second, fixture_now);
    CU_ASSERT(entry_read(second, 0, &key, &entry) == 0);
    CU_ASSERT(flush(1) == 0);
    CU_ASSERT(settle(1000) == 1000); /* waits for the second core */
    CU_ASSERT(tables_in_use() == 1);
    CU_ASSERT(memcmp(entry.value, "value", 5) == 0);
    batch_commit(second);
    core_offline(second);
    CU_ASSERT(settle(1000) < 1000);
    CU_ASSERT(tables_in_use() == 0);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"flush", test_flush},
    {"flush while it grows", test_flush_while_it_grows},
    {"swap", test_swap},
    {"roots are helped", test_roots_are_helped},
    {"writes settle ROOTS", test_writes_settle_roots},
    {"an old root stays for those in it", test_old_root_stays_for_those_in_it},
};
UNIT_MAIN("pmem/roots", tests)
