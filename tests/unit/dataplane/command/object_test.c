/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
encodings(void)
{
    static const struct exchange rows[] = {
        {"SET i 12345", "+OK\r\n"},
        {"OBJECT ENCODING i", "$3\r\nint\r\n"},
        {"SET i 9223372036854775807", "+OK\r\n"},
        {"OBJECT ENCODING i", "$3\r\nint\r\n"},
        {"SET i 9223372036854775808", "+OK\r\n"},
        {"OBJECT ENCODING i", "$6\r\nembstr\r\n"},
        {"SET e xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "+OK\r\n"},
        {"OBJECT ENCODING e", "$6\r\nembstr\r\n"},
        {"SET r xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "+OK\r\n"},
        {"OBJECT ENCODING r", "$3\r\nraw\r\n"},
        {"OBJECT ENCODING x", "$-1\r\n"},
        {"SETRANGE s 0 1", ":1\r\n"},
        {"OBJECT ENCODING s", "$3\r\nraw\r\n"},
        {"EXPIRE s 10", ":1\r\n"},
        {"OBJECT ENCODING s", "$3\r\nraw\r\n"},
        {"INCR s", ":2\r\n"},
        {"OBJECT ENCODING s", "$3\r\nint\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
the_others(void)
{
    static const struct exchange rows[] = {
        {"SET k v", "+OK\r\n"},
        {"OBJECT REFCOUNT k", ":1\r\n"},
        {"OBJECT IDLETIME k", ":0\r\n"},
        {"OBJECT REFCOUNT x", "$-1\r\n"},
        {"OBJECT FREQ x", "$-1\r\n"},
        {"OBJECT FREQ k",
         "-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching "
         "between policies at runtime LRU and LFU data will take some time to adjust.\r\n"},
        {"OBJECT", "-ERR wrong number of arguments for 'object' command\r\n"},
        {"OBJECT foo k", "-ERR unknown subcommand 'foo'. Try OBJECT HELP.\r\n"},
        {"OBJECT ENCODING", "-ERR wrong number of arguments for 'object|encoding' command\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"encodings", encodings},
    {"REFCOUNT IDLETIME FREQ", the_others},
};
UNIT_MAIN("object", tests)
