/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

static void
names(void)
{
    static const struct exchange rows[] = {
        {"CLIENT GETNAME", "$-1\r\n"},
        {"CLIENT SETNAME app", "+OK\r\n"},
        {"CLIENT GETNAME", "$3\r\napp\r\n"},
        {"CLIENT SETNAME \"a b\"", "-ERR Client names cannot contain spaces, newlines or special characters.\r\n"},
        {"CLIENT GETNAME", "$3\r\napp\r\n"},
        {"client setname "
         "0123456789012345678901234567890123456789012345678901234567890123456789",
         "+OK\r\n"},
        {"client getname", "$70\r\n0123456789012345678901234567890123456789012345678901234567890123456789\r\n"},
        {"CLIENT SETNAME \"\"", "+OK\r\n"},
        {"CLIENT GETNAME", "$-1\r\n"},
        {"CLIENT SETINFO LIB-NAME ioredis", "+OK\r\n"},
        {"CLIENT SETINFO LIB-VER 6.0.0", "+OK\r\n"},
        {"CLIENT SETINFO LIB-VER \"a b\"", "-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n"},
        {"CLIENT SETINFO foo x", "-ERR Unrecognized option 'foo'\r\n"},
        {"CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type external-ip",
         "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"},
        {"CLIENT NO-EVICT ON", "+OK\r\n"},
        {"CLIENT NO-EVICT maybe", "-ERR syntax error\r\n"},
        {"CLIENT ID", ":1\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
lists(void)
{
    static const struct exchange rows[] = {
        {"CLIENT LIST TYPE foo", "-ERR Unknown client type 'foo'\r\n"},
        {"CLIENT LIST TYPE master", "$0\r\n\r\n"},
        {"CLIENT LIST ID x", "-ERR Invalid client ID\r\n"},
        {"CLIENT LIST ID 77", "$0\r\n\r\n"},
        {"CLIENT LIST foo", "-ERR syntax error\r\n"},
        {"CLIENT LIST ID", "-ERR syntax error\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *first = harness_connect(h), *second = harness_connect(h);
    harness_command(h, second, "HELLO 3 SETNAME other");
    harness_command(h, second, "SELECT 7");
    harness_command(h, second, "CLIENT SETINFO LIB-NAME lib");
    harness_advance(h, 5000);
    const char *list = harness_command(h, first, "CLIENT LIST");
    CU_ASSERT_PTR_NOT_NULL(strstr(list, "id=1 addr=127.0.0.1:"));
    CU_ASSERT_PTR_NOT_NULL(strstr(list, "laddr=127.0.0.1:6379 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(list, " name=other age=5 idle=5 flags=N db=7 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(list, " cmd=client|setinfo user=default redir=-1 resp=3 lib-name=lib lib-ver=\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(list, " cmd=client|list "));
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, first, "CLIENT LIST TYPE normal"), "id=2 "));
    list = harness_command(h, first, "CLIENT LIST ID 2 99");
    CU_ASSERT_TRUE(strstr(list, "id=2 ") && !strstr(list, "id=1 "));
    CU_ASSERT_EQUAL(strncmp(harness_command(h, second, "CLIENT INFO"), "=", 1), 0);
    TALK(h, first, rows);
    harness_close(h);
}

static void
killing(void)
{
    static const struct exchange refused[] = {
        {"CLIENT KILL 1.2.3.4:5", "-ERR No such client\r\n"},
        {"CLIENT KILL ID 0", "-ERR client-id should be greater than 0\r\n"},
        {"CLIENT KILL ID x", "-ERR client-id should be greater than 0\r\n"},
        {"CLIENT KILL ID 99", ":0\r\n"},
        {"CLIENT KILL TYPE foo", "-ERR Unknown client type 'foo'\r\n"},
        {"CLIENT KILL TYPE pubsub", ":0\r\n"},
        {"CLIENT KILL USER nobody", "-ERR No such user 'nobody'\r\n"},
        {"CLIENT KILL SKIPME maybe", "-ERR syntax error\r\n"},
        {"CLIENT KILL ID 1 foo", "-ERR syntax error\r\n"},
        {"CLIENT KILL ADDR", "-ERR No such client\r\n"},
        {"CLIENT KILL ID 1", ":0\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *me = harness_connect(h), *other[4];
    char line[64];
    for (unsigned i = 0; i < 4; i++)
        other[i] = harness_connect(h);
    TALK(h, me, refused);
    CU_ASSERT_STRING_EQUAL(harness_command(h, me, "CLIENT KILL ID 2"), ":1\r\n");
    CU_ASSERT_TRUE(other[0]->abort);
    snprintf(line, sizeof(line), "CLIENT KILL 127.0.0.1:%u", other[1]->peer_port);
    CU_ASSERT_STRING_EQUAL(harness_command(h, me, line), "+OK\r\n");
    CU_ASSERT_TRUE(other[1]->abort);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other[1], "PING"), "");
    harness_disconnect(h, other[0]);
    harness_disconnect(h, other[1]);
    CU_ASSERT_STRING_EQUAL(harness_command(h, me, "CLIENT KILL TYPE normal"), ":2\r\n");
    CU_ASSERT_TRUE(other[2]->abort && other[3]->abort && !me->close_after_out);
    harness_disconnect(h, other[2]);
    harness_disconnect(h, other[3]);
    CU_ASSERT_STRING_EQUAL(harness_command(h, me, "CLIENT KILL LADDR 127.0.0.1:6379 SKIPME no"), ":1\r\n");
    CU_ASSERT_TRUE(me->close_after_out);
    harness_close(h);
}

static const struct unit_test tests[] = {{"names", names}, {"lists", lists}, {"killing", killing}};
UNIT_MAIN("client", tests)
