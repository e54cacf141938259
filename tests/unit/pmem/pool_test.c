/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools: each refusal with its reason, the lock, and a creation that is killed at each of its stores.
 * Linked with --wrap for the persist calls, so that a child can be killed at the n-th of them.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmem/crc.h"
#include "pmem/persist.h"
#include "pmem/pool.h"
#include "pmem/superblock.h"
#include "pmem/word.h"

#define SIZE ((uint64_t)POOL_MIN_SEGMENTS * SEGMENT_SIZE)

static char directory[64], path[128], unfinished[140], error[256];

/* ---- dying at a persist call ---- */

static unsigned calls_left; /* 0: never */

static void
maybe_die(void)
{
    if (calls_left && --calls_left == 0)
        kill(getpid(), SIGKILL);
}

void __real_persist_copy(const void *dst, const void *src, size_t len);
void __real_persist_store(const uint64_t *dst, uint64_t value);
void __real_persist_fence(enum persist_site site);
void __wrap_persist_copy(const void *dst, const void *src, size_t len);
void __wrap_persist_store(const uint64_t *dst, uint64_t value);
void __wrap_persist_fence(enum persist_site site);

void
__wrap_persist_copy(const void *dst, const void *src, size_t len)
{
    maybe_die();
    __real_persist_copy(dst, src, len);
}

void
__wrap_persist_store(const uint64_t *dst, uint64_t value)
{
    maybe_die();
    __real_persist_store(dst, value);
}

void
__wrap_persist_fence(enum persist_site site)
{
    maybe_die();
    __real_persist_fence(site);
}

/* ---- helpers ---- */

static void
fresh_path(void)
{
    if (!directory[0]) {
        snprintf(directory, sizeof(directory), "/tmp/pollux-pool-test-XXXXXX");
        if (!mkdtemp(directory))
            abort();
        snprintf(path, sizeof(path), "%s/pool", directory);
        snprintf(unfinished, sizeof(unfinished), "%s.unfinished", path);
    }
    unlink(path);
    unlink(unfinished);
    error[0] = '\0';
}

/* The pool is refused with rc, and the sentence has this in it. */
static void
refused(uint64_t create_size, int rc, const char *reason)
{
    struct pool pool;
    int got = pool_open(&pool, path, create_size, error, sizeof(error));
    CU_ASSERT_EQUAL(got, rc);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, reason));
    if (got != rc || !strstr(error, reason))
        printf("\n  wanted %d '%s', got %d '%s'\n", rc, reason, got, error);
    if (got == 0)
        pool_close(&pool);
}

static void
opens(uint64_t create_size, bool created, bool was_clean, uint64_t dirty_shutdowns)
{
    struct pool pool;
    int rc = pool_open(&pool, path, create_size, error, sizeof(error));
    CU_ASSERT_EQUAL(rc, 0);
    if (rc) {
        printf("\n  %s\n", error);
        return;
    }
    CU_ASSERT_EQUAL(pool.created, created);
    CU_ASSERT_EQUAL(pool.was_clean, was_clean);
    CU_ASSERT_EQUAL(pool.super.dirty_shutdowns, dirty_shutdowns);
    CU_ASSERT_EQUAL(pool.size, SIZE);
    pool_close(&pool);
}

static void
make_pool(void)
{
    fresh_path();
    opens(SIZE, true, true, 0);
}

static void
read_super(unsigned copy, struct superblock *super)
{
    int fd = open(path, O_RDONLY);
    CU_ASSERT_EQUAL(pread(fd, super, sizeof(*super), copy * SUPERBLOCK_COPY), sizeof(*super));
    close(fd);
}

static void
write_super(unsigned copy, struct superblock *super, bool sealed)
{
    if (sealed)
        super->crc = crc64(super, offsetof(struct superblock, crc));
    int fd = open(path, O_WRONLY);
    CU_ASSERT_EQUAL(pwrite(fd, super, sizeof(*super), copy * SUPERBLOCK_COPY), sizeof(*super));
    close(fd);
}

/* Change both copies and open. */
#define REFUSED_WITH(change, sealed, rc, reason)                         \
    do {                                                                 \
        make_pool();                                                     \
        for (unsigned copy = 0; copy < 2; copy++) {                      \
            struct superblock super;                                     \
            read_super(copy, &super);                                    \
            change;                                                      \
            write_super(copy, &super, sealed);                           \
        }                                                                \
        refused(0, rc, reason);                                          \
        refused(SIZE, rc, reason); /* a size to create it never wipes */ \
    } while (0)

/* ---- tests ---- */

