/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the statistics file and computing with what it holds. */
#include "control/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define WORDS (sizeof(struct stats_core) / sizeof(uint64_t))

static int
read_exactly(int fd, void *to, size_t size, off_t offset)
{
    ssize_t got = pread(fd, to, size, offset);

    if (got < 0)
        return -errno;
    return (size_t)got == size ? 0 : -EBADMSG;
}

static bool
is_ours(const struct stats_header *header)
{
    return header->magic == STATS_MAGIC && header->version == STATS_VERSION && header->counters == COUNTERS &&
           header->families == FAMILIES && header->cores > 0 && header->cores <= STATS_CORES;
}

static int
read_file(struct stats_header *header, int fd, pid_t pid)
{
    char before[offsetof(struct stats_header, core)];
    int code;

    memcpy(before, header, sizeof(before));
    code = read_exactly(fd, header, sizeof(before), 0);
    if (code == 0 && !is_ours(header))
        code = -EBADMSG;
    if (code == 0 && header->pid != (uint32_t)pid)
        code = -ESRCH;
    if (code != 0) {
        memcpy(header, before, sizeof(before));
        return code;
    }
    header->port[sizeof(header->port) - 1] = '\0';
    header->address[sizeof(header->address) - 1] = '\0';
    return read_exactly(fd, header->core, header->cores * sizeof(header->core[0]), sizeof(before));
}

int
stats_read(struct stats_snapshot *snapshot, const char *path, pid_t pid, int64_t now_ms)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), code;

    if (fd < 0)
        return -errno;
    code = read_file(&snapshot->header, fd, pid);
    close(fd);
    if (code == 0)
        snapshot->taken_ms = now_ms;
    return code;
}

/* A core's block is nothing but 64-bit words that grow, padding included. */
static uint64_t *
words(struct stats_core *core)
{
    return (uint64_t *)(void *)core;
}

static const uint64_t *
words_of(const struct stats_core *core)
{
    return (const uint64_t *)(const void *)core;
}

void
stats_difference(struct stats_core *difference, const struct stats_core *newer, const struct stats_core *older)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t now = words_of(newer)[i], then = words_of(older)[i];
        words(difference)[i] = now > then ? now - then : 0;
    }
}

void
stats_add(struct stats_core *sum, const struct stats_core *core)
{
    for (unsigned i = 0; i < WORDS; i++)
        words(sum)[i] += words_of(core)[i];
}

uint64_t
stats_count(const struct stats_histogram *histogram)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        count += histogram->count[i];
    return count;
}

uint64_t
stats_percentile(const struct stats_histogram *histogram, unsigned per_thousand)
{
    uint64_t count = stats_count(histogram), seen = 0;
    uint64_t rank = count / 1000 * per_thousand + (count % 1000 * per_thousand + 999) / 1000;

    if (count == 0)
        return 0;
    for (unsigned i = 0; i < STATS_BUCKETS - 1; i++) {
        seen += histogram->count[i];
        if (seen >= rank)
            return stats_bucket_floor(i + 1) - 1;
    }
    return stats_bucket_floor(STATS_BUCKETS - 1); /* the last bucket has no upper edge */
}
