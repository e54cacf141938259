/* SPDX-License-Identifier: BSD-3-Clause */
/* What is on the pool after the last user is gone, or has damaged it: found again, or refused, or an error for one key.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmem/table.h"
#include "tests/unit/pmem/engine_fixture.h"

#define SIZE (32 * MIB)

/* The pool file, mapped a second time: what a fault changes behind the engine's back. */
static uint8_t *raw;

static void
map_raw(void)
{
    int fd = open(fixture_path(), O_RDWR);
    raw = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (raw == MAP_FAILED)
        abort();
}

static void
unmap_raw(void)
{
    munmap(raw, SIZE);
}

static void
create(unsigned keys)
{
    char name[32], value[32];
    fixture_create(SIZE, 1);
    for (unsigned k = 0; k < keys; k++)
        CU_ASSERT_FATAL(set(0, key_name(name, "key", k), key_name(value, "value", k)) == 0);
    CU_ASSERT(settle(10000) < 10000);
    map_raw();
}

static void
destroy(void)
{
    unmap_raw();
    fixture_destroy();
}

static void
locate(const char *name, struct place *at, struct hit *hit)
{
    struct key key;
    key_init(engine, &key, name, strlen(name));
    batch_begin(core, fixture_now);
    CU_ASSERT_FATAL(table_walk(core, 0, key.hash, at) == 0);
    CU_ASSERT_FATAL(chain_find(core, at, &key, hit) == 0);
    batch_commit(core);
}

static uint64_t *
raw_word(const void *p)
{
    return (uint64_t *)(void *)(raw + pool_offset(engine->pool, p));
}

static int
read_key(const char *name, struct entry *entry)
{
    struct key key;
    key_init(engine, &key, name, strlen(name));
    batch_begin(core, fixture_now);
    int rc = entry_read(core, 0, &key, entry);
    batch_commit(core);
    return rc;
}

/* ---- what a crash leaves ---- */

static void
test_stale_held_and_tent(void)
{
    char name[32];
    struct place at;
    struct hit hit;
    create(20);
    for (unsigned k = 0; k < 20; k++) {
        locate(key_name(name, "key", k), &at, &hit);
        *raw_word(hit.slot) = word_with(hit.word, WORD_HELD);
    }
    locate("key:0", &at, &hit);
    struct bucket *home = (struct bucket *)(void *)raw_word(at.home);
    struct key key;
    key_init(engine, &key, "tentative", 9);
    unsigned stale = 0;
    for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
        if (home->slot[i] == 0 && ++stale)
            home->slot[i] = word_with(word_present(0, key.hash), WORD_TENT);
    }
    fixture_reopen(1);
    CU_ASSERT(engine_keys(engine, 0, NULL) == 20);
    for (unsigned k = 0; k < 20; k++) {
        char value[32];
        CU_ASSERT(holds(0, key_name(name, "key", k), key_name(value, "value", k)));
        CU_ASSERT(k % 3 ? set(0, name, "new") == 0 : unset(0, name) == 1);
        CU_ASSERT(holds(0, name, k % 3 ? "new" : NULL));
    }
    for (unsigned k = 20; k < 2000; k++)
        CU_ASSERT(set(0, key_name(name, "key", k), "new") == 0);
    CU_ASSERT(holds(0, "tentative", NULL));
    CU_ASSERT(engine_keys(engine, 0, NULL) == 2000 - 7);
    destroy();
}

struct shared {
    _Atomic unsigned acknowledged;
};

static void
write_until_killed(struct shared *shared, unsigned from)
{
    char name[32], value[32];
    fixture_reattach(1);
    for (unsigned k = from;; k++) {
        if (set(0, key_name(name, "key", k), key_name(value, "value", k)) != 0)
            abort();
        if (k % 3 == 0 && unset(0, name) != 1)
            abort();
        shared->acknowledged = k + 1;
    }
}

static void
test_kill(void)
{
    char name[32], value[32];
    struct engine_info info;
    struct shared *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fixture_create(SIZE, 1);
    for (unsigned round = 0; round < 10; round++) {
        unsigned from = shared->acknowledged, wrong = 0;
        fixture_close();
        pid_t child = fork();
        if (child == 0)
            write_until_killed(shared, from);
        while (shared->acknowledged < from + 100 + 211 * round)
            usleep(100);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        fixture_reattach(1);
        engine_info(engine, &info);
        CU_ASSERT(!info.was_clean && info.dirty_shutdowns == round + 1);
        for (unsigned k = 0; k < shared->acknowledged; k++)
            wrong += !holds(0, key_name(name, "key", k), k % 3 ? key_name(value, "value", k) : NULL);
        CU_ASSERT(wrong == 0);
        unset(0, key_name(name, "key", shared->acknowledged)); /* may be there, or not */
    }
    munmap(shared, 4096);
    fixture_destroy();
}

