/* SPDX-License-Identifier: BSD-3-Clause */
/* The config file: lines, quotes, includes. */
#include "control/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_BYTES 1024

struct place { /* where a setting was given */
    unsigned line;
    char file[256];
};

struct load {
    struct settings settings;
    struct place *given; /* [setting_count]; line 0: not given */
    unsigned depth;
    char *error;
    size_t error_size;
};

struct source { /* the file being read */
    const char *path;
    unsigned line;
};

static int load_file(struct load *load, const struct source *from, const char *path);

static int __attribute__((format(printf, 3, 4)))
refuse(struct load *load, const struct source *source, const char *format, ...)
{
    char reason[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    if (source == NULL)
        snprintf(load->error, load->error_size, "%s", reason);
    else
        snprintf(load->error, load->error_size, "%s line %u: %s", source->path, source->line, reason);
    return -EINVAL;
}

static char
unescape(const char **text)
{
    const char *p = *text;

    if (p[0] == 'x' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
        char digits[3] = {p[1], p[2], '\0'};
        *text = p + 3;
        return (char)strtol(digits, NULL, 16);
    }
    *text = p + 1;
    switch (*p) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return *p;
    }
}

/*
 * Cut the next word off *text, in place and without its quotes, and NUL-terminate it. NULL: there is none or, with
 * *problem set, it is malformed.
 */
static char *
next_word(char **text, const char **problem)
{
    char *word = *text + strspn(*text, " \t"), *to = word;
    const char *from = word;
    char quote = '\0';

    *problem = NULL;
    if (*from == '\0')
        return NULL;
    if (*from == '"' || *from == '\'')
        quote = *from++;
    while (*from != '\0' && (quote != '\0' ? *from != quote : *from != ' ' && *from != '\t')) {
        if (quote == '"' && from[0] == '\\' && from[1] != '\0') {
            from++;
            *to = unescape(&from);
            if (*to++ == '\0')
                *problem = "a NUL byte in a value";
        } else {
            from += quote == '\'' && from[0] == '\\' && from[1] == '\'';
            *to++ = *from++;
        }
    }
    if (quote != '\0' && (*from++ != quote || (*from != '\0' && *from != ' ' && *from != '\t')))
        *problem = "unbalanced quotes";
    if (*problem != NULL)
        return NULL;
    *text += from - *text + (*from != '\0');
    *to = '\0';
    return word;
}

static int
take_setting(struct load *load, const struct source *source, const char *name, const char *value)
{
    const struct setting *setting = setting_find(name);
    char reason[256];

    if (setting == NULL)
        return refuse(load, source, "unknown setting '%s'", name);
    struct place *given = &load->given[setting - setting_table];
    if (given->line != 0)
        return refuse(load, source, "%s was already given in %s line %u", setting->name, given->file, given->line);
    if (setting_set(&load->settings, setting, value, reason, sizeof(reason)) != 0)
        return refuse(load, source, "%s: %s", setting->name, reason);
    given->line = source->line;
    snprintf(given->file, sizeof(given->file), "%s", source->path);
    return 0;
}

static int
take_include(struct load *load, const struct source *source, const char *path)
{
    const char *slash = strrchr(source->path, '/');
    char full[PATH_MAX];
    int folder = slash == NULL || path[0] == '/' ? 0 : (int)(slash + 1 - source->path);

    if (load->depth == CONFIG_INCLUDE_DEPTH)
        return refuse(load, source, "includes nest deeper than %d: does a file include itself?", CONFIG_INCLUDE_DEPTH);
    if ((size_t)snprintf(full, sizeof(full), "%.*s%s", folder, source->path, path) >= sizeof(full))
        return refuse(load, source, "the path to include is too long");
    return load_file(load, source, full);
}

