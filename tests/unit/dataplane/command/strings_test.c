/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
set_and_get(void)
{
    static const struct exchange rows[] = {
        {"GET k", "$-1\r\n"},      {"SET k v", "+OK\r\n"},      {"GET k", "$1\r\nv\r\n"}, {"SET k \"\"", "+OK\r\n"},
        {"GET k", "$0\r\n\r\n"},   {"set K w", "+OK\r\n"},      {"gEt K", "$1\r\nw\r\n"}, {"GET k", "$0\r\n\r\n"},
        {"SET \"\" e", "+OK\r\n"}, {"GET \"\"", "$1\r\ne\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
set_conditions(void)
{
    static const struct exchange rows[] = {
        {"SET k 1 XX", "$-1\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SET k 1 NX", "+OK\r\n"},
        {"SET k 2 NX", "$-1\r\n"},
        {"GET k", "$1\r\n1\r\n"},
        {"SET k 2 XX", "+OK\r\n"},
        {"SET k 3 GET", "$1\r\n2\r\n"},
        {"SET k 4 NX GET", "$1\r\n3\r\n"},
        {"GET k", "$1\r\n3\r\n"},
        {"SET n 1 NX GET", "$-1\r\n"},
        {"GET n", "$1\r\n1\r\n"},
        {"SET m 1 XX GET", "$-1\r\n"},
        {"EXISTS m", ":0\r\n"},
        {"SET k 1 NX XX", "-ERR syntax error\r\n"},
        {"SET k 1 XX NX", "-ERR syntax error\r\n"},
        {"SET k 1 foo", "-ERR syntax error\r\n"},
        {"SETNX k 9", ":0\r\n"},
        {"SETNX p 9", ":1\r\n"},
        {"GET p", "$1\r\n9\r\n"},
        {"GETSET p 10", "$1\r\n9\r\n"},
        {"GETSET q 1", "$-1\r\n"},
        {"GET q", "$1\r\n1\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
set_times(void)
{
    static const struct exchange rows[] = {
        {"SET k v EX 100", "+OK\r\n"},
        {"TTL k", ":100\r\n"},
        {"SET k v PX 1500", "+OK\r\n"},
        {"PTTL k", ":1500\r\n"},
        {"SET k v EXAT 1700000500", "+OK\r\n"},
        {"TTL k", ":500\r\n"},
        {"SET k v PXAT 1700000000777", "+OK\r\n"},
        {"PTTL k", ":777\r\n"},
        {"SET k w KEEPTTL", "+OK\r\n"},
        {"PTTL k", ":777\r\n"},
        {"SET k w", "+OK\r\n"},
        {"TTL k", ":-1\r\n"},
        {"SET k v EX 100 PX 100", "-ERR syntax error\r\n"},
        {"SET k v EX 100 KEEPTTL", "-ERR syntax error\r\n"},
        {"SET k v KEEPTTL PX 1", "-ERR syntax error\r\n"},
        {"SET k v EX", "-ERR syntax error\r\n"},
        {"SET k v EX 0", "-ERR invalid expire time in 'set' command\r\n"},
        {"SET k v EX -1", "-ERR invalid expire time in 'set' command\r\n"},
        {"SET k v EX x", "-ERR value is not an integer or out of range\r\n"},
        {"SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n"},
        {"SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n"},
        {"SET k v EXAT 9223372036854776", "-ERR invalid expire time in 'set' command\r\n"},
        {"GET k", "$1\r\nw\r\n"},
        {"SET k v EX 10 EX 20", "+OK\r\n"},
        {"TTL k", ":20\r\n"},
        {"SET k v EXAT 1", "+OK\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"SETEX k 10 v", "+OK\r\n"},
        {"TTL k", ":10\r\n"},
        {"SETEX k 0 v", "-ERR invalid expire time in 'setex' command\r\n"},
        {"PSETEX k 10 v", "+OK\r\n"},
        {"PTTL k", ":10\r\n"},
        {"PSETEX k -1 v", "-ERR invalid expire time in 'psetex' command\r\n"},
        {"SETEX k x v", "-ERR value is not an integer or out of range\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
get_and_more(void)
{
    static const struct exchange rows[] = {
        {"SET k v EX 50", "+OK\r\n"},
        {"GETEX k", "$1\r\nv\r\n"},
        {"TTL k", ":50\r\n"},
        {"GETEX k PERSIST", "$1\r\nv\r\n"},
        {"TTL k", ":-1\r\n"},
        {"GETEX k EX 10", "$1\r\nv\r\n"},
        {"TTL k", ":10\r\n"},
        {"GETEX k EX 10000000000000000", "-ERR invalid expire time in 'getex' command\r\n"},
        {"TTL k", ":10\r\n"},
        {"GETEX k EX 10 PERSIST", "-ERR syntax error\r\n"},
        {"GETEX k KEEPTTL", "-ERR syntax error\r\n"},
        {"GETEX nothing EX x", "$-1\r\n"},
        {"GETEX k EX x", "-ERR value is not an integer or out of range\r\n"},
        {"GETEX k PXAT 1", "$1\r\nv\r\n"},
        {"EXISTS k", ":0\r\n"},
        {"GETDEL k", "$-1\r\n"},
        {"SET k v", "+OK\r\n"},
        {"GETDEL k", "$1\r\nv\r\n"},
        {"GET k", "$-1\r\n"},
        {"SET a 1", "+OK\r\n"},
        {"SET b 2", "+OK\r\n"},
        {"MGET a x b a", "*4\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n$1\r\n1\r\n"},
        {"MGET", "-ERR wrong number of arguments for 'mget' command\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
mget_of_many(void)
{
    enum { KEYS = 100 };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    struct bytes line = {0}, expected = {0};
    char text[64];
    bytes_append(&line, "MGET", 4);
    bytes_append(&expected, "*100\r\n", 6);
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(text, sizeof(text), "SET key%u value%02u", i, i);
        CU_ASSERT_STRING_EQUAL(harness_command(h, stream, text), "+OK\r\n");
        bytes_append(&line, text, (size_t)snprintf(text, sizeof(text), " key%u", i));
        bytes_append(&expected, text, (size_t)snprintf(text, sizeof(text), "$7\r\nvalue%02u\r\n", i));
    }
    bytes_append(&line, "", 1);
    bytes_append(&expected, "", 1);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, (char *)bytes_data(&line)), (char *)bytes_data(&expected));
    bytes_free(&line);
    bytes_free(&expected);
    harness_close(h);
}

static void
a_full_pool_stays_readable_and_deletable(void)
{
    struct harness *h = harness_open(16ull << 20);
    struct stream *stream = harness_connect(h);
    char line[64];
    unsigned keys = 0;
    const char *reply;
    do {
        snprintf(line, sizeof(line), "SETRANGE key%u 100000 x", keys);
        reply = harness_command(h, stream, line);
    } while (reply[0] == ':' && ++keys < 1000);
    CU_ASSERT_TRUE(keys > 10 && keys < 200);
    CU_ASSERT_EQUAL(strncmp(reply, "-OOM ", 5), 0);
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, line), "-OOM ", 5), 0);
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "SETRANGE key0 99999 y"), "-OOM ", 5), 0);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "GETRANGE key0 100000 100000"), "$1\r\nx\r\n");
    for (unsigned i = 0; i < keys / 2; i++) {
        snprintf(line, sizeof(line), "DEL key%u", i);
        CU_ASSERT_STRING_EQUAL(harness_command(h, stream, line), ":1\r\n");
    }
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "SETRANGE again 100000 x"), ":100001\r\n");
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"SET and GET", set_and_get},
    {"conditions of SET", set_conditions},
    {"times of SET", set_times},
    {"GETEX GETDEL MGET", get_and_more},
    {"MGET of many", mget_of_many},
    {"a full pool stays readable and deletable", a_full_pool_stays_readable_and_deletable},
};
UNIT_MAIN("strings", tests)
