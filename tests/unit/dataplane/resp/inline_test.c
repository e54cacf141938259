/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "dataplane/resp/parse.h"
#include "tests/unit/unit.h"

static void
lines_are_split_as_redis_splits_them(void)
{
    static const struct {
        const char *line;
        int argc; /* or -EINVAL */
        const char *argument[3];
    } row[] = {
        {"PING", 1, {"PING"}},
        {"  SET\tkey   value ", 3, {"SET", "key", "value"}},
        {"", 0, {0}},
        {"   ", 0, {0}},
        {"set \"a b\" 'c d'", 3, {"set", "a b", "c d"}},
        {"echo \"\"", 2, {"echo", ""}},
        {"\"\\x41\\n\\r\\t\\b\\a\\\\\\\"\\q\"", 1, {"A\n\r\t\b\a\\\"q"}},
        {"\"\\xZZ\"", 1, {"xZZ"}},
        {"'it\\'s \\n'", 1, {"it's \\n"}},
        {"a\\nb", 1, {"a\\nb"}},
        {"foo\"bar\"", 1, {"foobar"}},
        {"\"a\"b", -EINVAL, {0}},
        {"\"a", -EINVAL, {0}},
        {"'a", -EINVAL, {0}},
        {"\"a\\\"", -EINVAL, {0}},
        {"a\v\fb", 1, {"a\v\fb"}},
        {"a \v b", 2, {"a", "b"}},
    };
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct slice argv[4];
        uint8_t text[64];
        size_t len = strlen(row[i].line);
        int argc = inline_split((const uint8_t *)row[i].line, len, argv, 4, text);
        CU_ASSERT_EQUAL(argc, row[i].argc);
        for (int a = 0; a < argc && a < 3; a++) {
            CU_ASSERT_EQUAL(argv[a].len, strlen(row[i].argument[a]));
            CU_ASSERT_EQUAL(memcmp(argv[a].data, row[i].argument[a], argv[a].len), 0);
        }
        CU_ASSERT_EQUAL(inline_split((const uint8_t *)row[i].line, len, NULL, 0, text), row[i].argc);
    }
}

static void
arguments_without_quotes_are_not_copied(void)
{
    const uint8_t line[] = "get key";
    struct slice argv[2];
    CU_ASSERT_EQUAL(inline_split(line, 7, argv, 2, NULL), 2);
    CU_ASSERT_PTR_EQUAL(argv[1].data, line + 4);
}

static const struct unit_test tests[] = {
    {"lines are split as Redis splits them", lines_are_split_as_redis_splits_them},
    {"arguments without quotes are not copied", arguments_without_quotes_are_not_copied},
};
UNIT_MAIN("inline", tests)
