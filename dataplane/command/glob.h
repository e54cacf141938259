/* SPDX-License-Identifier: BSD-3-Clause */
/* Glob patterns as Redis matches them: * ? [abc] [a-z] [^x] and backslash. Any thread. */
#ifndef DATAPLANE_COMMAND_GLOB_H
#define DATAPLANE_COMMAND_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Time at most len x pattern_len, stack constant, whatever the pattern. */
bool glob_match(const char *pattern, size_t pattern_len, const char *text, size_t len, bool ignore_case);

#endif
