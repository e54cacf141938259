/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

/* The number behind "name:" in INFO; -1: no such line. */
static long
field(struct harness *h, struct stream *stream, const char *section, const char *name)
{
    char line[64], wanted[64];
    snprintf(line, sizeof(line), "INFO %s", section);
    snprintf(wanted, sizeof(wanted), "\n%s:", name);
    const char *text = harness_command(h, stream, line), *at = strstr(text, wanted);
    return at ? strtol(at + strlen(wanted), NULL, 10) : -1;
}

static void
sections(void)
{
    static const char *const standard[] = {"Server", "Clients", "Memory",     "Persistence", "Stats",    "Replication",
                                           "CPU",    "Modules", "Errorstats", "Cluster",     "Keyspace", "Pollux"};
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    char head[32];
    const char *text = harness_command(h, stream, "INFO"), *at = text;
    for (unsigned i = 0; i < sizeof(standard) / sizeof(standard[0]); i++) {
        snprintf(head, sizeof(head), "# %s\r\n", standard[i]);
        at = strstr(at, head);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    }
    CU_ASSERT_PTR_NULL(strstr(text, "# Commandstats"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\r\nredis_version:7.0.15\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\r\npersistence_domain:emulated\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, stream, "INFO ALL"), "# Commandstats\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, stream, "INFO default commandstats"), "# Commandstats\r\n"));
    text = harness_command(h, stream, "info KEYSPACE cpu");
    CU_ASSERT_TRUE(strstr(text, "# CPU") && strstr(text, "# Keyspace") && !strstr(text, "# Server"));
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "INFO nothing"), "$0\r\n\r\n");
    harness_command(h, stream, "HELLO 3");
    CU_ASSERT_EQUAL(strncmp(harness_command(h, stream, "INFO cluster"), "=34\r\ntxt:# Cluster\r\n", 18), 0);
    harness_close(h);
}

static void
counts(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    harness_command(h, stream, "SET a 1");
    harness_command(h, stream, "SET b 1 EX 100");
    harness_command(h, stream, "GET a");
    harness_command(h, stream, "MGET a x y");
    harness_command(h, stream, "GET");
    harness_command(h, stream, "INCR nothing x");
    harness_command(h, stream, "foo");
    harness_command(h, stream, "SETRANGE a -1 x");
    harness_command(h, stream, "HELLO 9");
    CU_ASSERT_EQUAL(field(h, stream, "stats", "keyspace_hits"), 2);
    CU_ASSERT_EQUAL(field(h, stream, "stats", "keyspace_misses"), 2);
    CU_ASSERT_EQUAL(field(h, stream, "stats", "total_error_replies"), 5);
    CU_ASSERT_EQUAL(field(h, stream, "stats", "total_connections_received"), 1);
    CU_ASSERT_EQUAL(field(h, stream, "stats", "total_commands_processed"), 13);
    CU_ASSERT_EQUAL(field(h, stream, "clients", "connected_clients"), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, stream, "INFO keyspace"), "\ndb0:keys=2,expires=1,avg_ttl=0\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, stream, "INFO errorstats"), "\nerrorstat_ERR:count=4\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(harness_command(h, stream, "INFO errorstats"), "\nerrorstat_NOPROTO:count=1\r\n"));
    const char *text = harness_command(h, stream, "INFO commandstats");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\ncmdstat_set:calls=2,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\ncmdstat_get:calls=1,usec="));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ",rejected_calls=1,failed_calls=0\r\n"));
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "CONFIG RESETSTAT"), "+OK\r\n");
    CU_ASSERT_EQUAL(field(h, stream, "stats", "keyspace_hits"), 0);
    CU_ASSERT_EQUAL(field(h, stream, "stats", "total_error_replies"), 0);
    CU_ASSERT_PTR_NULL(strstr(harness_command(h, stream, "INFO commandstats"), "cmdstat_get"));
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "INFO errorstats"), "$14\r\n# Errorstats\r\n\r\n");
    harness_close(h);
}

static void
rates(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned n = 0; n < 50; n++)
            harness_command(h, stream, "PING");
        harness_advance(h, 100);
        harness_turn(h);
    }
    CU_ASSERT_EQUAL(field(h, stream, "stats", "instantaneous_ops_per_sec"), 500);
    harness_close(h);
}

static const struct unit_test tests[] = {{"sections", sections}, {"counts", counts}, {"rates", rates}};
UNIT_MAIN("info", tests)
