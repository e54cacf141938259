/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: parsing, printing and changing by the one table. */
#include "dataplane/rpc/settings.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#define FIELD(field) offsetof(struct settings, field)

const struct setting setting_table[] = {
#define BOOL(field, name, value, live, what) \
    {name, (value) ? "yes" : "no", "yes|no", what, SETTING_BOOL, live, 0, 1, FIELD(field)},
#define INTEGER(field, name, value, min, max, live, what) \
    {name, #value, NULL, what, SETTING_INTEGER, live, min, max, FIELD(field)},
#define MEMORY(field, name, value, min, max, live, what) \
    {name, #value, NULL, what, SETTING_MEMORY, live, min, max, FIELD(field)},
#define STRING(field, name, value, live, what) {name, value, NULL, what, SETTING_STRING, live, 0, 0, FIELD(field)},
#define ENUM(field, name, value, choices, live, what) \
    {name, value, choices, what, SETTING_ENUM, live, 0, 0, FIELD(field)},
#include "dataplane/rpc/settings.def"
};
const unsigned setting_count = sizeof(setting_table) / sizeof(setting_table[0]);

/* A line of the settings file: the longest name, a space, the longest value, the line's end. */
#define LINE_MAX_BYTES (SETTING_STRING_MAX + 64)

static int
refuse(int code, char *error, size_t error_size, const char *reason)
{
    snprintf(error, error_size, "%s", reason);
    return code;
}

void
settings_default(struct settings *settings)
{
    char error[128];

    memset(settings, 0, sizeof(*settings));
    for (unsigned i = 0; i < setting_count; i++)
        setting_set(settings, &setting_table[i], setting_table[i].standard, error, sizeof(error));
}

const struct setting *
setting_find(const char *name)
{
    for (unsigned i = 0; i < setting_count; i++)
        if (strcasecmp(setting_table[i].name, name) == 0)
            return &setting_table[i];
    return NULL;
}

static bool
parse_integer(const char *text, int64_t *value, const char **rest)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])))
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    *rest = end;
    return errno == 0;
}

static bool
parse_memory(const char *text, int64_t *value)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    const char *unit;

    if (!parse_integer(text, value, &unit) || *value < 0)
        return false;
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcasecmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(*value, units[i].bytes, value);
    return false;
}

static int
set_number(int64_t *field, const struct setting *setting, const char *text, char *error, size_t error_size)
{
    const char *rest = "";
    int64_t value = 0;

    if (setting->type == SETTING_MEMORY && !parse_memory(text, &value))
        return refuse(-EINVAL, error, error_size, "argument must be a memory value");
    if (setting->type == SETTING_INTEGER && (!parse_integer(text, &value, &rest) || *rest != '\0'))
        return refuse(-EINVAL, error, error_size, "argument couldn't be parsed into an integer");
    if (value < setting->min || value > setting->max) {
        snprintf(error, error_size, "argument must be between %lld and %lld inclusive", (long long)setting->min,
                 (long long)setting->max);
        return -EINVAL;
    }
    *field = value;
    return 0;
}

static int
set_bool(bool *field, const char *text, char *error, size_t error_size)
{
    bool yes = strcasecmp(text, "yes") == 0;

    if (!yes && strcasecmp(text, "no") != 0)
        return refuse(-EINVAL, error, error_size, "argument must be 'yes' or 'no'");
    *field = yes;
    return 0;
}

/* Values travel as lines of the settings file and as JSON: neither carries line breaks or bytes that are not UTF-8. */
static bool
is_text(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            return false;
    json_t *encoded = json_string(text);
    json_decref(encoded);
    return encoded != NULL;
}

static bool
is_address(const char *text)
{
    struct in_addr address;

    return inet_pton(AF_INET, text, &address) == 1;
}

static bool
is_address_or_empty(const char *text)
{
    return text[0] == '\0' || is_address(text);
}

static bool
is_absolute(const char *text)
{
    return text[0] == '/';
}

static bool
is_absolute_or_empty(const char *text)
{
    return text[0] == '\0' || is_absolute(text);
}

