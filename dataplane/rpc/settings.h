/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings: one table (settings.def) for the config file, CONFIG GET/SET, the command line and the docs. Shared by
 * the control process and the dataplane.
 */
#ifndef DATAPLANE_RPC_SETTINGS_H
#define DATAPLANE_RPC_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_type { SETTING_BOOL, SETTING_INTEGER, SETTING_MEMORY, SETTING_STRING, SETTING_ENUM };

#define SETTING_STRING_MAX 256

struct settings {
#define BOOL(field, name, value, live, what)           bool field;
#define INTEGER(field, name, value, min, max, live, what) int64_t field;
#define MEMORY(field, name, value, min, max, live, what)  int64_t field;
#define STRING(field, name, value, live, what)         char field[SETTING_STRING_MAX];
#define ENUM(field, name, value, choices, live, what)  char field[32];
#include "dataplane/rpc/settings.def"
};

struct setting { /* a row of the table, as data */
    const char *name, *standard, *choices, *what;
    enum setting_type type;
    bool live; /* may be changed while running */
    int64_t min, max;
    size_t offset; /* of the field in struct settings */
};
extern const struct setting setting_table[];
extern const unsigned setting_count;

void settings_default(struct settings *settings);
const struct setting *setting_find(const char *name); /* case-insensitive; NULL: unknown */
/* Parse text into the field. 0, or -EINVAL with one sentence in error. Does not look at `live`. */
int setting_set(struct settings *settings, const struct setting *setting, const char *text, char *error, size_t error_size);
/* The value as CONFIG GET prints it. */
void setting_get(const struct settings *settings, const struct setting *setting, char *text, size_t size);

#endif
