/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

#define KEYS 5000

static void
set_keys(struct harness *h, struct stream *stream, unsigned from, unsigned to)
{
    char line[32];
    for (unsigned i = from; i < to; i++) {
        snprintf(line, sizeof(line), "SET k%05u v", i);
        harness_command(h, stream, line);
    }
}

/* Marks the keys of a reply of SCAN; returns the next cursor, *elements the length of its array. */
static uint64_t
mark_keys(const char *reply, unsigned *seen, unsigned *elements)
{
    char *p;
    CU_ASSERT_EQUAL_FATAL(strncmp(reply, "*2\r\n$", 5), 0);
    uint64_t cursor = strtoull(strchr(reply + 5, '\n') + 1, &p, 10);
    *elements = (unsigned)strtoul(p + 3, &p, 10);
    for (unsigned i = 0; i < *elements; i++) {
        p = strstr(p, "\r\n$6\r\nk");
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        seen[strtoul(p + 7, &p, 10)]++;
    }
    return cursor;
}

/* Every key that is there all the time is met, while the table grows to four times its size. */
static void
a_walk_meets_all_while_the_table_grows(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    static unsigned seen[5 * KEYS];
    unsigned elements, calls = 0, next = KEYS;
    uint64_t cursor = 0;
    char line[64];
    set_keys(h, stream, 0, KEYS);
    do {
        snprintf(line, sizeof(line), "SCAN %lu COUNT 20", cursor);
        cursor = mark_keys(harness_command(h, stream, line), seen, &elements);
        set_keys(h, stream, next, next + 100 < 4 * KEYS ? next + 100 : 4 * KEYS);
        next = next + 100 < 4 * KEYS ? next + 100 : 4 * KEYS;
    } while (cursor != 0 && ++calls < 10000);
    CU_ASSERT_EQUAL(cursor, 0);
    for (unsigned i = 0; i < KEYS; i++)
        CU_ASSERT_TRUE(seen[i] >= 1);
    harness_close(h);
}

static void
filters(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    static unsigned seen[KEYS];
    unsigned elements;
    set_keys(h, stream, 0, 100);
    CU_ASSERT_EQUAL(mark_keys(harness_command(h, stream, "SCAN 0 COUNT 1000 MATCH k0001*"), seen, &elements), 0);
    CU_ASSERT_EQUAL(elements, 10);
    CU_ASSERT_EQUAL(seen[10], 1);
    mark_keys(harness_command(h, stream, "SCAN 0 COUNT 1000 TYPE string"), seen, &elements);
    CU_ASSERT_EQUAL(elements, 100);
    mark_keys(harness_command(h, stream, "SCAN 0 COUNT 1000 TYPE hash"), seen, &elements);
    CU_ASSERT_EQUAL(elements, 0);
    harness_close(h);
}

static void
cursors_and_options(void)
{
    static const struct exchange rows[] = {
        {"SCAN 0", "*2\r\n$1\r\n0\r\n*0\r\n"},
        {"SCAN 9223372036854775808", "*2\r\n$1\r\n0\r\n*0\r\n"},
        {"SCAN 18446744073709551615", "*2\r\n$1\r\n0\r\n*0\r\n"},
        {"SCAN 18446744073709551616", "-ERR invalid cursor\r\n"},
        {"SCAN x", "-ERR invalid cursor\r\n"},
        {"SCAN \" 1\"", "-ERR invalid cursor\r\n"},
        {"SCAN 0 COUNT 0", "-ERR syntax error\r\n"},
        {"SCAN 0 COUNT -5", "-ERR syntax error\r\n"},
        {"SCAN 0 COUNT x", "-ERR value is not an integer or out of range\r\n"},
        {"SCAN 0 COUNT", "-ERR syntax error\r\n"},
        {"SCAN 0 FOO 1", "-ERR syntax error\r\n"},
        {"SCAN 0 COUNT 9223372036854775807", "*2\r\n$1\r\n0\r\n*0\r\n"},
        {"KEYS *", "*0\r\n"},
        {"SET hello 1", "+OK\r\n"},
        {"KEYS h?llo", "*1\r\n$5\r\nhello\r\n"},
        {"KEYS h[^e]llo", "*0\r\n"},
        {"KEYS *", "*1\r\n$5\r\nhello\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
keys_lists_all(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    set_keys(h, stream, 0, KEYS);
    const char *reply = harness_command(h, stream, "KEYS *");
    CU_ASSERT_EQUAL(strncmp(reply, "*5000\r\n", 7), 0);
    CU_ASSERT_EQUAL(strlen(reply), 7 + KEYS * strlen("$6\r\nk00000\r\n"));
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "KEYS k0123?"), "*10\r\n", 5), 0);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"a walk meets all while the table grows", a_walk_meets_all_while_the_table_grows},
    {"filters", filters},
    {"cursors and options", cursors_and_options},
    {"KEYS lists all", keys_lists_all},
};
UNIT_MAIN("scan", tests)
