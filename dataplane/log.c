/* SPDX-License-Identifier: BSD-3-Clause */
/* The log file. */
#include "dataplane/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int log_fd = STDERR_FILENO;
static _Atomic enum log_level least = LEVEL_NOTICE;
static const char *const names[] = {"debug", "verbose", "notice", "warning"};

int
log_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0)
        return -errno;
    log_close();
    log_fd = fd;
    return 0;
}

void
log_close(void)
{
    if (log_fd != STDERR_FILENO)
        close(log_fd);
    log_fd = STDERR_FILENO;
}

bool
log_is_open(void)
{
    return log_fd != STDERR_FILENO;
}

void
log_set_level(const char *name)
{
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            least = (enum log_level)i;
}

void
log_write(enum log_level level, const char *format, ...)
{
    char line[1024];
    struct timespec now;
    struct tm parts;
    if (level < least)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &parts);
    len += (size_t)snprintf(line + len, sizeof(line) - len, ".%03ldZ %d %s: ", now.tv_nsec / 1000000, getpid(),
                            names[level]);
    va_list arguments;
    va_start(arguments, format);
    int text = vsnprintf(line + len, sizeof(line) - len - 1, format, arguments);
    va_end(arguments);
    if (text > 0)
        len += (size_t)text < sizeof(line) - len - 1 ? (size_t)text : sizeof(line) - len - 2;
    line[len++] = '\n';
    if (write(log_fd, line, len) < 0)
        return; /* a full disk must not stop the data path */
}
