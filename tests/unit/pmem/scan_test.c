/* SPDX-License-Identifier: BSD-3-Clause */
/* SCAN and RANDOMKEY: every key that stays is met, whatever the table does meanwhile. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/pmem/engine_fixture.h"

#define STAY 5000u

struct seen {
    unsigned times[STAY], others, calls;
};

static void
visit(const struct slice *key, const struct entry *entry, void *arg)
{
    struct seen *seen = arg;
    char name[32] = {0};
    memcpy(name, key->data, key->len < 31 ? key->len : 31);
    seen->calls++;
    if (strncmp(name, "stay:", 5) != 0) {
        seen->others++;
        return;
    }
    unsigned k = (unsigned)strtoul(name + 5, NULL, 10);
    CU_ASSERT_FATAL(k < STAY);
    CU_ASSERT(entry->len == 5 && memcmp(entry->value, "value", 5) == 0);
    seen->times[k]++;
}

static void
fill(const char *prefix, unsigned from, unsigned to)
{
    char name[32];
    for (unsigned k = from; k < to; k++)
        CU_ASSERT_FATAL(set(0, key_name(name, prefix, k), "value") == 0);
}

static uint64_t
scan_step(uint64_t cursor, unsigned count, struct seen *seen)
{
    batch_begin(core, fixture_now);
    cursor = entry_scan(core, 0, cursor, count, visit, seen);
    batch_commit(core);
    batch_tend(core);
    CU_ASSERT(cursor < 1ull << 48);
    return cursor;
}

static void
check_each(const struct seen *seen, unsigned most)
{
    unsigned missed = 0, often = 0;
    for (unsigned k = 0; k < STAY; k++) {
        missed += seen->times[k] == 0;
        often += seen->times[k] > most;
    }
    CU_ASSERT(missed == 0);
    CU_ASSERT(often == 0);
}

static void
test_scan_at_rest(void)
{
    fixture_create(32 * MIB, 1);
    static struct seen seen;
    CU_ASSERT(scan_step(0, 10, &seen) == 0); /* an empty database is over at once */
    CU_ASSERT(seen.calls == 0);
    fill("few", 0, 3);
    CU_ASSERT(scan_step(0, 10, &seen) == 0); /* and a small one in one call */
    CU_ASSERT(seen.calls == 3);
    fill("stay", 0, STAY);
    CU_ASSERT(settle(10000) < 10000);
    static const unsigned counts[] = {1, 10, 100, 100000};
    for (unsigned i = 0; i < 4; i++) {
        memset(&seen, 0, sizeof(seen));
        uint64_t cursor = 0, before = 0;
        do {
            unsigned calls = seen.calls;
            cursor = scan_step(cursor, counts[i], &seen);
            CU_ASSERT(cursor == 0 || cursor > before);
            CU_ASSERT(seen.calls - calls < counts[i] + 60); /* about count */
            before = cursor;
        } while (cursor);
        check_each(&seen, 1);
        CU_ASSERT(seen.others == 3);
    }
    fixture_destroy();
}

static void
test_scan_while_it_grows(void)
{
    static struct seen seen;
    fixture_create(64 * MIB, 1);
    memset(&seen, 0, sizeof(seen));
    fill("stay", 0, STAY);
    uint64_t cursor = 0;
    unsigned added = 0;
    char name[32];
    do {
        cursor = scan_step(cursor, 10, &seen);
        fill("come", added, added + 60);
        for (unsigned k = added; k < added + 60; k += 2)
            CU_ASSERT(unset(0, key_name(name, "come", k)) == 1);
        added += 60;
    } while (cursor);
    struct engine_info info;
    engine_info(engine, &info);
    CU_ASSERT(info.splits > 15);
    check_each(&seen, 2);
    fixture_destroy();
}

/* Any number is taken for a cursor. */
static void
test_strange_cursors(void)
{
    static struct seen seen;
    fixture_create(32 * MIB, 1);
    fill("stay", 0, 2000);
    static const uint64_t cursors[] = {1, 12345678901234, (1ull << 48) - 1, 1ull << 48, ~0ull};
    for (unsigned i = 0; i < 5; i++) {
        unsigned steps = 0;
        for (uint64_t cursor = cursors[i]; cursor && steps < 10000; steps++)
            cursor = scan_step(cursor, 100, &seen);
        CU_ASSERT(steps < 10000);
    }
    fixture_destroy();
}

static void
test_expired_keys_are_left_out(void)
{
    static struct seen seen;
    fixture_create(32 * MIB, 1);
    memset(&seen, 0, sizeof(seen));
    batch_begin(core, fixture_now);
    CU_ASSERT(put(0, "gone", "x", 1, (int64_t)fixture_now - 1) == 0);
    CU_ASSERT(put(0, "here", "x", 1, (int64_t)fixture_now + 1) == 0);
    CU_ASSERT(entry_scan(core, 0, 0, 10, visit, &seen) == 0);
    batch_commit(core);
    CU_ASSERT(seen.calls == 1);
    CU_ASSERT(engine_keys(engine, 0, NULL) == 1);
    fixture_destroy();
}

static void
test_random(void)
{
    static unsigned met[8];
    struct slice key;
    char name[32];
    fixture_create(32 * MIB, 1);
    batch_begin(core, fixture_now);
    CU_ASSERT(entry_random(core, 0, 1, &key) == -ENOENT);
    batch_commit(core);
    fill("k", 0, 8);
    for (unsigned seed = 0; seed < 2000; seed++) {
        batch_begin(core, fixture_now);
        CU_ASSERT_FATAL(entry_random(core, 0, seed, &key) == 0);
        CU_ASSERT_FATAL(key.len == 3 && memcmp(key.data, "k:", 2) == 0);
        met[((const char *)key.data)[2] - '0']++;
        batch_commit(core);
    }
    for (unsigned k = 0; k < 8; k++)
        CU_ASSERT(met[k] > 25);
    for (unsigned k = 0; k < 8; k++)
        CU_ASSERT(unset(0, key_name(name, "k", k)) == 1);
    batch_begin(core, fixture_now);
    CU_ASSERT(entry_random(core, 0, 1, &key) == -ENOENT);
    batch_commit(core);
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"scan at rest", test_scan_at_rest},
    {"scan while it grows", test_scan_while_it_grows},
    {"strange cursors", test_strange_cursors},
    {"expired keys are left out", test_expired_keys_are_left_out},
    {"random", test_random},
};
UNIT_MAIN("pmem/scan", tests)
