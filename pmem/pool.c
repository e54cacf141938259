/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool file: made under another name and renamed when it is whole, mapped by libpmem, locked while open. */
#include "pmem/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <libpmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pmem/crc.h"
#include "pmem/domain.h"
#include "pmem/superblock.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define UNFINISHED_SUFFIX ".unfinished"

/* One sentence for the operator; returns rc. */
static int __attribute__((format(printf, 4, 5))) refuse(int rc, char *error, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return rc;
}

static int
lock(struct pool *pool, char *error, size_t size)
{
    if (flock(pool->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return refuse(-EBUSY, error, size, "%s is open in another process: stop that one first", pool->path);
    return refuse(-errno, error, size, "%s cannot be locked: %s", pool->path, strerror(errno));
}

/* Map all of path; with create_size make it that long, with every byte of it allocated. */
static int
map(struct pool *pool, const char *path, uint64_t create_size, char *error, size_t error_size)
{
    size_t mapped;
    int is_pmem;
    void *base = pmem_map_file(path, create_size, create_size ? PMEM_FILE_CREATE : 0, 0600, &mapped, &is_pmem);
    if (!base) {
        int rc = errno ? -errno : -EIO;
        return refuse(rc, error, error_size, "%s cannot be %s: %s", path, create_size ? "allocated" : "mapped",
                      rc == -ENOSPC ? "no space is left there for its full size" : strerror(-rc));
    }
    pool->base = base;
    pool->size = mapped;
    pool->domain = domain_detect(path, is_pmem, "/sys");
    /* Larger pages where the file system has them only on request (tmpfs); elsewhere this does nothing. */
    madvise(base, mapped, MADV_HUGEPAGE);
    if (create_size)
        madvise(base, mapped, MADV_COLLAPSE);
    return 0;
}

static void
unmap(struct pool *pool)
{
    if (pool->base)
        pmem_unmap((void *)(uintptr_t)pool->base, pool->size);
    pool->base = NULL;
}

static int
format(struct pool *pool, char *error, size_t size)
{
    uint8_t random[32];
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return refuse(-EIO, error, size, "the kernel gives no random bytes for the pool's hash key");
    random[6] = (random[6] & 0x0f) | 0x40; /* UUID version 4, RFC 4122 */
    random[8] = (random[8] & 0x3f) | 0x80;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    superblock_format(pool->base, pool->size, random, random + 16,
                      (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
    pool->created = true;
    return 0;
}

/* Make a rename durable. */
static int
sync_directory(const char *path)
{
    char copy[sizeof(((struct pool *)NULL)->path)];
    snprintf(copy, sizeof(copy), "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno; /* EINVAL: a file system that has nothing to sync */
    close(fd);
    return rc;
}

/*
 * Open and lock the file that a creation works in. What an interrupted one left there is emptied and used again;
 * one that is under way holds the lock. The name is looked at once more under the lock: between open and lock the
 * other creation may have ended and the file have become the pool.
 */
static int
open_unfinished(struct pool *pool, const char *path, char *error, size_t size)
{
    struct stat locked, named;
    pool->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (pool->lock_fd < 0)
        return refuse(-errno, error, size, "%s cannot be created: %s", path, strerror(errno));
    int rc = lock(pool, error, size);
    if (rc)
        return rc;
    if (fstat(pool->lock_fd, &locked) != 0 || stat(path, &named) != 0 || locked.st_ino != named.st_ino ||
        locked.st_dev != named.st_dev || access(pool->path, F_OK) == 0)
        return refuse(-EBUSY, error, size, "%s was created by another process at this moment: try again", pool->path);
    if (ftruncate(pool->lock_fd, 0) != 0)
        return refuse(-errno, error, size, "%s cannot be emptied: %s", path, strerror(errno));
    return 0;
}

static int
create(struct pool *pool, uint64_t create_size, char *error, size_t size)
{
    char path[sizeof(pool->path) + sizeof(UNFINISHED_SUFFIX)];
    snprintf(path, sizeof(path), "%s" UNFINISHED_SUFFIX, pool->path);
    int rc = open_unfinished(pool, path, error, size);
    if (rc)
        return rc;
    rc = map(pool, path, create_size, error, size);
    if (rc == 0)
        rc = format(pool, error, size);
    if (rc == 0 && fsync(pool->lock_fd) != 0)
        rc = refuse(-errno, error, size, "%s cannot be written: %s", path, strerror(errno));
    if (rc == 0 && renameat2(AT_FDCWD, path, AT_FDCWD, pool->path, RENAME_NOREPLACE) != 0)
        rc = refuse(-errno, error, size, "%s cannot be renamed to %s: %s", path, pool->path, strerror(errno));
    if (rc)
        unlink(path);
    else if ((rc = sync_directory(pool->path)) != 0)
        refuse(rc, error, size, "the directory of %s cannot be written: %s", pool->path, strerror(-rc));
    return rc;
}

/* What is at the start of the mapping decides: a pool, or a device on which one may be made. */
static int
look(struct pool *pool, bool device, uint64_t create_size, char *error, size_t size)
{
    switch (superblock_look(pool->base)) {
    case SUPERBLOCK_PRESENT:
        return 0;
    case SUPERBLOCK_UNFINISHED:
        if (device && create_size)
            return format(pool, error, size);
        return refuse(-EINVAL, error, size, "%s holds a pool whose creation was interrupted: %s", pool->path,
                      device ? "open it with a size to create it" : "remove it");
    case SUPERBLOCK_ABSENT:
        if (device && create_size)
            return format(pool, error, size);
        break;
    case SUPERBLOCK_FOREIGN:
        break;
    }
    return refuse(-EINVAL, error, size, "%s is not a Pollux pool: give another path%s", pool->path,
                  device ? ", or clear its first 4096 bytes" : "");
}

static int
open_existing(struct pool *pool, uint64_t create_size, char *error, size_t size)
{
    struct stat st;
    if (fstat(pool->lock_fd, &st) != 0)
        return refuse(-errno, error, size, "%s cannot be examined: %s", pool->path, strerror(errno));
    bool device = S_ISCHR(st.st_mode);
    if (!device && !S_ISREG(st.st_mode))
        return refuse(-EINVAL, error, size, "%s is neither a file nor a device DAX node", pool->path);
    if (!device && st.st_size < (off_t)SEGMENT_SIZE)
        return refuse(-EINVAL, error, size, "%s has %lld bytes, too small to be a Pollux pool", pool->path,
                      (long long)st.st_size);
    int rc = lock(pool, error, size);
    if (rc == 0)
        rc = map(pool, pool->path, 0, error, size);
    if (rc == 0 && device)
        pool->size = pool->size / SEGMENT_SIZE * SEGMENT_SIZE;
    if (rc == 0)
        rc = look(pool, device, create_size, error, size);
    return rc;
}

static int
check_create_size(uint64_t create_size, char *error, size_t size)
{
    if (create_size % SEGMENT_SIZE == 0 && create_size / SEGMENT_SIZE >= POOL_MIN_SEGMENTS)
        return 0;
    return refuse(-EINVAL, error, size,
                  "a pool of %" PRIu64 " bytes is not possible: take a multiple of %u KiB, at least %u KiB",
                  create_size, SEGMENT_SIZE >> 10, (SEGMENT_SIZE >> 10) * POOL_MIN_SEGMENTS);
}

static int
open_locked(struct pool *pool, uint64_t create_size, char *error, size_t size)
{
    pool->lock_fd = open(pool->path, O_RDWR | O_CLOEXEC);
    if (pool->lock_fd >= 0)
        return open_existing(pool, create_size, error, size);
    if (errno != ENOENT)
        return refuse(-errno, error, size, "%s cannot be opened: %s", pool->path, strerror(errno));
    if (!create_size)
        return refuse(-ENOENT, error, size, "%s does not exist, and no size to create it is given", pool->path);
    int rc = check_create_size(create_size, error, size);
    return rc ? rc : create(pool, create_size, error, size);
}

int
pool_open(struct pool *pool, const char *path, uint64_t create_size, char *error, size_t error_size)
{
    memset(pool, 0, sizeof(*pool));
    pool->lock_fd = -1;
    if (!crc_self_test())
        return refuse(-EIO, error, error_size, "the checksum library gives wrong results on this processor");
    if ((size_t)snprintf(pool->path, sizeof(pool->path), "%s", path) >= sizeof(pool->path))
        return refuse(-ENAMETOOLONG, error, error_size, "the path of the pool is too long");
    int rc = open_locked(pool, create_size, error, error_size);
    if (rc == 0)
        rc = superblock_open(pool, error, error_size);
    if (rc == 0)
        return 0;
    unmap(pool);
    if (pool->lock_fd >= 0)
        close(pool->lock_fd);
    pool->lock_fd = -1;
    return rc;
}

void
pool_close(struct pool *pool)
{
    superblock_close(pool);
    unmap(pool);
    close(pool->lock_fd); /* and with it the lock goes */
    pool->lock_fd = -1;
}
