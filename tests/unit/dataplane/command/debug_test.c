/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
sleep_lets_others_run(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *sleeper = harness_connect(h), *other = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, sleeper, "DEBUG SLEEP 0.5"), "");
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "PING"), "+PONG\r\n");
    harness_advance(h, 499);
    CU_ASSERT_STRING_EQUAL(harness_command(h, sleeper, "PING"), "");
    harness_advance(h, 1);
    harness_run(h);
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(sleeper, NULL), "+OK\r\n+PONG\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, sleeper, "DEBUG SLEEP 0"), "+OK\r\n");
    harness_close(h);
}

static void
strangers_may_not(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    h->server.settings.protected_mode = false;
    struct stream *remote = harness_connect_from(h, 10);
    CU_ASSERT_EQUAL(strncmp(harness_command(h, remote, "DEBUG SLEEP 0"), "-ERR DEBUG command not allowed.", 31), 0);
    snprintf(h->server.settings.enable_debug_command, sizeof(h->server.settings.enable_debug_command), "yes");
    CU_ASSERT_STRING_EQUAL(harness_command(h, remote, "DEBUG SLEEP 0"), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, remote, "DEBUG SEGFAULT"),
                           "-ERR unknown subcommand or wrong number of arguments for 'SEGFAULT'. Try DEBUG HELP.\r\n");
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"SLEEP lets others run", sleep_lets_others_run},
    {"strangers may not", strangers_may_not},
};
UNIT_MAIN("debug", tests)
