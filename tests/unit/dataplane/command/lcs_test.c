/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
lcs(void)
{
    static const struct exchange rows[] = {
        {"SET a ohmytext", "+OK\r\n"},
        {"SET b mynewtext", "+OK\r\n"},
        {"LCS a b", "$6\r\nmytext\r\n"},
        {"LCS a b LEN", ":6\r\n"},
        {"LCS a x", "$0\r\n\r\n"},
        {"LCS a x LEN", ":0\r\n"},
        {"LCS a b IDX", "*4\r\n$7\r\nmatches\r\n*2\r\n*2\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n*2\r\n*2\r\n:2\r\n:"
                        "3\r\n*2\r\n:0\r\n:1\r\n$3\r\nlen\r\n:6\r\n"},
        {"LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN",
         "*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n"},
        {"LCS a b IDX LEN", "-ERR If you want both the length and indexes, please just use IDX.\r\n"},
        {"LCS a b foo", "-ERR syntax error\r\n"},
        {"LCS a b MINMATCHLEN", "-ERR syntax error\r\n"},
        {"LCS a b MINMATCHLEN x", "-ERR value is not an integer or out of range\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
a_table_too_large_is_refused(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    harness_set(h, stream, "a", 1 << 20, 'a');
    harness_set(h, stream, "b", 1 << 20, 'b');
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "LCS a b"),
                           "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len\r\n");
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"LCS", lcs},
    {"a table too large is refused", a_table_too_large_is_refused},
};
UNIT_MAIN("lcs", tests)
