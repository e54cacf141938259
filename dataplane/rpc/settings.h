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

#define SETTING_STRING_MAX 256 /* with the ending NUL */
#define SETTING_ENUM_MAX   32

struct settings {
#define BOOL(field, name, value, live, what)              bool field;
#define INTEGER(field, name, value, min, max, live, what) int64_t field;
#define MEMORY(field, name, value, min, max, live, what)  int64_t field;
#define STRING(field, name, value, live, what)            char field[SETTING_STRING_MAX];
#define ENUM(field, name, value, choices, live, what)     char field[SETTING_ENUM_MAX];
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
/*
 * Parse text into the field. 0, or -EINVAL with the reason in error, in Redis's words ("argument must be ...").
 * Does not look at `live`. Memory units are redis.conf's: 1k = 1000, 1kb = 1024, 1m, 1mb, 1g, 1gb, in any case.
 */
int setting_set(struct settings *settings, const struct setting *setting, const char *text, char *error,
                size_t error_size);
/* The value as CONFIG GET prints it. */
void setting_get(const struct settings *settings, const struct setting *setting, char *text, size_t size);

struct setting_change {
    const char *name, *value;
};
/*
 * CONFIG SET of a running server: all changes or, where one is wrong, none. 0; or -ENOENT (unknown name), -EPERM (may
 * not be changed while running), -EEXIST (named twice), -EINVAL (bad value) with the reason in error, as Redis words
 * what follows "CONFIG SET failed (possibly related to argument 'NAME') - ", and *culprit the index of that change.
 */
int settings_change(struct settings *settings, const struct setting_change *changes, unsigned count, unsigned *culprit,
                    char *error, size_t error_size);

/*
 * The settings file that the control process hands to the dataplane: all settings, one `name value` a line, the value
 * being the rest of the line, unquoted. Saved under another name, then renamed, mode 0600 (it holds the password).
 * 0, or -errno with one sentence in error. Loading starts from the defaults and refuses the file as a whole.
 */
int settings_save(const struct settings *settings, const char *path, char *error, size_t error_size);
int settings_load(struct settings *settings, const char *path, char *error, size_t error_size);

#endif
