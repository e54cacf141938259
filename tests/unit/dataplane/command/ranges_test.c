/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
append_and_strlen(void)
{
    static const struct exchange rows[] = {
        {"APPEND k ab", ":2\r\n"},   {"APPEND k cd", ":4\r\n"},
        {"GET k", "$4\r\nabcd\r\n"}, {"STRLEN k", ":4\r\n"},
        {"STRLEN x", ":0\r\n"},      {"OBJECT ENCODING k", "$3\r\nraw\r\n"},
        {"APPEND n 12", ":2\r\n"},   {"OBJECT ENCODING n", "$3\r\nint\r\n"},
        {"EXPIRE k 100", ":1\r\n"},  {"APPEND k e", ":5\r\n"},
        {"TTL k", ":100\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
setrange(void)
{
    static const struct exchange rows[] = {
        {"SETRANGE k 0 \"\"", ":0\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SET k \"Hello World\"", "+OK\r\n"},
        {"SETRANGE k 6 Redis", ":11\r\n"},
        {"GET k", "$11\r\nHello Redis\r\n"},
        {"SETRANGE k 0 J", ":11\r\n"},
        {"GET k", "$11\r\nJello Redis\r\n"},
        {"SETRANGE k 10 sxyz", ":14\r\n"},
        {"GET k", "$14\r\nJello Redisxyz\r\n"},
        {"SETRANGE k 0 \"\"", ":14\r\n"},
        {"SETRANGE k -1 x", "-ERR offset is out of range\r\n"},
        {"SETRANGE k x x", "-ERR value is not an integer or out of range\r\n"},
        {"SETRANGE k 9223372036854775757 v", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"},
        {"SETRANGE k 536870910 world", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"},
        {"SETRANGE new 1048576 v", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"},
        {"SETRANGE new 9223372036854775807 v", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"},
        {"EXISTS new", ":0\r\n"},
        {"SETRANGE new 1048575 v", ":1048576\r\n"},
        {"APPEND new x", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"},
        {"STRLEN new", ":1048576\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    TALK(h, stream, rows);
    /* What lies between the old end and the offset is zeros. */
    size_t len;
    harness_command(h, stream, "SET z a");
    harness_command(h, stream, "SETRANGE z 3 b");
    harness_feed(h, stream, "GET z\r\n", 7);
    harness_run(h);
    const char *output = harness_output(stream, &len);
    CU_ASSERT_EQUAL(len, 10);
    CU_ASSERT_EQUAL(memcmp(output, "$4\r\na\0\0b\r\n", 10), 0);
    harness_close(h);
}

static void
getrange(void)
{
    static const struct exchange rows[] = {
        {"SET k abc", "+OK\r\n"},
        {"GETRANGE k 1 4294967296", "$2\r\nbc\r\n"},
        {"GETRANGE k 0 -1", "$3\r\nabc\r\n"},
        {"GETRANGE k -2 -1", "$2\r\nbc\r\n"},
        {"GETRANGE k -100 -3", "$1\r\na\r\n"},
        {"GETRANGE k 2 1", "$0\r\n\r\n"},
        {"GETRANGE k -1 -2", "$0\r\n\r\n"},
        {"GETRANGE k -1 -5", "$0\r\n\r\n"},
        {"GETRANGE k 5 10", "$0\r\n\r\n"},
        {"GETRANGE k -9223372036854775808 9223372036854775807", "$3\r\nabc\r\n"},
        {"GETRANGE k 0 -9223372036854775808", "$1\r\na\r\n"},
        {"GETRANGE x 0 -1", "$0\r\n\r\n"},
        {"GETRANGE k a 1", "-ERR value is not an integer or out of range\r\n"},
        {"SUBSTR k 0 0", "$1\r\na\r\n"},
        {"SET e \"\"", "+OK\r\n"},
        {"GETRANGE e 0 -1", "$0\r\n\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"APPEND and STRLEN", append_and_strlen},
    {"SETRANGE", setrange},
    {"GETRANGE", getrange},
};
UNIT_MAIN("ranges", tests)
