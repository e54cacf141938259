/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

static void
get_and_set(void)
{
    static const struct exchange rows[] = {
        {"CONFIG GET save", "*2\r\n$4\r\nsave\r\n$0\r\n\r\n"},
        {"CONFIG GET appendonly", "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n"},
        {"CONFIG GET APPENDONLY", "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n"},
        {"CONFIG GET nothing", "*0\r\n"},
        {"CONFIG GET timeou*", "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n"},
        {"CONFIG GET timeout t?meout TIMEOUT", "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n"},
        {"CONFIG SET timeout 7", "+OK\r\n"},
        {"CONFIG GET timeout", "*2\r\n$7\r\ntimeout\r\n$1\r\n7\r\n"},
        {"CONFIG SET nothing 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'nothing'\r\n"},
        {"CONFIG SET timeout x nothing 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'nothing'\r\n"},
        {"CONFIG SET timeout", "-ERR wrong number of arguments for 'config|set' command\r\n"},
        {"CONFIG SET timeout 1 maxclients", "-ERR syntax error\r\n"},
        {"CONFIG SET databases 3",
         "-ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config\r\n"},
        {"CONFIG SET timeout 1 timeout 2",
         "-ERR CONFIG SET failed (possibly related to argument 'timeout') - duplicate parameter\r\n"},
        {"CONFIG SET timeout 9 protected-mode maybe",
         "-ERR CONFIG SET failed (possibly related to argument 'protected-mode') - argument must be 'yes' or 'no'\r\n"},
        {"CONFIG GET timeout", "*2\r\n$7\r\ntimeout\r\n$1\r\n7\r\n"},
        {"CONFIG SET timeout 9 protected-mode no", "+OK\r\n"},
        {"CONFIG GET timeout", "*2\r\n$7\r\ntimeout\r\n$1\r\n9\r\n"},
        {"CONFIG REWRITE", "-ERR The server is running without a config file\r\n"},
        {"CONFIG foo", "-ERR unknown subcommand 'foo'. Try CONFIG HELP.\r\n"},
        {"HELLO 3 foo", "-ERR Syntax error in HELLO option 'foo'\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
all_settings_are_shown(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    const char *reply = harness_command(h, stream, "CONFIG GET *");
    for (unsigned i = 0; i < setting_count; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(reply, setting_table[i].name));
    harness_command(h, stream, "HELLO 3");
    CU_ASSERT_EQUAL(*harness_command(h, stream, "CONFIG GET *"), '%');
    harness_close(h);
}

static void
a_new_password_holds_for_new_clients(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *old = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, old, "CONFIG SET requirepass pw"), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, old, "PING"), "+PONG\r\n");
    struct stream *fresh = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, fresh, "PING"), "-NOAUTH Authentication required.\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, fresh, "AUTH pw"), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, fresh, "CONFIG SET requirepass \"\""), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect(h), "PING"), "+PONG\r\n");
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"GET and SET", get_and_set},
    {"all settings are shown", all_settings_are_shown},
    {"a new password holds for new clients", a_new_password_holds_for_new_clients},
};
UNIT_MAIN("config", tests)
