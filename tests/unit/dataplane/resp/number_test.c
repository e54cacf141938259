/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/resp/number.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

static void
integers_are_strict(void)
{
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } row[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"10", true, 10},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"18446744073709551616", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"-0", false, 0},
        {"01", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1x", false, 0},
        {"0x1", false, 0},
        {"1.0", false, 0},
        {"--1", false, 0},
    };
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        int64_t value = 0;
        CU_ASSERT_EQUAL(integer_parse(row[i].text, strlen(row[i].text), &value), row[i].good);
        CU_ASSERT_EQUAL(value, row[i].value);
    }
}

static void
integers_come_back(void)
{
    static const int64_t sample[] = {0, 1, -1, 9, 10, 99, -100, INT64_MAX, INT64_MIN, 1234567890123};
    for (unsigned i = 0; i < sizeof(sample) / sizeof(sample[0]); i++) {
        char text[INTEGER_TEXT_MAX];
        int64_t value;
        unsigned len = integer_format(sample[i], text);
        CU_ASSERT_TRUE(integer_parse(text, len, &value));
        CU_ASSERT_EQUAL(value, sample[i]);
    }
}

static void
reals_refuse_what_is_no_number(void)
{
    static const char *const bad[] = {"", " 1", "1 ", "abc", "nan", "-nan", "1e5000", "1.5x", "\t2"};
    long double value;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CU_ASSERT_FALSE(real_parse(bad[i], strlen(bad[i]), &value));
    CU_ASSERT_FALSE(real_parse("1\0002", 3, &value));
    CU_ASSERT_TRUE(real_parse("inf", 3, &value) && isinf(value));
    CU_ASSERT_TRUE(real_parse("-1.5e3", 6, &value) && value == -1500);
    CU_ASSERT_TRUE(real_parse("0x1p3", 5, &value) && value == 8);
}

static void
reals_have_no_exponent_and_no_trailing_zeros(void)
{
    static const struct {
        long double value;
        const char *text;
    } row[] = {{0, "0"},           {-0.0L, "0"},    {3, "3"},
               {10.5L, "10.5"},    {-0.1L, "-0.1"}, {1e21L, "1000000000000000000000"},
               {1e-20L, "0"},      {5000, "5000"},  {INFINITY, "inf"},
               {-INFINITY, "-inf"}};
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        static char text[REAL_TEXT_MAX];
        unsigned len = real_format(row[i].value, text);
        CU_ASSERT_EQUAL(len, strlen(row[i].text));
        CU_ASSERT_EQUAL(memcmp(text, row[i].text, len), 0);
    }
}

static const struct unit_test tests[] = {
    {"integers are strict", integers_are_strict},
    {"integers come back", integers_come_back},
    {"reals refuse what is no number", reals_refuse_what_is_no_number},
    {"reals have no exponent and no trailing zeros", reals_have_no_exponent_and_no_trailing_zeros},
};
UNIT_MAIN("number", tests)
