/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics file. */
#include "dataplane/stats/stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t
wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct stats_header *
map_new_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return NULL;
    void *map = MAP_FAILED;
    if (ftruncate(fd, sizeof(struct stats_header)) == 0)
        map = mmap(NULL, sizeof(struct stats_header), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    int saved = errno;
    close(fd);
    errno = saved;
    return map == MAP_FAILED ? NULL : map;
}

static void
temporary_name(const struct stats_file *file, char name[sizeof(file->path) + 8])
{
    snprintf(name, sizeof(file->path) + 8, "%s.new", file->path);
}

int
stats_file_create(struct stats_file *file, const char *path, unsigned cores, char *error, size_t error_size)
{
    char name[sizeof(file->path) + 8];
    snprintf(file->path, sizeof(file->path), "%s", path);
    temporary_name(file, name);
    file->header = map_new_file(name);
    if (!file->header) {
        int saved = errno;
        snprintf(error, error_size, "The statistics file %s cannot be made: %s.", path, strerror(saved));
        return -saved;
    }
    file->header->version = STATS_VERSION;
    file->header->cores = cores;
    file->header->started_ms = wall_ms();
    file->header->pid = (uint32_t)getpid();
    file->header->counters = COUNTERS;
    file->header->families = FAMILIES;
    return 0;
}

void
stats_file_publish(struct stats_file *file)
{
    char name[sizeof(file->path) + 8];
    temporary_name(file, name);
    stats_file_beat(file);
    __atomic_store_n(&file->header->magic, STATS_MAGIC, __ATOMIC_RELEASE);
    rename(name, file->path);
}

void
stats_file_beat(struct stats_file *file)
{
    __atomic_store_n(&file->header->heartbeat_ms, wall_ms(), __ATOMIC_RELAXED);
}

void
stats_file_close(struct stats_file *file)
{
    char name[sizeof(file->path) + 8];
    if (!file->header)
        return;
    temporary_name(file, name);
    unlink(name);
    unlink(file->path);
    munmap(file->header, sizeof(*file->header));
    file->header = NULL;
}