static void
created_and_reopened(void)
{
    struct pool pool;
    make_pool();
    CU_ASSERT_EQUAL(access(unfinished, F_OK), -1);
    opens(0, false, true, 0);
    opens(SIZE, false, true, 0);
    CU_ASSERT_EQUAL(pool_open(&pool, path, 0, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(pool.segments, POOL_MIN_SEGMENTS);
    CU_ASSERT_EQUAL(pool.system_segments, 1);
    CU_ASSERT_EQUAL(*pool.roots_word, 0);
    CU_ASSERT_EQUAL(pool.segment_words[0], word_seal(SEGMENT_SYSTEM));
    for (uint64_t i = 1; i < pool.segments; i++)
        CU_ASSERT_EQUAL(pool.segment_words[i], 0);
    CU_ASSERT_EQUAL(pool.domain, DOMAIN_EMULATED);
    pool_close(&pool);
    struct stat st;
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT(st.st_blocks * 512 >= (blkcnt_t)SIZE); /* every byte is allocated: no SIGBUS later */
}

static void
stamps_are_reserved_durably(void)
{
    struct pool pool;
    make_pool();
    CU_ASSERT_EQUAL(pool_open(&pool, path, 0, error, sizeof(error)), 0);
    uint64_t before = pool.super.stamp_limit, after = pool_reserve_stamps(&pool);
    CU_ASSERT_EQUAL(after, before + STAMP_RESERVE);
    struct superblock super;
    for (unsigned copy = 0; copy < 2; copy++) {
        read_super(copy, &super);
        CU_ASSERT_EQUAL(super.stamp_limit, after);
    }
    pool_close(&pool);
    CU_ASSERT_EQUAL(pool_open(&pool, path, 0, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(pool.super.stamp_limit, after);
    pool_close(&pool);
}

static void
one_damaged_copy_is_repaired(void)
{
    for (unsigned copy = 0; copy < 2; copy++) {
        make_pool();
        struct superblock super;
        read_super(copy, &super);
        super.stamp_limit ^= 1;
        write_super(copy, &super, false);
        opens(0, false, true, 0);
        read_super(copy, &super);
        CU_ASSERT_EQUAL(super.crc, crc64(&super, offsetof(struct superblock, crc)));
    }
}

static void
strangers_are_refused(void)
{
    fresh_path();
    refused(0, -ENOENT, "does not exist");
    refused(SIZE + 1, -EINVAL, "multiple of 2048 KiB");
    refused(SIZE - SEGMENT_SIZE, -EINVAL, "at least 16384 KiB");
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    refused(SIZE, -EINVAL, "0 bytes, too small");
    CU_ASSERT_EQUAL(ftruncate(fd, (off_t)SIZE), 0);
    refused(SIZE, -EINVAL, "is not a Pollux pool"); /* zeros: somebody's empty disk image, not ours */
    CU_ASSERT_EQUAL(pwrite(fd, "something else", 14, 0), 14);
    refused(SIZE, -EINVAL, "is not a Pollux pool");
    close(fd);
    unlink(path);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    refused(SIZE, -EISDIR, "cannot be opened");
    rmdir(path);
}

static void
broken_and_strange_pools_are_refused(void)
{
    REFUSED_WITH(super.crc ^= 1, false, -EBADMSG, "damaged");
    REFUSED_WITH(super.size ^= 64, false, -EBADMSG, "damaged");
    REFUSED_WITH(super.version++, true, -EINVAL, "layout version 2");
    REFUSED_WITH(super.version++, false, -EPROTO, "newer than this program's");
    REFUSED_WITH(super.incompatible = 4, true, -EINVAL, "features that this program does not know");
    REFUSED_WITH(super.read_only = 2, true, -EINVAL, "features that this program does not know");
    REFUSED_WITH(super.segment_size *= 2, true, -EINVAL, "another geometry");
    REFUSED_WITH(super.page_homes -= 2, true, -EINVAL, "another geometry");
    REFUSED_WITH(super.endian = __builtin_bswap32(super.endian), true, -EINVAL, "other byte order");
    REFUSED_WITH(super.magic = __builtin_bswap64(super.magic), false, -EINVAL, "other byte order");
}

static void
compatible_features_are_accepted(void)
{
    make_pool();
    for (unsigned copy = 0; copy < 2; copy++) {
        struct superblock super;
        read_super(copy, &super);
        super.compatible = 8;
        write_super(copy, &super, true);
    }
    opens(0, false, true, 0);
}

static void
other_sizes_are_refused(void)
{
    make_pool();
    CU_ASSERT_EQUAL(truncate(path, (off_t)(SIZE - SEGMENT_SIZE)), 0);
    refused(SIZE, -EINVAL, "truncated");
    make_pool();
    CU_ASSERT_EQUAL(truncate(path, (off_t)(SIZE + SEGMENT_SIZE)), 0);
    refused(SIZE, -EINVAL, "grown");
    make_pool();
    CU_ASSERT_EQUAL(truncate(path, 5000), 0);
    refused(SIZE, -EINVAL, "too small");
}

static void
second_opener_is_refused(void)
{
    struct pool pool;
    make_pool();
    CU_ASSERT_EQUAL(pool_open(&pool, path, 0, error, sizeof(error)), 0);
    refused(0, -EBUSY, "open in another process");
    refused(SIZE, -EBUSY, "open in another process");
    pool_close(&pool);
    opens(0, false, true, 0);
}

static void
killed_holder_leaves_no_lock(void)
{
    make_pool();
    int ready[2];
    CU_ASSERT_EQUAL(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pool pool;
        if (pool_open(&pool, path, 0, error, sizeof(error)) != 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte;
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    refused(0, -EBUSY, "open in another process");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    opens(0, false, false, 1);
    opens(0, false, true, 1);
}

/* At whichever store the creator dies: there is no pool, and it can be created, or there is a whole one. */
static void
killed_creation_is_absent_or_complete(void)
{
    unsigned absent = 0, complete = 0;
    for (unsigned n = 1;; n++) {
        fresh_path();
        pid_t child = fork();
        if (child == 0) {
            struct pool pool;
            calls_left = n;
            _exit(pool_open(&pool, path, SIZE, error, sizeof(error)) != 0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) {
            CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
            break;
        }
        if (access(path, F_OK) == 0) {
            complete++; /* at first before the clean flag is taken away */
            opens(0, false, complete <= 2, complete > 2);
        } else {
            absent++;
            refused(0, -ENOENT, "does not exist");
            opens(SIZE, true, true, 0);
            CU_ASSERT_EQUAL(access(unfinished, F_OK), -1);
        }
    }
    CU_ASSERT(absent >= 8);
    CU_ASSERT(complete >= 4);
}

static void
leftovers_of_a_creation_are_used_again(void)
{
    static const off_t sizes[] = {0, 4096, 3 * SEGMENT_SIZE + 5, SIZE, SIZE + SEGMENT_SIZE};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        fresh_path();
        int fd = open(unfinished, O_RDWR | O_CREAT, 0600);
        CU_ASSERT_EQUAL(ftruncate(fd, sizes[i]), 0);
        CU_ASSERT_EQUAL(pwrite(fd, "left", 4, 0), 4);
        CU_ASSERT_EQUAL(flock(fd, LOCK_EX), 0);
        refused(SIZE, -EBUSY, "open in another process"); /* the other creation is still at it */
        close(fd);
        opens(SIZE, true, true, 0);
    }
}

static void
start_of_a_mapping_is_recognised(void)
{
    uint8_t *memory = aligned_alloc(4096, SIZE);
    static const uint8_t id[16] = {1};
    memset(memory, 0, SIZE);
    CU_ASSERT_EQUAL(superblock_look(memory), SUPERBLOCK_ABSENT);
    memory[4000] = 1;
    CU_ASSERT_EQUAL(superblock_look(memory), SUPERBLOCK_FOREIGN);
    memset(memory, 0xdb, SIZE);
    CU_ASSERT_EQUAL(superblock_look(memory), SUPERBLOCK_FOREIGN);
    superblock_format(memory, SIZE, id, id, 1);
    CU_ASSERT_EQUAL(superblock_look(memory), SUPERBLOCK_PRESENT);
    struct superblock *first = (void *)memory, *second = (void *)(memory + SUPERBLOCK_COPY);
    CU_ASSERT_EQUAL(memcmp(first, second, sizeof(*first)), 0);
    memset(&first->magic, '.', sizeof(first->magic));
    CU_ASSERT_EQUAL(superblock_look(memory), SUPERBLOCK_PRESENT); /* the second copy is enough */
    free(memory);
}

/* In a mount namespace of its own: a file system with room for half a pool. */
static int
fill_small_filesystem(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", directory, "tmpfs", 0, "size=8m") != 0)
        return 77;
    struct pool pool;
    int rc = pool_open(&pool, path, SIZE, error, sizeof(error));
    if (rc != -ENOSPC || !strstr(error, "no space is left"))
        return 1;
    return access(path, F_OK) == 0 || access(unfinished, F_OK) == 0;
}

static void
full_filesystem_is_an_error(void)
{
    fresh_path();
    pid_t child = fork();
    if (child == 0)
        _exit(fill_small_filesystem());
    int status;
    waitpid(child, &status, 0);
    CU_ASSERT(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        printf("(skipped: mounting takes root) ");
    else
        CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void
clean_up(void)
{
    fresh_path();
    CU_ASSERT_EQUAL(rmdir(directory), 0);
}

static const struct unit_test tests[] = {
    {"a pool is created and opened again", created_and_reopened},
    {"stamp ranges are reserved durably", stamps_are_reserved_durably},
    {"one damaged superblock copy is repaired", one_damaged_copy_is_repaired},
    {"what is not a pool is refused", strangers_are_refused},
    {"broken and strange pools are refused", broken_and_strange_pools_are_refused},
    {"unknown compatible features are accepted", compatible_features_are_accepted},
    {"a truncated or grown pool is refused", other_sizes_are_refused},
    {"a second opener is refused", second_opener_is_refused},
    {"a killed holder leaves no lock", killed_holder_leaves_no_lock},
    {"a killed creation is absent or complete", killed_creation_is_absent_or_complete},
    {"leftovers of a creation are used again", leftovers_of_a_creation_are_used_again},
    {"the start of a mapping is recognised", start_of_a_mapping_is_recognised},
    {"a full file system is an error", full_filesystem_is_an_error},
    {"nothing is left behind", clean_up},
};

UNIT_MAIN("pool", tests)
