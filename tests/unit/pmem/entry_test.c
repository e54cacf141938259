/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and changing single keys, on one core. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/record.h"
#include "tests/unit/pmem/engine_fixture.h"

static void
test_set_get_delete(void)
{
    fixture_create(16 * MIB, 1);
    CU_ASSERT(holds(0, "a", NULL));
    CU_ASSERT(set(0, "a", "1") == 0);
    CU_ASSERT(holds(0, "a", "1"));
    CU_ASSERT(holds(0, "b", NULL));
    CU_ASSERT(set(0, "a", "twenty-two") == 0);
    CU_ASSERT(holds(0, "a", "twenty-two"));
    CU_ASSERT(set(0, "", "empty key") == 0);
    CU_ASSERT(holds(0, "", "empty key"));
    CU_ASSERT(set(0, "empty", "") == 0);
    CU_ASSERT(holds(0, "empty", ""));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 3);
    CU_ASSERT(unset(0, "a") == 1);
    CU_ASSERT(unset(0, "a") == 0);
    CU_ASSERT(holds(0, "a", NULL));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 2);
    fixture_destroy();
}

static void
test_databases_are_apart(void)
{
    fixture_create(32 * MIB, 1);
    for (unsigned db = 0; db < DATABASES; db++) {
        char value[8] = {(char)('a' + db), 0};
        CU_ASSERT(set(db, "k", value) == 0);
    }
    for (unsigned db = 0; db < DATABASES; db++) {
        char value[8] = {(char)('a' + db), 0};
        CU_ASSERT(holds(db, "k", value));
        CU_ASSERT(engine_keys(engine, db, NULL) == 1);
    }
    fixture_destroy();
}

static void
test_decide_sees_the_entry(void)
{
    bool done;
    int64_t result;
    fixture_create(16 * MIB, 1);
    batch_begin(core, fixture_now);
    CU_ASSERT(put_if_absent(0, "a", "first", &done) == 0 && done);
    CU_ASSERT(put_if_absent(0, "a", "second", &done) == 0 && !done);
    CU_ASSERT(incr(core, 0, "n", 5, &result) == 0 && result == 5);
    CU_ASSERT(incr(core, 0, "n", -7, &result) == 0 && result == -2);
    batch_commit(core);
    batch_tend(core);
    CU_ASSERT(holds(0, "a", "first"));
    CU_ASSERT(holds(0, "n", "-2"));
    fixture_destroy();
}

/* INCR x; SETNX y; INCR x with hints made before any of them ran: x counts twice, once each. */
static void
test_stale_hints_are_rebuilt(void)
{
    struct hint a, b, c;
    struct core_counts counts;
    fixture_create(16 * MIB, 1);
    CU_ASSERT(set(0, "x", "old") == 0);
    batch_begin(core, fixture_now);
    CU_ASSERT(put_prepare(0, "x", "first", 5, &a));
    CU_ASSERT(put_prepare(0, "x", "second", 6, &b));
    CU_ASSERT(put_prepare(0, "y", "third", 5, &c));
    batch_prepared(core);
    CU_ASSERT(put_hinted(0, "x", "first", 5, &a) == 0);
    CU_ASSERT(put_hinted(0, "x", "second", 6, &b) == 0); /* blind: the hint still fits */
    batch_commit(core);                                  /* c is abandoned */
    batch_tend(core);
    core_counts(core, &counts);
    CU_ASSERT(counts.hints_used == 2);
    CU_ASSERT(counts.hints_stale == 0);
    CU_ASSERT(holds(0, "x", "second"));
    CU_ASSERT(holds(0, "y", NULL));
    fixture_destroy();
}

