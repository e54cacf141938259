/* SPDX-License-Identifier: BSD-3-Clause */
/* Growth: pages split and directories double while keys come, change and go; nothing is lost, at no point of it. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/pmem/engine_fixture.h"

#define BATCH 32

/* Insert keys [from, to) in batches, as a server would: what is put off runs again first in the next batch. */
static unsigned
insert_range(uint64_t from, uint64_t to)
{
    char name[32], value[32];
    unsigned deferred = 0;
    while (from < to) {
        batch_begin(core, fixture_now);
        for (unsigned n = 0; n < BATCH && from < to; n++) {
            key_name(value, "value", from);
            int rc = put(0, key_name(name, "key", from), value, strlen(value), 0);
            if (rc == -EAGAIN) {
                deferred++;
                break;
            }
            CU_ASSERT_FATAL(rc == 0);
            from++;
        }
        batch_commit(core);
        batch_tend(core);
    }
    return deferred;
}

static uint64_t
count_wrong(uint64_t from, uint64_t to)
{
    char name[32], value[32];
    uint64_t wrong = 0;
    for (; from < to; from++)
        wrong += !holds(0, key_name(name, "key", from), key_name(value, "value", from));
    return wrong;
}

static void
test_growth(void)
{
    struct engine_info info;
    struct core_counts counts;
    fixture_create(128 * MIB, 1);
    insert_range(0, 200000);
    CU_ASSERT(count_wrong(0, 200000) == 0);
    CU_ASSERT(engine_keys(engine, 0, NULL) == 200000);
    CU_ASSERT(settle(10000) < 10000);
    engine_info(engine, &info);
    core_counts(core, &counts);
    printf("splits %llu deferred %llu table segments %llu ", (unsigned long long)info.splits,
           (unsigned long long)counts.deferred, (unsigned long long)info.segments_table);
    CU_ASSERT(info.splits > 127);
    CU_ASSERT(counts.deferred < 2000);
    fixture_reopen(1);
    engine_info(engine, &info);
    CU_ASSERT(info.walked_keys == 200000);
    CU_ASSERT(count_wrong(0, 200000) == 0);
    fixture_destroy();
}

/* At every step of growth: some keys overwritten, some deleted and inserted anew, all read. */
static void
test_changes_while_it_grows(void)
{
    char name[32];
    fixture_create(64 * MIB, 1);
    for (uint64_t i = 0; i < 4000; i += 50) {
        insert_range(i, i + 50);
        for (uint64_t k = 0; k < i; k += 37) {
            CU_ASSERT(unset(0, key_name(name, "key", k)) == 1);
            CU_ASSERT(holds(0, key_name(name, "key", k), NULL));
            insert_range(k, k + 1);
        }
        CU_ASSERT(count_wrong(0, i + 50) == 0);
        CU_ASSERT(engine_keys(engine, 0, NULL) == i + 50);
    }
    fixture_destroy();
}

/* Close at any step of a split: the next opener goes on with it. */
static void
test_reopen_while_it_grows(void)
{
    struct engine_info info;
    uint64_t splits = 0;
    fixture_create(32 * MIB, 1);
    for (uint64_t i = 0; i < 6000; i += 20) {
        insert_range(i, i + 20);
        engine_info(engine, &info);
        splits += info.splits;
        fixture_reopen(1 + i / 20 % 3);
        CU_ASSERT(engine_keys(engine, 0, NULL) == i + 20);
        CU_ASSERT(i % 100 || count_wrong(0, i + 20) == 0);
        engine_info(engine, &info);
        CU_ASSERT(info.walked_keys == i + 20);
    }
    CU_ASSERT(count_wrong(0, 6000) == 0);
    CU_ASSERT(splits >= 7);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"growth", test_growth},
    {"changes while it grows", test_changes_while_it_grows},
    {"reopen while it grows", test_reopen_while_it_grows},
};
UNIT_MAIN("pmem/split", tests)
