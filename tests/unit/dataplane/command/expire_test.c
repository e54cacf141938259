/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
setting(void)
{
    static const struct exchange rows[] = {
        {"SET k v", "+OK\r\n"},
        {"EXPIRE k 100", ":1\r\n"},
        {"TTL k", ":100\r\n"},
        {"EXPIRETIME k", ":1700000100\r\n"},
        {"PEXPIRETIME k", ":1700000100000\r\n"},
        {"PEXPIRE k 1499", ":1\r\n"},
        {"TTL k", ":1\r\n"},
        {"PEXPIRE k 1500", ":1\r\n"},
        {"TTL k", ":2\r\n"},
        {"PTTL k", ":1500\r\n"},
        {"EXPIREAT k 1700000050", ":1\r\n"},
        {"TTL k", ":50\r\n"},
        {"PEXPIREAT k 1700000000001", ":1\r\n"},
        {"PTTL k", ":1\r\n"},
        {"PERSIST k", ":1\r\n"},
        {"PERSIST k", ":0\r\n"},
        {"TTL k", ":-1\r\n"},
        {"PTTL k", ":-1\r\n"},
        {"EXPIRETIME k", ":-1\r\n"},
        {"TTL x", ":-2\r\n"},
        {"PEXPIRETIME x", ":-2\r\n"},
        {"EXPIRE x 10", ":0\r\n"},
        {"PERSIST x", ":0\r\n"},
        {"GET k", "$1\r\nv\r\n"},
        {"EXPIRE k -10", ":1\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SET k v", "+OK\r\n"},
        {"EXPIREAT k 1700000000", ":1\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SET k v", "+OK\r\n"},
        {"EXPIREAT k 0", ":1\r\n"},
        {"EXISTS k", ":0\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
bad_times_change_nothing(void)
{
    static const struct exchange rows[] = {
        {"SET k v EX 77", "+OK\r\n"},
        {"EXPIRE k 9223372036854776", "-ERR invalid expire time in 'expire' command\r\n"},
        {"EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command\r\n"},
        {"EXPIRE k -9223372036854776", "-ERR invalid expire time in 'expire' command\r\n"},
        {"PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n"},
        {"EXPIREAT k 9223372036854776", "-ERR invalid expire time in 'expireat' command\r\n"},
        {"EXPIRE k x", "-ERR value is not an integer or out of range\r\n"},
        {"EXPIRE k 1.5", "-ERR value is not an integer or out of range\r\n"},
        {"EXPIRE k \"\"", "-ERR value is not an integer or out of range\r\n"},
        {"TTL k", ":77\r\n"},
        {"PEXPIREAT k 9223372036854775807", ":1\r\n"},
        {"PEXPIRETIME k", ":9223372036854775807\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
conditions(void)
{
    static const struct exchange rows[] = {
        {"SET k v", "+OK\r\n"},
        {"EXPIRE k 100 XX", ":0\r\n"},
        {"EXPIRE k 100 GT", ":0\r\n"},
        {"EXPIRE k 100 LT", ":1\r\n"},
        {"EXPIRE k 100 NX", ":0\r\n"},
        {"EXPIRE k 200 LT", ":0\r\n"},
        {"EXPIRE k 100 LT", ":0\r\n"},
        {"EXPIRE k 100 GT", ":0\r\n"},
        {"EXPIRE k 200 GT", ":1\r\n"},
        {"EXPIRE k 300 XX GT", ":1\r\n"},
        {"TTL k", ":300\r\n"},
        {"PERSIST k", ":1\r\n"},
        {"EXPIRE k 300 XX LT", ":0\r\n"},
        {"EXPIRE k 50 NX", ":1\r\n"},
        {"TTL k", ":50\r\n"},
        {"EXPIRE k 100 NX XX", "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n"},
        {"EXPIRE k 100 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n"},
        {"EXPIRE k 100 GT LT", "-ERR GT and LT options at the same time are not compatible\r\n"},
        {"EXPIRE k 100 foo", "-ERR Unsupported option foo\r\n"},
        {"EXPIRE k x foo", "-ERR Unsupported option foo\r\n"},
        {"EXPIRE k -1 GT", ":0\r\n"},
        {"EXPIRE k -1 LT", ":1\r\n"},
        {"EXISTS k", ":0\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
time_passes(void)
{
    static const struct exchange gone[] = {
        {"GET k", "$-1\r\n"},
        {"TTL k", ":-2\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SET k w XX", "$-1\r\n"},
        {"APPEND m x", ":1\r\n"},
        {"TTL m", ":-1\r\n"},
        {"INCR n", ":1\r\n"},
        {"DEL p", ":0\r\n"},
        {"KEYS q", "*0\r\n"},
        {"EXPIRE q 10", ":0\r\n"},
        {"GETDEL r", "$-1\r\n"},
        {"SET s new NX", "+OK\r\n"},
        {"SCAN 0 MATCH q", "*2\r\n$1\r\n0\r\n*0\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    static const char *const key[] = {"k", "m", "n", "p", "q", "r", "s"};
    char line[32];
    for (unsigned i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        snprintf(line, sizeof(line), "SET %s 41 PX 1000", key[i]);
        CU_ASSERT_STRING_EQUAL(harness_command(h, stream, line), "+OK\r\n");
    }
    harness_advance(h, 999);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "PTTL k"), ":1\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "GET k"), "$2\r\n41\r\n");
    harness_advance(h, 2);
    TALK(h, stream, gone);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"setting and asking", setting},
    {"bad times change nothing", bad_times_change_nothing},
    {"NX XX GT LT", conditions},
    {"time passes", time_passes},
};
UNIT_MAIN("expire", tests)
