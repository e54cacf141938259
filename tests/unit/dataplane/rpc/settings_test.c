/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of dataplane/rpc/settings.h. */
#include "dataplane/rpc/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static struct settings settings;
static char error[512];

static int
set(const char *name, const char *text)
{
    const struct setting *setting = setting_find(name);

    error[0] = '\0';
    return setting == NULL ? -ENOENT : setting_set(&settings, setting, text, error, sizeof(error));
}

static const char *
get(const char *name)
{
    static char text[SETTING_STRING_MAX];

    setting_get(&settings, setting_find(name), text, sizeof(text));
    return text;
}

static void
defaults_are_valid_and_print_back(void)
{
    struct settings again;
    char text[SETTING_STRING_MAX];

    settings_default(&settings);
    settings_default(&again);
    CU_ASSERT_EQUAL(settings.port, 6379);
    CU_ASSERT_TRUE(settings.protected_mode);
    CU_ASSERT_EQUAL(settings.client_query_buffer_limit, 1073741824);
    CU_ASSERT_STRING_EQUAL(settings.maxmemory_policy, "noeviction");
    for (unsigned i = 0; i < setting_count; i++) {
        setting_get(&settings, &setting_table[i], text, sizeof(text));
        CU_ASSERT_STRING_EQUAL(text, setting_table[i].standard);
        CU_ASSERT_EQUAL(setting_set(&again, &setting_table[i], text, error, sizeof(error)), 0);
    }
    CU_ASSERT_EQUAL(memcmp(&settings, &again, sizeof(again)), 0);
}

static void
names_are_unique(void)
{
    for (unsigned i = 0; i < setting_count; i++)
        CU_ASSERT_PTR_EQUAL(setting_find(setting_table[i].name), &setting_table[i]);
    CU_ASSERT_PTR_EQUAL(setting_find("MaxClients"), setting_find("maxclients"));
    CU_ASSERT_PTR_NULL(setting_find("maxclient"));
    CU_ASSERT_PTR_NULL(setting_find(""));
}

static void
memory_has_the_units_of_redis_conf(void)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {{"20000000", 20000000}, {"20000000b", 20000000}, {"20000k", 20000000},
                {"20000kb", 20480000},  {"20m", 20000000},       {"20mb", 20971520},
                {"20MB", 20971520},     {"1g", 1000000000},      {"1Gb", 1073741824}};

    settings_default(&settings);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(set("pool-size", rows[i].text), 0);
        CU_ASSERT_EQUAL(settings.pool_size, rows[i].bytes);
    }
}

static void
bad_values_are_refused_and_change_nothing(void)
{
    static const struct {
        const char *name, *text, *reason;
    } rows[] = {
        {"pool-size", "", "memory value"},
        {"pool-size", "big", "memory value"},
        {"pool-size", "-1", "memory value"},
        {"pool-size", "1gib", "memory value"},
        {"pool-size", "1 gb", "memory value"},
        {"pool-size", " 64mb", "memory value"},
        {"pool-size", "9223372036854775807k", "memory value"},
        {"pool-size", "99999999999999999999", "memory value"},
        {"pool-size", "1mb", "between 16777216 and 17592186044416 inclusive"},
        {"port", "0", "between 1 and 65535 inclusive"},
        {"port", "65536", "between 1 and 65535 inclusive"},
        {"port", "6379b", "into an integer"},
        {"port", "0x10", "into an integer"},
        {"port", " 1", "into an integer"},
        {"port", "+1", "into an integer"},
        {"port", "", "into an integer"},
        {"port", "99999999999999999999", "into an integer"},
        {"protected-mode", "maybe", "'yes' or 'no'"},
        {"protected-mode", "", "'yes' or 'no'"},
        {"loglevel", "noti", "one of the following: debug, verbose, notice, warning"},
        {"loglevel", "", "one of the following"},
        {"loglevel", "debug|verbose", "one of the following"},
        {"bind", "10.77.0", "an IPv4 address"},
        {"bind", "", "an IPv4 address"},
        {"gateway", "host", "an IPv4 address, or empty"},
        {"cores", "", "list of CPU numbers"},
        {"cores", "0,", "list of CPU numbers"},
        {"cores", "3-1", "list of CPU numbers"},
        {"cores", "-1", "list of CPU numbers"},
        {"cores", "1-2-3", "list of CPU numbers"},
        {"pool-path", "pool", "an absolute path"},
        {"logfile", "log", "an absolute path, or empty"},
        {"requirepass", "a\nb", "control characters"},
        {"requirepass", "\xff\xfe", "UTF-8"},
    };
    struct settings before;

    settings_default(&settings);
    before = settings;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(set(rows[i].name, rows[i].text), -EINVAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].reason));
    }
    CU_ASSERT_EQUAL(memcmp(&settings, &before, sizeof(before)), 0);
}

static void
texts_with_a_form_are_taken(void)
{
    settings_default(&settings);
    CU_ASSERT_EQUAL(set("bind", "192.0.2.1"), 0);
    CU_ASSERT_EQUAL(set("gateway", ""), 0);
    CU_ASSERT_EQUAL(set("cores", "0,2-4,7"), 0);
    CU_ASSERT_EQUAL(set("logfile", ""), 0);
    CU_ASSERT_EQUAL(set("logfile", "/tmp/log"), 0);
}

