/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
small_ones(void)
{
    static const struct exchange rows[] = {
        {"PING", "+PONG\r\n"},
        {"PING hi", "$2\r\nhi\r\n"},
        {"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
        {"ECHO hi", "$2\r\nhi\r\n"},
        {"ECHO", "-ERR wrong number of arguments for 'echo' command\r\n"},
        {"SELECT 15", "+OK\r\n"},
        {"SELECT 16", "-ERR DB index is out of range\r\n"},
        {"SELECT -1", "-ERR DB index is out of range\r\n"},
        {"SELECT x", "-ERR value is not an integer or out of range\r\n"},
        {"SELECT 99999999999", "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n"},
        {"AUTH x", "-ERR AUTH <password> called without any password configured for the default user. Are you sure "
                   "your configuration is correct?\r\n"},
        {"AUTH default x", "+OK\r\n"},
        {"AUTH u x", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH a b c", "-ERR syntax error\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
hello(void)
{
    static const struct exchange rows[] = {
        {"HELLO",
         "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:"
         "1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
        {"HELLO 3",
         "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:"
         "1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
        {"GET x", "_\r\n"},
        {"HELLO 4", "-NOPROTO unsupported protocol version\r\n"},
        {"HELLO x", "-ERR Protocol version is not an integer or out of range\r\n"},
        {"HELLO 3 foo", "-ERR Syntax error in HELLO option 'foo'\r\n"},
        {"HELLO 3 AUTH a", "-ERR Syntax error in HELLO option 'AUTH'\r\n"},
        {"HELLO 3 AUTH u p", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"HELLO 2 AUTH default p SETNAME me",
         "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:"
         "1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
        {"CLIENT GETNAME", "$2\r\nme\r\n"},
        {"HELLO 3 SETNAME \"a b\"", "-ERR Client names cannot contain spaces, newlines or special characters.\r\n"},
        {"SELECT 3", "+OK\r\n"},
        {"RESET", "+RESET\r\n"},
        {"CLIENT GETNAME", "$-1\r\n"},
        {"SET k v", "+OK\r\n"},
        {"SELECT 3", "+OK\r\n"},
        {"GET k", "$-1\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"PING ECHO SELECT AUTH", small_ones},
    {"HELLO and RESET", hello},
};
UNIT_MAIN("connection", tests)