/* N, or N-M, in a list with commas. */
static bool
is_cpu_list(const char *text)
{
    int64_t first, last;

    do {
        if (!parse_integer(text, &first, &text) || first < 0)
            return false;
        last = first;
        if (*text == '-' && (!parse_integer(text + 1, &last, &text) || last < first))
            return false;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

/* What some texts must look like, so that a mistake is refused where it is made and not when the dataplane starts. */
static const struct text_rule {
    size_t offset;
    bool (*holds)(const char *text);
    const char *reason;
} text_rules[] = {
    {FIELD(bind), is_address, "argument must be an IPv4 address"},
    {FIELD(gateway), is_address_or_empty, "argument must be an IPv4 address, or empty"},
    {FIELD(cores), is_cpu_list, "argument must be a list of CPU numbers such as 1,3-5"},
    {FIELD(pool_path), is_absolute, "argument must be an absolute path"},
    {FIELD(run_dir), is_absolute, "argument must be an absolute path"},
    {FIELD(logfile), is_absolute_or_empty, "argument must be an absolute path, or empty"},
};

static int
set_string(char *field, const struct setting *setting, const char *text, char *error, size_t error_size)
{
    size_t length = strlen(text);

    if (length >= SETTING_STRING_MAX)
        return refuse(-EINVAL, error, error_size, "argument must be shorter than 256 bytes");
    if (!is_text(text))
        return refuse(-EINVAL, error, error_size, "argument must be UTF-8 text without control characters");
    for (unsigned i = 0; i < sizeof(text_rules) / sizeof(text_rules[0]); i++)
        if (text_rules[i].offset == setting->offset && !text_rules[i].holds(text))
            return refuse(-EINVAL, error, error_size, text_rules[i].reason);
    memcpy(field, text, length + 1);
    return 0;
}

static int
set_enum(char *field, const struct setting *setting, const char *text, char *error, size_t error_size)
{
    size_t length = strlen(text), size;
    int used;

    for (const char *choice = setting->choices; *choice != '\0'; choice += size, choice += *choice == '|') {
        size = strcspn(choice, "|");
        if (size == length && strncasecmp(choice, text, size) == 0) {
            memcpy(field, choice, size);
            field[size] = '\0';
            return 0;
        }
    }
    used = snprintf(error, error_size, "argument(s) must be one of the following: ");
    for (const char *p = setting->choices; *p != '\0' && (size_t)used < error_size; p++)
        used += snprintf(error + used, error_size - used, *p == '|' ? ", " : "%.1s", p);
    return -EINVAL;
}

int
setting_set(struct settings *settings, const struct setting *setting, const char *text, char *error, size_t error_size)
{
    void *field = (char *)settings + setting->offset;

    switch (setting->type) {
    case SETTING_BOOL:
        return set_bool(field, text, error, error_size);
    case SETTING_STRING:
        return set_string(field, setting, text, error, error_size);
    case SETTING_ENUM:
        return set_enum(field, setting, text, error, error_size);
    case SETTING_INTEGER:
    case SETTING_MEMORY:
        break;
    }
    return set_number(field, setting, text, error, error_size);
}

void
setting_get(const struct settings *settings, const struct setting *setting, char *text, size_t size)
{
    const void *field = (const char *)settings + setting->offset;

    switch (setting->type) {
    case SETTING_BOOL:
        snprintf(text, size, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case SETTING_INTEGER:
    case SETTING_MEMORY:
        snprintf(text, size, "%lld", (long long)*(const int64_t *)field);
        break;
    case SETTING_STRING:
    case SETTING_ENUM:
        snprintf(text, size, "%s", (const char *)field);
        break;
    }
}

static int
change_one(struct settings *settings, const struct setting_change *changes, unsigned index, char *error,
           size_t error_size)
{
    const struct setting *setting = setting_find(changes[index].name);

    if (setting == NULL)
        return refuse(-ENOENT, error, error_size, "unknown option");
    for (unsigned i = 0; i < index; i++)
        if (strcasecmp(changes[i].name, changes[index].name) == 0)
            return refuse(-EEXIST, error, error_size, "duplicate parameter");
    if (!setting->live)
        return refuse(-EPERM, error, error_size, "can't set immutable config");
    return setting_set(settings, setting, changes[index].value, error, error_size);
}

int
settings_change(struct settings *settings, const struct setting_change *changes, unsigned count, unsigned *culprit,
                char *error, size_t error_size)
{
    struct settings changed = *settings;

    for (unsigned i = 0; i < count; i++) {
        int code = change_one(&changed, changes, i, error, error_size);
        if (code != 0) {
            *culprit = i;
            return code;
        }
    }
    *settings = changed;
    return 0;
}

static int
write_settings(FILE *file, const struct settings *settings)
{
    char value[SETTING_STRING_MAX];

    for (unsigned i = 0; i < setting_count; i++) {
        setting_get(settings, &setting_table[i], value, sizeof(value));
        fprintf(file, "%s %s\n", setting_table[i].name, value);
    }
    return fflush(file) != 0 || ferror(file) ? -EIO : 0;
}

int
settings_save(const struct settings *settings, const char *path, char *error, size_t error_size)
{
    char temporary[PATH_MAX];
    int code = 0, fd;
    FILE *file;

    if ((size_t)snprintf(temporary, sizeof(temporary), "%s.new", path) >= sizeof(temporary))
        return refuse(-ENAMETOOLONG, error, error_size, "the settings file's path is too long");
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        code = -errno;
        if (fd >= 0)
            close(fd);
    } else {
        code = write_settings(file, settings);
        if (fclose(file) != 0 && code == 0)
            code = -errno;
    }
    if (code == 0 && rename(temporary, path) != 0)
        code = -errno;
    if (code != 0)
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(-code));
    return code;
}

static int
load_line(struct settings *settings, char *line, char *error, size_t error_size)
{
    char *value = line + strcspn(line, " "), *end = strchr(line, '\n');

    if (end == NULL)
        return refuse(-EINVAL, error, error_size, "line too long or cut off");
    *end = '\0';
    if (*value == ' ')
        *value++ = '\0';
    const struct setting *setting = setting_find(line);
    if (setting == NULL)
        return refuse(-EINVAL, error, error_size, "unknown setting");
    return setting_set(settings, setting, value, error, error_size);
}

int
settings_load(struct settings *settings, const char *path, char *error, size_t error_size)
{
    struct settings loaded;
    char line[LINE_MAX_BYTES], reason[160] = "";
    int code = 0;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        code = -errno;
        snprintf(error, error_size, "cannot read %s: %s", path, strerror(-code));
        return code;
    }
    settings_default(&loaded);
    for (unsigned number = 1; code == 0 && fgets(line, sizeof(line), file) != NULL; number++) {
        code = load_line(&loaded, line, reason, sizeof(reason));
        if (code != 0)
            snprintf(error, error_size, "%s line %u: %.*s: %s", path, number, (int)strcspn(line, " \n"), line, reason);
    }
    if (code == 0 && ferror(file)) {
        code = -EIO;
        snprintf(error, error_size, "cannot read %s: %s", path, strerror(EIO));
    }
    fclose(file);
    if (code == 0)
        *settings = loaded;
    return code;
}