/* ---- damage met by a command ---- */

/* Each bit of a word in turn: the right value or an error, never another value, never absent. */
static void
test_flipped_bits_in_words(void)
{
    struct place at;
    struct hit hit;
    struct entry entry;
    unsigned told = 0;
    create(200);
    locate("key:7", &at, &hit);
    for (unsigned bit = 0; bit < 64; bit++) {
        *raw_word(hit.slot) ^= 1ull << bit;
        int rc = read_key("key:7", &entry);
        CU_ASSERT(rc == -EBADMSG || (rc == 0 && entry.len == 7 && memcmp(entry.value, "value:7", 7) == 0));
        told += rc == -EBADMSG;
        bool deleted;
        batch_begin(core, fixture_now);
        rc = del(0, "key:7", &deleted);
        CU_ASSERT(rc == -EBADMSG);
        CU_ASSERT(put(0, "key:7", "x", 1, 0) == -EBADMSG);
        batch_commit(core);
        *raw_word(hit.slot) ^= 1ull << bit;
    }
    CU_ASSERT(told == 64);
    for (unsigned bit = 0; bit < 64; bit++) { /* the link and MOVED: no key of the chain may seem absent */
        *raw_word(&at.home->control) ^= 1ull << bit;
        int rc = read_key("key:7", &entry);
        CU_ASSERT(rc == -EBADMSG || (rc == 0 && memcmp(entry.value, "value:7", 7) == 0));
        *raw_word(&at.home->control) ^= 1ull << bit;
    }
    CU_ASSERT(holds(0, "key:7", "value:7"));
    destroy();
}

/* Links that lead back into their own chain: an error, and no walk without end. */
static void
test_circular_chain(void)
{
    char name[32];
    struct place at;
    struct hit hit;
    struct entry entry;
    unsigned told = 0;
    create(200);
    locate("key:7", &at, &hit);
    uint64_t line = (uint64_t)(at.home - (const struct bucket *)at.page);
    *raw_word(&at.home->control) = line; /* without check bits */
    alarm(20);
    for (unsigned k = 200; k < 4000; k++) {
        int rc = read_key(key_name(name, "absent", k), &entry);
        CU_ASSERT(rc == -ENOENT || rc == -EBADMSG);
        told += rc == -EBADMSG;
    }
    CU_ASSERT(told > 0);
    CU_ASSERT(read_key("key:7", &entry) == 0);
    fixture_reopen(1);
    CU_ASSERT(holds(0, "key:7", "value:7"));
    alarm(0);
    destroy();
}

/* Each byte of a record: an error for this key alone. A plain SET over it is fine again. */
static void
test_damaged_record(void)
{
    struct place at;
    struct hit hit;
    struct entry entry;
    struct engine_info info;
    struct hint hint;
    create(200);
    locate("key:7", &at, &hit);
    uint8_t *record = raw + pool_offset(engine->pool, hit.record);
    for (unsigned byte = 0; byte < record_total(hit.record); byte++) {
        bool padding = byte >= sizeof(struct record) + 5 + 7;
        record[byte] ^= 0x10;
        int rc = read_key("key:7", &entry);
        CU_ASSERT(rc == (padding ? 0 : -EBADMSG));
        CU_ASSERT(holds(0, "key:8", "value:8"));
        record[byte] ^= 0x10;
    }
    engine_info(engine, &info);
    CU_ASSERT(info.crc_errors > 30);
    record[sizeof(struct record) + 5] ^= 1;
    fixture_reopen(1);
    CU_ASSERT(read_key("key:7", &entry) == -EBADMSG);
    batch_begin(core, fixture_now);
    CU_ASSERT(put_prepare(0, "key:7", "healed", 6, &hint) == 1);
    batch_prepared(core);
    CU_ASSERT(put_hinted(0, "key:7", "healed", 6, &hint) == 0);
    batch_commit(core);
    CU_ASSERT(holds(0, "key:7", "healed"));
    destroy();
}

