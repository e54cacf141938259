/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config file, in the form of redis.conf: `name value` a line, # at the start of a line for comments, 'quotes' or
 * "quotes" with \n, \t, \xHH, \" and \\ around values with spaces, `include FILE` (relative to the including file).
 * A file is taken whole or refused whole: an unknown name, a name given twice (also by way of an include), a bad value
 * or an include that cannot be read.
 */
#ifndef CONTROL_CONFIG_H
#define CONTROL_CONFIG_H

#include <stddef.h>
#include <stdio.h>

#include "dataplane/rpc/settings.h"

#define CONFIG_INCLUDE_DEPTH 8

/*
 * Settings from a file, on top of the defaults. 0, or -errno with "FILE line N: reason" in error and settings
 * untouched.
 */
int config_load(struct settings *settings, const char *path, char *error, size_t error_size);

/* Write a config file with all settings, their defaults and what they mean. 0 or -EIO. */
int config_print_reference(FILE *file);

#endif
