/* SPDX-License-Identifier: BSD-3-Clause */
/* The control process's log. */
#include "control/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void
log_event(const char *format, ...)
{
    char when[32], what[1024];
    time_t now = time(NULL);
    struct tm local;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    localtime_r(&now, &local);
    strftime(when, sizeof(when), "%F %T", &local);
    fprintf(stderr, "%s pollux-control: %s\n", when, what);
}
