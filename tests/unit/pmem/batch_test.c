/* SPDX-License-Identifier: BSD-3-Clause */
/* What a batch costs: two fences at most, none where nothing depends on one, and no line flushed in vain. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/persist.h"
#include "tests/unit/pmem/engine_fixture.h"

#define BATCH  32u
#define KEYS   20000u
#define ROUNDS 400u
#define SPARE  3u /* lines that the end of one batch's records shares with the next, and of a newly opened segment */

static uint64_t seed = 20240229;

static uint64_t
random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void
fill(void)
{
    char name[32];
    fixture_create(64 * MIB, 1);
    for (unsigned k = 0; k < KEYS; k++)
        CU_ASSERT_FATAL(set(0, key_name(name, "key", k), "value") == 0);
    CU_ASSERT(settle(10000) < 10000);
}

static struct persist_counts
since(struct persist_counts began)
{
    struct persist_counts now = persist_counts();
    return (struct persist_counts){.lines = now.lines - began.lines, .fences = now.fences - began.fences};
}

/* Overwrites: the records, back to back, and one line a key at most; two where the key's word is in a stash. */
static void
test_cost_of_overwrites(void)
{
    static char value[128];
    uint64_t lines = 0, most_fences = 0, appended = 0;
    struct core_counts counts;
    fill();
    for (unsigned round = 0; round < ROUNDS; round++) {
        char name[BATCH][32];
        struct hint hint[BATCH];
        struct core_counts before;
        core_counts(core, &before);
        struct persist_counts began = persist_counts();
        batch_begin(core, fixture_now);
        for (unsigned i = 0; i < BATCH; i++) {
            key_name(name[i], "key", random_next() % KEYS);
            CU_ASSERT(put_prepare(0, name[i], value, sizeof(value), &hint[i]) == 1);
        }
        batch_prepared(core);
        for (unsigned i = 0; i < BATCH; i++)
            CU_ASSERT(put_hinted(0, name[i], value, sizeof(value), &hint[i]) == 0);
        batch_commit(core);
        struct persist_counts cost = since(began);
        core_counts(core, &counts);
        uint64_t bytes = counts.appended_bytes - before.appended_bytes;
        lines += cost.lines;
        appended += bytes;
        most_fences = cost.fences > most_fences ? cost.fences : most_fences;
        CU_ASSERT(cost.lines <= (bytes + 63) / 64 + 2 * BATCH + SPARE);
        batch_tend(core);
    }
    CU_ASSERT(most_fences == 2);
    CU_ASSERT(counts.hints_stale == 0);
    printf("%.2f lines a write, %.2f of them records  ", (double)lines / ROUNDS / BATCH,
           (double)appended / 64 / ROUNDS / BATCH);
    CU_ASSERT(lines <= appended / 64 + ROUNDS * (BATCH * 5 / 4 + SPARE)); /* a quarter of the keys in stashes at most */
    fixture_destroy();
}

/* One key, many times in a batch: its line is flushed once. */
static void
test_lines_are_flushed_once(void)
{
    char value[16];
    fill();
    batch_begin(core, fixture_now);
    struct core_counts before, after;
    core_counts(core, &before);
    struct persist_counts began = persist_counts();
    struct hint hint[BATCH];
    for (unsigned i = 0; i < BATCH; i++)
        put_prepare(0, "key:7", value, (size_t)snprintf(value, sizeof(value), "%u", i), &hint[i]);
    batch_prepared(core);
    for (unsigned i = 0; i < BATCH; i++)
        put_hinted(0, "key:7", value, (size_t)snprintf(value, sizeof(value), "%u", i), &hint[i]);
    batch_commit(core);
    struct persist_counts cost = since(began);
    core_counts(core, &after);
    CU_ASSERT(cost.fences == 2);
    CU_ASSERT(cost.lines <= (after.appended_bytes - before.appended_bytes + 63) / 64 + 2 + 1);
    CU_ASSERT(after.hints_used - before.hints_used == BATCH);
    CU_ASSERT(holds(0, "key:7", "31"));
    fixture_destroy();
}

/* Reads of what is durable, misses too, cost no flush and no fence. */
static void
test_reads_cost_nothing(void)
{
    char name[32];
    fill();
    struct persist_counts began = persist_counts();
    for (unsigned k = 0; k < 2 * KEYS; k += 3)
        CU_ASSERT(holds(0, key_name(name, "key", k), k < KEYS ? "value" : NULL));
    struct persist_counts cost = since(began);
    CU_ASSERT(cost.lines == 0);
    CU_ASSERT(cost.fences == 0);
    fixture_destroy();
}

/* Deletes append nothing: one fence. The absence that they leave is told by others only when it is durable. */
static void
test_cost_of_deletes(void)
{
    char name[32];
    bool deleted;
    fill();
    struct persist_counts began = persist_counts();
    batch_begin(core, fixture_now);
    for (unsigned k = 0; k < BATCH; k++)
        CU_ASSERT(del(0, key_name(name, "key", k), &deleted) == 0 && deleted);
    batch_commit(core);
    struct persist_counts cost = since(began);
    CU_ASSERT(cost.fences == 1);
    CU_ASSERT(cost.lines <= 2 * BATCH);
    batch_tend(core);
    fixture_destroy();
}

/* Another core's write that is not committed yet: who tells it makes it durable, value or absence. */
static void
test_help_for_another_core(void)
{
    bool deleted;
    struct key key;
    struct entry entry;
    fixture_create(16 * MIB, 2);
    struct core *first = core, *second = engine_core(engine, 1);
    CU_ASSERT(set(0, "k", "old") == 0);
    batch_begin(first, fixture_now);
    batch_begin(second, fixture_now);
    CU_ASSERT(put(0, "k", "new", 3, 0) == 0);
    key_init(engine, &key, "k", 1);
    struct persist_counts began = persist_counts();
    CU_ASSERT(entry_read(second, 0, &key, &entry) == 0 && memcmp(entry.value, "new", 3) == 0);
    batch_commit(second);
    CU_ASSERT(since(began).lines == 1);
    CU_ASSERT(since(began).fences == 1);
    batch_commit(first);
    batch_begin(first, fixture_now);
    batch_begin(second, fixture_now);
    CU_ASSERT(del(0, "k", &deleted) == 0 && deleted);
    began = persist_counts();
    CU_ASSERT(entry_read(second, 0, &key, &entry) == -ENOENT);
    batch_commit(second);
    CU_ASSERT(since(began).lines == 1);
    CU_ASSERT(since(began).fences == 1);
    batch_commit(first);
    batch_begin(second, fixture_now);
    began = persist_counts();
    CU_ASSERT(entry_read(second, 0, &key, &entry) == -ENOENT);
    batch_commit(second);
    CU_ASSERT(since(began).fences == 0); /* durable by now */
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"cost of overwrites", test_cost_of_overwrites},       {"lines are flushed once", test_lines_are_flushed_once},
    {"reads cost nothing", test_reads_cost_nothing},       {"cost of deletes", test_cost_of_deletes},
    {"help for another core", test_help_for_another_core},
};
UNIT_MAIN("pmem/batch", tests)
