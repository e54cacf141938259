/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line an event, with time, process and level; a file that is appended to, or stderr before it is open.
 * Threads: any. A line is one write(2); data cores log rarely.
 */
#ifndef DATAPLANE_LOG_H
#define DATAPLANE_LOG_H

#include <stdbool.h>

enum log_level { LEVEL_DEBUG, LEVEL_VERBOSE, LEVEL_NOTICE, LEVEL_WARNING };

/* 0 or -errno; on failure lines go on to stderr. */
int log_open(const char *path);
void log_close(void);
bool log_is_open(void);
/* By the name used in settings: debug, verbose, notice, warning. */
void log_set_level(const char *name);
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