static void
test_hint_of_an_emptied_database_is_stale(void)
{
    struct hint hint;
    fixture_create(16 * MIB, 1);
    CU_ASSERT(set(0, "x", "old") == 0);
    batch_begin(core, fixture_now);
    CU_ASSERT(put_prepare(0, "x", "new", 3, &hint));
    batch_prepared(core);
    CU_ASSERT(databases_flush(core, 1) == 0);
    CU_ASSERT(put_hinted(0, "x", "new", 3, &hint) == 0);
    batch_commit(core);
    batch_tend(core);
    CU_ASSERT(holds(0, "x", "new"));
    fixture_reopen(1);
    CU_ASSERT(holds(0, "x", "new"));
    fixture_destroy();
}

static void
test_large_values(void)
{
    fixture_create(16 * MIB, 1);
    size_t most = RECORD_MAX - sizeof(struct record) - strlen("big");
    char *value = malloc(most + 1);
    memset(value, 'v', most + 1);
    batch_begin(core, fixture_now);
    CU_ASSERT(put(0, "big", value, most, 0) == 0);
    CU_ASSERT(put(0, "big", value, most + 1, 0) == -E2BIG);
    CU_ASSERT(put(0, "zeros", NULL, 1000, 0) == 0);
    batch_commit(core);
    batch_tend(core);
    value[most] = 0;
    CU_ASSERT(holds(0, "big", value));
    free(value);
    fixture_destroy();
}

static void
test_expiry(void)
{
    uint64_t expiring;
    fixture_create(16 * MIB, 1);
    batch_begin(core, fixture_now);
    CU_ASSERT(put(0, "a", "x", 1, (int64_t)fixture_now + 100) == 0);
    CU_ASSERT(put(0, "b", "x", 1, (int64_t)fixture_now + 100) == 0);
    CU_ASSERT(put(0, "c", "x", 1, 0) == 0);
    batch_commit(core);
    CU_ASSERT(engine_keys(engine, 0, &expiring) == 3);
    CU_ASSERT(expiring == 2);
    batch_begin(core, fixture_now + 100);
    CU_ASSERT(put_if_absent(0, "a", "y", &(bool){0}) == 0); /* not over yet */
    batch_commit(core);
    bool done;
    batch_begin(core, fixture_now + 101);
    CU_ASSERT(put_if_absent(0, "a", "y", &done) == 0 && done);
    bool deleted;
    CU_ASSERT(del(0, "b", &deleted) == 0 && !deleted); /* absent, and gone for good */
    batch_commit(core);
    CU_ASSERT(engine_keys(engine, 0, &expiring) == 2);
    CU_ASSERT(expiring == 0);
    CU_ASSERT(holds(0, "a", "y")); /* by the earlier clock again */
    CU_ASSERT(holds(0, "b", NULL));
    CU_ASSERT(holds(0, "c", "x"));
    fixture_destroy();
}

static void
test_background_expiry(void)
{
    char name[32];
    uint64_t expiring;
    struct engine_info info;
    fixture_create(16 * MIB, 1);
    batch_begin(core, fixture_now);
    for (unsigned i = 0; i < 500; i++)
        CU_ASSERT(put(3, key_name(name, "e", i), "x", 1, (int64_t)fixture_now + 5) == 0);
    CU_ASSERT(put(3, "stays", "x", 1, 0) == 0);
    batch_commit(core);
    for (unsigned n = 0; n < 1000 && engine_keys(engine, 3, NULL) > 1; n++) {
        batch_begin(core, fixture_now + 6 + n);
        batch_commit(core);
        batch_tend(core);
    }
    CU_ASSERT(engine_keys(engine, 3, &expiring) == 1);
    CU_ASSERT(expiring == 0);
    engine_info(engine, &info);
    CU_ASSERT(info.expired == 500);
    CU_ASSERT(holds(3, "stays", "x"));
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"set, get, delete", test_set_get_delete},
    {"databases are apart", test_databases_are_apart},
    {"decide sees the entry", test_decide_sees_the_entry},
    {"stale hints are rebuilt", test_stale_hints_are_rebuilt},
    {"a hint of an emptied database is stale", test_hint_of_an_emptied_database_is_stale},
    {"large values", test_large_values},
    {"expiry", test_expiry},
    {"background expiry", test_background_expiry},
};
UNIT_MAIN("pmem/entry", tests)
