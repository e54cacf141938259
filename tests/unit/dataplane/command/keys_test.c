/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
deleting_and_counting(void)
{
    static const struct exchange rows[] = {
        {"SET a 1", "+OK\r\n"},     {"SET b 2", "+OK\r\n"},  {"SET c 3", "+OK\r\n"},     {"EXISTS a b x a", ":3\r\n"},
        {"TOUCH a x", ":1\r\n"},    {"DEL a x a", ":1\r\n"}, {"UNLINK b c b", ":2\r\n"}, {"DBSIZE", ":0\r\n"},
        {"EXISTS a b c", ":0\r\n"}, {"TYPE a", "+none\r\n"}, {"SET a 1", "+OK\r\n"},     {"TYPE a", "+string\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
flushing(void)
{
    static const struct exchange rows[] = {
        {"SET a 1", "+OK\r\n"},
        {"SELECT 15", "+OK\r\n"},
        {"SET b 1", "+OK\r\n"},
        {"DBSIZE", ":1\r\n"},
        {"FLUSHDB ASYNC", "+OK\r\n"},
        {"DBSIZE", ":0\r\n"},
        {"SET b 1", "+OK\r\n"},
        {"FLUSHDB foo", "-ERR syntax error\r\n"},
        {"FLUSHDB SYNC x", "-ERR syntax error\r\n"},
        {"SELECT 0", "+OK\r\n"},
        {"GET a", "$1\r\n1\r\n"},
        {"FLUSHALL", "+OK\r\n"},
        {"DBSIZE", ":0\r\n"},
        {"GET a", "$-1\r\n"},
        {"SELECT 15", "+OK\r\n"},
        {"DBSIZE", ":0\r\n"},
        {"SET b 2", "+OK\r\n"},
        {"GET b", "$1\r\n2\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
del_of_many(void)
{
    enum { KEYS = 100 };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    struct bytes line = {0};
    char text[64];
    bytes_append(&line, "DEL", 3);
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(text, sizeof(text), "SET key%u v", i);
        harness_command(h, stream, text);
        bytes_append(&line, text, (size_t)snprintf(text, sizeof(text), " key%u nothing%u", i, i));
    }
    bytes_append(&line, "", 1);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, (char *)bytes_data(&line)), ":100\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "DBSIZE"), ":0\r\n");
    bytes_free(&line);
    harness_close(h);
}

/* One that the engine puts off half way goes on where it stopped: what it has deleted still counts. */
static void
del_goes_on_where_it_stopped(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    harness_command(h, stream, "SET c 1");
    stream->client->progress = 2;
    stream->client->tally = 2;
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "DEL a b c d"), ":3\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "DEL a b c d"), ":0\r\n");
    harness_close(h);
}

static void
randomkey_finds_all(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    bool seen[8] = {false};
    char line[32];
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "RANDOMKEY"), "$-1\r\n");
    for (unsigned i = 0; i < 8; i++) {
        snprintf(line, sizeof(line), "SET %u v", i);
        harness_command(h, stream, line);
    }
    for (unsigned i = 0; i < 1000; i++) {
        const char *reply = harness_command(h, stream, "RANDOMKEY");
        CU_ASSERT_EQUAL_FATAL(strncmp(reply, "$1\r\n", 4), 0);
        seen[reply[4] - '0'] = true;
    }
    for (unsigned i = 0; i < 8; i++)
        CU_ASSERT_TRUE(seen[i]);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"deleting and counting", deleting_and_counting},
    {"flushing", flushing},
    {"DEL of many", del_of_many},
    {"DEL goes on where it stopped", del_goes_on_where_it_stopped},
    {"RANDOMKEY finds all", randomkey_finds_all},
};
UNIT_MAIN("keys", tests)
