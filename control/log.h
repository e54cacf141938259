/* SPDX-License-Identifier: BSD-3-Clause */
/* The control process's log: one line an event, with the time, on standard error. */
#ifndef CONTROL_LOG_H
#define CONTROL_LOG_H

void log_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
