/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of control/config.h. */
#include "control/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/control/scratch.h"
#include "tests/unit/unit.h"

static char main_path[64], error[1024];
static struct settings settings;

static void
write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, length, file), length);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void
write_text(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", scratch, name);
    write_bytes(path, text, strlen(text));
}

static int
load(const char *text)
{
    write_text("main.conf", text);
    error[0] = '\0';
    return config_load(&settings, main_path, error, sizeof(error));
}

static void
good_lines_are_taken(void)
{
    CU_ASSERT_EQUAL(load(""), 0);
    CU_ASSERT_EQUAL(settings.port, 6379);
    CU_ASSERT_EQUAL(load("# a comment\r\n"
                         "\t # another\n"
                         "\n"
                         "   \t\n"
                         "  port \t 7000  \r\n"
                         "POOL-SIZE 2gb\n"
                         "packet-memory 64MB\n"
                         "protected-mode no\n"
                         "requirepass 'it\\'s \"quoted\" #1'\n"
                         "save \"\"\n"
                         "loglevel \"debug\"\n"
                         "gateway ''\n"
                         "maxclients 50"),
                    0);
    CU_ASSERT_EQUAL(settings.port, 7000);
    CU_ASSERT_EQUAL(settings.pool_size, 2147483648);
    CU_ASSERT_EQUAL(settings.packet_memory, 67108864);
    CU_ASSERT_FALSE(settings.protected_mode);
    CU_ASSERT_STRING_EQUAL(settings.requirepass, "it's \"quoted\" #1");
    CU_ASSERT_STRING_EQUAL(settings.save, "");
    CU_ASSERT_STRING_EQUAL(settings.loglevel, "debug");
    CU_ASSERT_STRING_EQUAL(settings.gateway, "");
    CU_ASSERT_EQUAL(settings.maxclients, 50);
    CU_ASSERT_EQUAL(settings.databases, 16);
}

static void
double_quotes_know_escapes(void)
{
    CU_ASSERT_EQUAL(load("requirepass \"a\\\"b\\\\c\\x41\\x7a\\q\"\n"), 0);
    CU_ASSERT_STRING_EQUAL(settings.requirepass, "a\"b\\cAzq");
    CU_ASSERT_EQUAL(load("requirepass 'a\\nb'\n"), 0);
    CU_ASSERT_STRING_EQUAL(settings.requirepass, "a\\nb");
}

static void
bad_files_are_refused_whole_with_line_and_reason(void)
{
    static const struct {
        const char *text, *where, *reason;
    } rows[] = {
        {"port 1\nnosuch 1\n", "main.conf line 2: ", "unknown setting 'nosuch'"},
        {"port 1\nbind 10.0.0.1\nPort 2\n", "main.conf line 3: ", "port was already given in "},
        {"maxclients 10\nport 1\nport 1\n", "line 3: ", "main.conf line 2"},
        {"port 0\n", "line 1: ", "port: argument must be between 1 and 65535 inclusive"},
        {"\n\nport seven\n", "line 3: ", "port: argument couldn't be parsed into an integer"},
        {"pool-size 1 gb\n", "line 1: ", "takes one value"},
        {"pool-size 1gib\n", "line 1: ", "pool-size: argument must be a memory value"},
        {"port 6379 # our port\n", "line 1: ", "a comment on its own line"},
        {"port\n", "line 1: ", "port needs a value"},
        {"port \n", "line 1: ", "port needs a value"},
        {"include\n", "line 1: ", "include needs a value"},
        {"requirepass \"abc\n", "line 1: ", "unbalanced quotes"},
        {"requirepass 'abc\n", "line 1: ", "unbalanced quotes"},
        {"requirepass \"abc\"def\n", "line 1: ", "unbalanced quotes"},
        {"requirepass \"abc\\\"\n", "line 1: ", "unbalanced quotes"},
        {"requirepass abc \"\n", "line 1: ", "takes one value"},
        {"requirepass \"a\\x00b\"\n", "line 1: ", "NUL byte"},
        {"requirepass \"a\\nb\"\n", "line 1: ", "control characters"},
        {"requirepass \"\\xff\"\n", "line 1: ", "UTF-8"},
        {"protected-mode perhaps\n", "line 1: ", "'yes' or 'no'"},
        {"loglevel loud\n", "line 1: ", "one of the following"},
        {"bind 10.0.0.256\n", "line 1: ", "IPv4"},
        {"include missing.conf\n", "main.conf line 1: ", "missing.conf: No such file"},
        {"include /\n", "", "Is a directory"},
    };
    struct settings before;

    CU_ASSERT_EQUAL(load("port 4242\n"), 0);
    before = settings;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(load(rows[i].text), -EINVAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].where));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].reason));
        CU_ASSERT_EQUAL(memcmp(&settings, &before, sizeof(before)), 0);
    }
}