/* A record whose key is damaged goes through splits: never absent, and the others are well. */
static void
test_damaged_record_in_a_split(void)
{
    char name[32], value[32];
    struct place at;
    struct hit hit;
    struct entry entry;
    create(500);
    locate("key:7", &at, &hit);
    raw[pool_offset(engine->pool, record_key(hit.record))] ^= 1;
    locate("key:8", &at, &hit);
    *raw_word(hit.slot) ^= 1ull << 50;
    for (unsigned k = 500; k < 5000; k++) {
        key_name(name, "key", k);
        int rc = set(0, name, key_name(value, "value", k));
        CU_ASSERT(rc == 0 || rc == -EBADMSG); /* a word of its chain is damaged */
    }
    CU_ASSERT(settle(10000) < 10000);
    CU_ASSERT(read_key("key:7", &entry) == -EBADMSG);
    CU_ASSERT(read_key("key:8", &entry) == -EBADMSG);
    for (unsigned k = 9; k < 500; k++)
        CU_ASSERT(holds(0, key_name(name, "key", k), key_name(value, "value", k)));
    batch_begin(core, fixture_now);
    CU_ASSERT(databases_flush(core, 1) == 0);
    batch_commit(core);
    CU_ASSERT(settle(10000) < 10000);
    CU_ASSERT(set(0, "key:7", "again") == 0);
    destroy();
}

/* ---- damage met at open ---- */

static void
refused(const char *why)
{
    char error[256] = "";
    struct engine_options options = {.path = fixture_path(), .cores = 1};
    struct engine *opened = engine_open(&options, error, sizeof(error));
    CU_ASSERT_PTR_NULL(opened);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, why));
    if (!strstr(error, why))
        printf("said: %s ", error);
}

static void
test_damaged_tree_is_refused(void)
{
    struct place at;
    struct hit hit;
    create(2000);
    locate("key:7", &at, &hit);
    uint64_t roots_record = word_offset(*engine->pool->roots_word);
    uint64_t directory = core->roots->db[0].directory;
    uint64_t page = pool_offset(engine->pool, at.page);
    fixture_close();

    raw[page + 8] ^= 1; /* the copy of the header stands in */
    fixture_reattach(1);
    CU_ASSERT(holds(0, "key:7", "value:7"));
    fixture_close();
    raw[page + LINE_SIZE + 8] ^= 1;
    refused("table page");
    raw[page + LINE_SIZE + 8] ^= 1;
    raw[page + 8] ^= 1;

    raw[directory] ^= 1;
    refused("directory entry");
    raw[directory] ^= 1;

    raw[ROOTS_OFFSET] ^= 1;
    refused("ROOTS");
    raw[ROOTS_OFFSET] ^= 1;
    raw[roots_record + 40] ^= 1;
    refused("ROOTS");
    raw[roots_record + 40] ^= 1;

    fixture_reattach(1); /* nothing was wiped */
    CU_ASSERT(engine_keys(engine, 0, NULL) == 2000);
    CU_ASSERT(holds(0, "key:7", "value:7"));
    destroy();
}

static void
test_bad_options(void)
{
    char error[256];
    struct engine_options options = {.path = "/nonexistent/pool", .cores = 1};
    CU_ASSERT_PTR_NULL(engine_open(&options, error, sizeof(error)));
    fixture_create(SIZE, 1);
    options.path = fixture_path();
    CU_ASSERT_PTR_NULL(engine_open(&options, error, sizeof(error))); /* in use */
    fixture_close();
    options.cores = 0;
    CU_ASSERT_PTR_NULL(engine_open(&options, error, sizeof(error)));
    options.cores = MAX_CORES + 1;
    CU_ASSERT_PTR_NULL(engine_open(&options, error, sizeof(error)));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "cores"));
    fixture_reattach(MAX_CORES);
    CU_ASSERT_PTR_NOT_NULL(engine_core(engine, MAX_CORES - 1));
    CU_ASSERT_PTR_NULL(engine_core(engine, MAX_CORES));
    fixture_destroy();
}

static const struct unit_test tests[] = {
    {"stale HELD and TENT", test_stale_held_and_tent},
    {"kill", test_kill},
    {"flipped bits in words", test_flipped_bits_in_words},
    {"circular chain", test_circular_chain},
    {"damaged record", test_damaged_record},
    {"damaged record in a split", test_damaged_record_in_a_split},
    {"a damaged tree is refused", test_damaged_tree_is_refused},
    {"bad options", test_bad_options},
};
UNIT_MAIN("pmem/recover", tests)
