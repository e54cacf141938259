/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
what_is_always_saved(void)
{
    static const struct exchange rows[] = {
        {"SAVE", "+OK\r\n"},
        {"BGSAVE", "+Background saving started\r\n"},
        {"BGSAVE SCHEDULE", "+Background saving started\r\n"},
        {"BGSAVE foo", "-ERR syntax error\r\n"},
        {"LASTSAVE", ":1700000000\r\n"},
        {"ROLE", "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"},
        {"FUNCTION FLUSH", "+OK\r\n"},
        {"FUNCTION FLUSH ASYNC", "+OK\r\n"},
        {"FUNCTION FLUSH foo", "-ERR FUNCTION FLUSH only supports SYNC|ASYNC option\r\n"},
        {"FUNCTION LOAD x", "-ERR unknown subcommand 'LOAD'. Try FUNCTION HELP.\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
wait_that_need_not_wait(void)
{
    static const struct exchange rows[] = {
        {"WAIT 0 0", ":0\r\n"},
        {"WAIT -1 0", ":0\r\n"},
        {"WAIT x 0", "-ERR value is not an integer or out of range\r\n"},
        {"WAIT 1 x", "-ERR timeout is not an integer or out of range\r\n"},
        {"WAIT 1 -1", "-ERR timeout is negative\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
shutdown_stops_the_server(void)
{
    static const struct exchange refused[] = {
        {"SHUTDOWN ABORT", "-ERR No shutdown in progress.\r\n"},
        {"SHUTDOWN foo", "-ERR syntax error\r\n"},
        {"SHUTDOWN SAVE NOSAVE", "-ERR syntax error\r\n"},
        {"SHUTDOWN NOW ABORT", "-ERR syntax error\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    TALK(h, stream, refused);
    CU_ASSERT_FALSE(h->server.stop);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "SHUTDOWN NOSAVE NOW\r\nPING"), "");
    CU_ASSERT_TRUE(h->server.stop);
    CU_ASSERT_TRUE(stream->close_after_out);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"what is always saved", what_is_always_saved},
    {"WAIT that need not wait", wait_that_need_not_wait},
    {"SHUTDOWN stops the server", shutdown_stops_the_server},
};
UNIT_MAIN("server", tests)