static void
files_that_are_no_text_are_refused(void)
{
    char line[3000];

    write_bytes(main_path, "port 63\00079\n", 11);
    CU_ASSERT_EQUAL(config_load(&settings, main_path, error, sizeof(error)), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "line 1: a NUL byte"));
    memset(line, '#', sizeof(line));
    write_bytes(main_path, line, sizeof(line));
    CU_ASSERT_EQUAL(config_load(&settings, main_path, error, sizeof(error)), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "line 1: line longer than"));
    CU_ASSERT_EQUAL(config_load(&settings, scratch, error, sizeof(error)), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "Is a directory"));
    unlink(main_path);
    CU_ASSERT_EQUAL(config_load(&settings, main_path, error, sizeof(error)), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "No such file"));
}

static void
includes_are_read_in_place(void)
{
    char text[256];

    write_text("one.conf", "port 1111\ninclude 'two.conf'\n");
    write_text("two.conf", "maxclients 22\n");
    CU_ASSERT_EQUAL(load("timeout 5\ninclude one.conf\ndatabases 4\n"), 0);
    CU_ASSERT_EQUAL(settings.port, 1111);
    CU_ASSERT_EQUAL(settings.maxclients, 22);
    CU_ASSERT_EQUAL(settings.databases, 4);
    snprintf(text, sizeof(text), "INCLUDE %s/one.conf\n", scratch);
    CU_ASSERT_EQUAL(load(text), 0);
    CU_ASSERT_EQUAL(settings.port, 1111);

    CU_ASSERT_EQUAL(load("maxclients 1\ninclude one.conf\n"), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "two.conf line 1: maxclients was already given in "));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "main.conf line 1"));
    CU_ASSERT_EQUAL(load("include two.conf\ninclude two.conf\n"), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "two.conf line 1: maxclients was already given in "));
    write_text("two.conf", "# fine\n\nmaxclients none\n");
    CU_ASSERT_EQUAL(load("include one.conf\n"), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "two.conf line 3: maxclients: "));
}

static void
loops_of_includes_end(void)
{
    char name[32], text[64];

    CU_ASSERT_EQUAL(load("include main.conf\n"), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "does a file include itself?"));
    write_text("loop.conf", "include main.conf\n");
    CU_ASSERT_EQUAL(load("include loop.conf\n"), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "does a file include itself?"));
    /* As deep as allowed: the main file and those below it. */
    for (int i = 1; i < CONFIG_INCLUDE_DEPTH - 1; i++) {
        snprintf(name, sizeof(name), "deep%d.conf", i);
        snprintf(text, sizeof(text), "include deep%d.conf\n", i + 1);
        write_text(name, text);
    }
    snprintf(name, sizeof(name), "deep%d.conf", CONFIG_INCLUDE_DEPTH - 1);
    write_text(name, "port 99\n");
    CU_ASSERT_EQUAL(load("include deep1.conf\n"), 0);
    CU_ASSERT_EQUAL(settings.port, 99);
    write_text(name, "include other.conf\n");
    write_text("other.conf", "port 99\n");
    CU_ASSERT_EQUAL(load("include deep1.conf\n"), -EINVAL);
}

/* The reference as printed and, with uncomment, with its lines `# name value` brought into effect. */
static char *
reference(bool uncomment)
{
    char *text = NULL, *copy = NULL, *rest = NULL;
    size_t size = 0, copy_size = 0;
    FILE *file = open_memstream(&text, &size), *to = open_memstream(&copy, &copy_size);

    CU_ASSERT_FATAL(file != NULL && to != NULL);
    CU_ASSERT_EQUAL(config_print_reference(file), 0);
    fclose(file);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[64];
        bool is_setting = sscanf(line, "# %63s", name) == 1 && setting_find(name) != NULL;
        fprintf(to, "%s\n", line + (uncomment && is_setting ? 2 : 0));
    }
    fclose(to);
    free(text);
    return copy;
}

static void
the_printed_reference_says_the_defaults(void)
{
    char *plain = reference(false), *effective = reference(true);
    struct settings standard;

    settings_default(&standard);
    CU_ASSERT_EQUAL(load(plain), 0);
    CU_ASSERT_EQUAL(memcmp(&settings, &standard, sizeof(standard)), 0);
    CU_ASSERT_EQUAL(load(effective), 0);
    CU_ASSERT_EQUAL(memcmp(&settings, &standard, sizeof(standard)), 0);
    for (unsigned i = 0; i < setting_count; i++) {
        char line[128];
        snprintf(line, sizeof(line), "\n%s ", setting_table[i].name);
        CU_ASSERT_PTR_NOT_NULL(strstr(effective, line));
        CU_ASSERT_PTR_NULL(strstr(plain, line));
    }
    free(plain);
    free(effective);
}

static const struct unit_test tests[] = {
    {"good lines are taken", good_lines_are_taken},
    {"double quotes know escapes", double_quotes_know_escapes},
    {"bad files are refused whole, with line and reason", bad_files_are_refused_whole_with_line_and_reason},
    {"files that are no text are refused", files_that_are_no_text_are_refused},
    {"includes are read in place", includes_are_read_in_place},
    {"loops of includes end", loops_of_includes_end},
    {"the printed reference says the defaults", the_printed_reference_says_the_defaults},
};

int
main(void)
{
    int failed;

    if (!scratch_make())
        return 1;
    snprintf(main_path, sizeof(main_path), "%s/main.conf", scratch);
    failed = unit_main("control/config", tests, sizeof(tests) / sizeof(tests[0]));
    scratch_remove();
    return failed;
}