static int
take_line(struct load *load, const struct source *source, char *line)
{
    const char *problem;
    char *name, *value = NULL, *rest = line;

    if (line[strspn(line, " \t")] == '#')
        return 0;
    name = next_word(&rest, &problem);
    if (name == NULL && problem == NULL)
        return 0;
    if (problem == NULL)
        value = next_word(&rest, &problem);
    if (problem != NULL)
        return refuse(load, source, "%s", problem);
    if (value == NULL)
        return refuse(load, source, "%s needs a value (\"\" for an empty one)", name);
    if (next_word(&rest, &problem) != NULL || problem != NULL)
        return refuse(load, source, "%s takes one value: put quotes around one with spaces, a comment on its own line",
                      name);
    if (strcasecmp(name, "include") == 0)
        return take_include(load, source, value);
    return take_setting(load, source, name, value);
}

/* The next line without its end, into line[LINE_BYTES]. Its length, -ENODATA at the end of the file, or -errno. */
static int
read_line(FILE *file, char *line)
{
    int length = 0, byte;

    while ((byte = getc(file)) != EOF && byte != '\n') {
        if (byte == '\0' || length == LINE_BYTES - 1)
            return byte == '\0' ? -EILSEQ : -EMSGSIZE;
        line[length++] = (char)byte;
    }
    if (byte == EOF && ferror(file))
        return -EIO;
    if (byte == EOF && length == 0)
        return -ENODATA;
    length -= length > 0 && line[length - 1] == '\r';
    line[length] = '\0';
    return length;
}

static int
load_lines(struct load *load, struct source *source, FILE *file)
{
    char line[LINE_BYTES];
    int code;

    do {
        int length = read_line(file, line);
        if (length == -ENODATA)
            return 0;
        if (length == -EIO)
            return refuse(load, NULL, "cannot read %s: %s", source->path, strerror(errno));
        source->line++;
        if (length == -EILSEQ)
            return refuse(load, source, "a NUL byte: is this a text file?");
        if (length == -EMSGSIZE)
            return refuse(load, source, "line longer than %d bytes", LINE_BYTES - 1);
        code = take_line(load, source, line);
    } while (code == 0);
    return code;
}

/* from: the line with the include, or NULL for the main file. */
static int
load_file(struct load *load, const struct source *from, const char *path)
{
    struct source source = {path, 0};
    FILE *file = fopen(path, "re");
    int code;

    if (file == NULL)
        return refuse(load, from, "cannot read %s: %s", path, strerror(errno));
    load->depth++;
    code = load_lines(load, &source, file);
    load->depth--;
    fclose(file);
    return code;
}

int
config_load(struct settings *settings, const char *path, char *error, size_t error_size)
{
    struct load load = {.error = error, .error_size = error_size};
    int code;

    load.given = calloc(setting_count, sizeof(*load.given));
    if (load.given == NULL)
        return -ENOMEM;
    settings_default(&load.settings);
    code = load_file(&load, NULL, path);
    free(load.given);
    if (code == 0)
        *settings = load.settings;
    return code;
}

/* What a value may be, as a sentence fragment. */
static void
describe_values(const struct setting *setting, char *text, size_t size)
{
    switch (setting->type) {
    case SETTING_BOOL:
    case SETTING_ENUM:
        snprintf(text, size, "%s", setting->choices);
        break;
    case SETTING_INTEGER:
    case SETTING_MEMORY:
        snprintf(text, size, "%lld to %lld%s", (long long)setting->min, (long long)setting->max,
                 setting->type == SETTING_MEMORY ? ", units k kb m mb g gb" : "");
        break;
    case SETTING_STRING:
        snprintf(text, size, "text");
        break;
    }
}

int
config_print_reference(FILE *file)
{
    char values[256];

    fprintf(file,
            "# Settings of Pollux %s, each with its default; written by pollux-control --print-config.\n"
            "# A line is `name value`, or `include FILE`. A file with a mistake is refused as a whole.\n",
            POLLUX_VERSION);
    for (unsigned i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        const char *quote = setting->type == SETTING_STRING && strpbrk(setting->standard, " \t\"'") != NULL ? "'" : "";
        describe_values(setting, values, sizeof(values));
        fprintf(file, "\n# %s\n# %s; %s\n# %s %s%s%s\n", setting->what, values,
                setting->live ? "may be changed while running" : "read at start", setting->name, quote,
                setting->standard[0] == '\0' ? "\"\"" : setting->standard, quote);
    }
    return fflush(file) != 0 || ferror(file) ? -EIO : 0;
}