static void
values_ignore_the_case_of_words(void)
{
    settings_default(&settings);
    CU_ASSERT_EQUAL(set("protected-mode", "NO"), 0);
    CU_ASSERT_STRING_EQUAL(get("protected-mode"), "no");
    CU_ASSERT_EQUAL(set("loglevel", "Warning"), 0);
    CU_ASSERT_STRING_EQUAL(get("loglevel"), "warning");
    CU_ASSERT_EQUAL(set("loglevel", "debug"), 0);
    CU_ASSERT_STRING_EQUAL(get("loglevel"), "debug");
}

static void
strings_have_a_longest_length(void)
{
    char text[SETTING_STRING_MAX + 1];

    memset(text, 'x', sizeof(text));
    text[SETTING_STRING_MAX] = '\0';
    settings_default(&settings);
    CU_ASSERT_EQUAL(set("requirepass", text), -EINVAL);
    text[SETTING_STRING_MAX - 1] = '\0';
    CU_ASSERT_EQUAL(set("requirepass", text), 0);
    CU_ASSERT_STRING_EQUAL(get("requirepass"), text);
}

static void
a_change_is_whole_or_not_at_all(void)
{
    static const struct {
        struct setting_change changes[3];
        int code;
        unsigned culprit;
        const char *reason;
    } rows[] = {
        {{{"maxclients", "7"}, {"timeout", "8"}, {"nosuch", "1"}}, -ENOENT, 2, "unknown option"},
        {{{"maxclients", "7"}, {"port", "1234"}, {"timeout", "8"}}, -EPERM, 1, "can't set immutable config"},
        {{{"maxclients", "7"}, {"timeout", "8"}, {"MAXCLIENTS", "9"}}, -EEXIST, 2, "duplicate parameter"},
        {{{"maxclients", "0"}, {"timeout", "8"}, {"loglevel", "debug"}}, -EINVAL, 0, "between 1 and"},
    };
    static const struct setting_change good[] = {{"maxclients", "7"}, {"Timeout", "8"}, {"loglevel", "debug"}};
    struct settings before;
    unsigned culprit;

    settings_default(&settings);
    before = settings;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        culprit = 99;
        CU_ASSERT_EQUAL(settings_change(&settings, rows[i].changes, 3, &culprit, error, sizeof(error)), rows[i].code);
        CU_ASSERT_EQUAL(culprit, rows[i].culprit);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].reason));
        CU_ASSERT_EQUAL(memcmp(&settings, &before, sizeof(before)), 0);
    }
    CU_ASSERT_EQUAL(settings_change(&settings, good, 3, &culprit, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(settings.maxclients, 7);
    CU_ASSERT_EQUAL(settings.timeout, 8);
    CU_ASSERT_STRING_EQUAL(settings.loglevel, "debug");
}

static void
saved_settings_load_the_same(void)
{
    char folder[] = "/tmp/settings_test.XXXXXX", path[64];
    struct settings loaded;
    struct stat status;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/settings", folder);
    settings_default(&settings);
    CU_ASSERT_EQUAL(set("requirepass", "  \"spaces\" # and 'quotes' "), 0);
    CU_ASSERT_EQUAL(set("gateway", ""), 0);
    CU_ASSERT_EQUAL(set("maxclients", "123"), 0);
    CU_ASSERT_EQUAL(settings_save(&settings, path, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(settings_load(&loaded, path, error, sizeof(error)), 0);
    CU_ASSERT_EQUAL(memcmp(&settings, &loaded, sizeof(loaded)), 0);
    CU_ASSERT_EQUAL(stat(path, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
    unlink(path);
    CU_ASSERT_EQUAL(settings_load(&loaded, path, error, sizeof(error)), -ENOENT);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    CU_ASSERT_EQUAL(settings_save(&settings, path, error, sizeof(error)), -ENOENT);
}

static void
a_bad_settings_file_is_refused_with_its_line(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"port 6379\nnosuch 1\n", "line 2: nosuch: unknown setting"},
        {"port 6379\n\n", "line 2"},
        {"maxclients 1\nport x\n", "line 2: port: argument couldn't be parsed"},
        {"requirepass secret", "line 1: requirepass: line too long or cut off"},
    };
    char path[] = "/tmp/settings_test.XXXXXX";
    struct settings before;
    int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0);
    settings_default(&settings);
    before = settings;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
        CU_ASSERT_EQUAL(pwrite(fd, rows[i].text, strlen(rows[i].text), 0), (ssize_t)strlen(rows[i].text));
        CU_ASSERT_EQUAL(settings_load(&settings, path, error, sizeof(error)), -EINVAL);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].reason));
        CU_ASSERT_EQUAL(memcmp(&settings, &before, sizeof(before)), 0);
    }
    close(fd);
    unlink(path);
}

static const struct unit_test tests[] = {
    {"defaults are valid and print back", defaults_are_valid_and_print_back},
    {"names are unique", names_are_unique},
    {"memory has the units of redis.conf", memory_has_the_units_of_redis_conf},
    {"bad values are refused and change nothing", bad_values_are_refused_and_change_nothing},
    {"texts with a form are taken", texts_with_a_form_are_taken},
    {"values ignore the case of words", values_ignore_the_case_of_words},
    {"strings have a longest length", strings_have_a_longest_length},
    {"a change is whole or not at all", a_change_is_whole_or_not_at_all},
    {"saved settings load the same", saved_settings_load_the_same},
    {"a bad settings file is refused with its line", a_bad_settings_file_is_refused_with_its_line},
};

UNIT_MAIN("dataplane/rpc/settings", tests)
