/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "dataplane/command/table.h"
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

#define GET_ROW                                                                                                       \
    "*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*3\r\n+@read\r\n+@string\r\n+@fast\r\n"  \
    "*0\r\n*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex" \
    "\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$"            \
    "4\r\nspec\r\n"                                                                                                   \
    "*6\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n"

static void
rows_and_names(void)
{
    static const struct exchange rows[] = {
        {"COMMAND INFO get", "*1\r\n" GET_ROW},
        {"COMMAND INFO nothing GET", "*2\r\n$-1\r\n" GET_ROW},
        {"COMMAND LIST FILTERBY PATTERN getr*", "*1\r\n$8\r\ngetrange\r\n"},
        {"COMMAND LIST FILTERBY PATTERN CONFIG|G*", "*1\r\n$10\r\nconfig|get\r\n"},
        {"COMMAND LIST FILTERBY MODULE x", "*0\r\n"},
        {"COMMAND LIST FILTERBY ACLCAT nothing", "*0\r\n"},
        {"COMMAND LIST FILTERBY ACLCAT Scripting", "*1\r\n$14\r\nfunction|flush\r\n"},
        {"COMMAND LIST FILTERBY foo x", "-ERR syntax error\r\n"},
        {"COMMAND LIST foo", "-ERR syntax error\r\n"},
        {"COMMAND foo", "-ERR unknown subcommand 'foo'. Try COMMAND HELP.\r\n"},
        {"COMMAND DOCS nothing", "*0\r\n"},
        {"COMMAND DOCS strlen", "*2\r\n$6\r\nstrlen\r\n*10\r\n$7\r\nsummary\r\n$23\r\nThe length of a "
                                "string.\r\n$5\r\nsince\r\n$5\r\n2.2.0\r\n"
                                "$5\r\ngroup\r\n$6\r\nstring\r\n$10\r\ncomplexity\r\n$4\r\nO(1)\r\n$9\r\narguments\r\n*"
                                "1\r\n*6\r\n$4\r\nname\r\n"
                                "$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n$14\r\nkey_spec_index\r\n:0\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    char count[16];
    TALK(h, stream, rows);
    snprintf(count, sizeof(count), ":%u\r\n", command_count_top());
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "COMMAND COUNT"), count);
    count[0] = '*';
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "COMMAND"), count, strlen(count)), 0);
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "COMMAND INFO"), count, strlen(count)), 0);
    snprintf(count, sizeof(count), "*%u\r\n", command_count);
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "COMMAND LIST"), count, strlen(count)), 0);
    harness_command(h, stream, "HELLO 3");
    snprintf(count, sizeof(count), "%%%u\r\n", command_count_top());
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "COMMAND DOCS"), count, strlen(count)), 0);
    harness_close(h);
}

static void
keys_of_commands(void)
{
    static const struct exchange rows[] = {
        {"COMMAND GETKEYS SET a b", "*1\r\n$1\r\na\r\n"},
        {"COMMAND GETKEYS MGET a b c", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"},
        {"COMMAND GETKEYS LCS a b IDX", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
        {"COMMAND GETKEYS OBJECT ENCODING x", "*1\r\n$1\r\nx\r\n"},
        {"COMMAND GETKEYS PING x", "-ERR The command has no key arguments\r\n"},
        {"COMMAND GETKEYS GET a b", "-ERR Invalid number of arguments specified for command\r\n"},
        {"COMMAND GETKEYS nothing x", "-ERR Invalid command specified\r\n"},
        {"COMMAND GETKEYS ZUNIONSTORE out -2 a", "-ERR Invalid command specified\r\n"},
        {"COMMAND GETKEYS", "-ERR wrong number of arguments for 'command|getkeys' command\r\n"},
        {"COMMAND GETKEYSANDFLAGS DEL a b",
         "*2\r\n*2\r\n$1\r\na\r\n*2\r\n+RM\r\n+delete\r\n*2\r\n$1\r\nb\r\n*2\r\n+RM\r\n+delete\r\n"},
        {"COMMAND GETKEYSANDFLAGS SET a b", "*1\r\n*2\r\n$1\r\na\r\n*2\r\n+OW\r\n+update\r\n"},
        {"COMMAND GETKEYSANDFLAGS SET a b GET", "*1\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+update\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

/* Redis's words for what we do not have, and its limits of how much of the client's words they repeat. */
static void
unknown_commands(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    char line[512], expected[512];
    static const struct exchange rows[] = {
        {"MULTI", "-ERR unknown command 'MULTI', with args beginning with: \r\n"},
        {"CLUSTER INFO", "-ERR unknown command 'CLUSTER', with args beginning with: 'INFO' \r\n"},
        {"SYNC", "-ERR unknown command 'SYNC', with args beginning with: \r\n"},
        {"foo \"a\\r\\nb\" c", "-ERR unknown command 'foo', with args beginning with: 'a  b' 'c' \r\n"},
        {"\"\"", "-ERR unknown command '', with args beginning with: \r\n"},
    };
    TALK(h, stream, rows);
    snprintf(line, sizeof(line), "foo %0100d %0100d x", 1, 2);
    snprintf(expected, sizeof(expected), "-ERR unknown command 'foo', with args beginning with: '%0100d' '%025d' \r\n",
             1, 0);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, line), expected);
    snprintf(line, sizeof(line), "%0200d", 3);
    snprintf(expected, sizeof(expected), "-ERR unknown command '%0128d', with args beginning with: \r\n", 0);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, line), expected);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"rows and names", rows_and_names},
    {"keys of commands", keys_of_commands},
    {"unknown commands", unknown_commands},
};
UNIT_MAIN("introspect", tests)
