/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/command/glob.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static void
patterns_match_as_in_redis(void)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } row[] = {
        {"*", "abc", true},
        {"a*", "abc", true},
        {"*c", "abc", true},
        {"a*c", "abc", true},
        {"a*d", "abc", false},
        {"a?c", "abc", true},
        {"a?", "abc", false},
        {"", "", true},
        {"*", "", false},
        {"", "a", false},
        {"**", "a", true},
        {"a**", "a", true},
        {"[abc]", "b", true},
        {"[^abc]", "b", false},
        {"[^abc]", "d", true},
        {"[a-c]", "b", true},
        {"[c-a]", "b", true},
        {"[a-c]x", "bx", true},
        {"[a-", "-", true},
        {"[a", "a", true},
        {"[", "[", false},
        {"[]", "]", false},
        {"[\\]]", "]", true},
        {"[a\\-c]", "b", false},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\", "\\", true},
        {"a\\", "a\\", true},
        {"A", "a", false},
        {"*a*b*", "xaxbx", true},
        {"*a*b*", "xbxax", false},
        {"a*b?c", "axxbyc", true},
        {"*aab", "aaaaaab", true},
        {"[!a]", "!", true},
        {"h[a-]llo", "h-llo", false},
    };
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        CU_ASSERT_EQUAL(glob_match(row[i].pattern, strlen(row[i].pattern), row[i].text, strlen(row[i].text), false),
                        row[i].matches);
    CU_ASSERT_TRUE(glob_match("A[B-D]?", 7, "acX", 3, true));
    CU_ASSERT_TRUE(glob_match("a\0*", 3, "a\0b", 3, false));
}

/* These take exponential time or a deep stack when matched by plain recursion. */
static void
bad_patterns_cost_little(void)
{
    enum { LEN = 20000 };
    char *pattern = malloc(LEN * 4), *text = malloc(LEN);
    memset(text, 'a', LEN);
    for (unsigned i = 0; i < LEN; i++)
        memcpy(pattern + i * 3, "*a]", 3);
    CU_ASSERT_FALSE(glob_match(pattern, LEN * 3, text, LEN, false));
    for (unsigned i = 0; i < LEN; i++)
        memcpy(pattern + i * 2, "*a", 2);
    pattern[LEN * 2] = 'b';
    CU_ASSERT_FALSE(glob_match(pattern, LEN * 2 + 1, text, LEN, false));
    memset(pattern, '*', LEN * 4);
    CU_ASSERT_TRUE(glob_match(pattern, LEN * 4, text, LEN, false));
    memset(pattern, '[', LEN * 4);
    CU_ASSERT_FALSE(glob_match(pattern, LEN * 4, text, LEN, false));
    free(pattern);
    free(text);
}

static const struct unit_test tests[] = {
    {"patterns match as in Redis", patterns_match_as_in_redis},
    {"bad patterns cost little", bad_patterns_cost_little},
};
UNIT_MAIN("glob", tests)
