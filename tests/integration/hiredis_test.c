/* SPDX-License-Identifier: BSD-3-Clause */
/* hiredis over the real stack: blocking calls, a pipeline, binary values, errors, reconnecting. */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *client;
static int failed;

static void
report(const char *name, bool passed, const char *why)
{
    if (passed)
        printf("ok hiredis_test.%s\n", name);
    else
        printf("not ok hiredis_test.%s - %s\n", name, why);
    failed |= !passed;
}

static redisContext *
open_client(void)
{
    const char *host = getenv("POLLUX_HOST"), *port = getenv("POLLUX_PORT");
    redisContext *context = redisConnect(host ? host : "10.77.0.2", port ? (int)strtol(port, NULL, 10) : 6379);
    if (!context || context->err) {
        printf("not ok hiredis_test - cannot connect: %s\n", context ? context->errstr : "no memory");
        exit(1);
    }
    return context;
}

/* Does the reply have this type and text? Frees it. */
static bool
is(redisReply *reply, int type, const char *text)
{
    bool same = reply && reply->type == type && (!text || (reply->len == strlen(text) && !strcmp(reply->str, text)));
    if (reply)
        freeReplyObject(reply);
    return same;
}

static bool
is_integer(redisReply *reply, long long value)
{
    bool same = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == value;
    if (reply)
        freeReplyObject(reply);
    return same;
}

static void
test_calls(void)
{
    bool good = is(redisCommand(client, "FLUSHALL"), REDIS_REPLY_STATUS, "OK");
    good &= is(redisCommand(client, "SET %s %s", "k", "v w"), REDIS_REPLY_STATUS, "OK");
    good &= is(redisCommand(client, "GET k"), REDIS_REPLY_STRING, "v w");
    good &= is(redisCommand(client, "GET none"), REDIS_REPLY_NIL, NULL);
    good &= is_integer(redisCommand(client, "INCRBY n %d", 42), 42);
    good &= is(redisCommand(client, "INCR k"), REDIS_REPLY_ERROR, "ERR value is not an integer or out of range");
    report("calls", good, "a reply is not what Redis gives");
}

static void
test_binary(void)
{
    unsigned char value[100000];
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (unsigned char)(i * 31 + i / 256);
    bool good =
        is(redisCommand(client, "SET %b %b", "b\0k", (size_t)3, value, sizeof(value)), REDIS_REPLY_STATUS, "OK");
    redisReply *reply = redisCommand(client, "GET %b", "b\0k", (size_t)3);
    good &= reply && reply->type == REDIS_REPLY_STRING && reply->len == sizeof(value) &&
            !memcmp(reply->str, value, sizeof(value));
    if (reply)
        freeReplyObject(reply);
    report("binary", good, "100,000 bytes did not come back as they went");
}

static void
test_pipeline(void)
{
    bool good = is(redisCommand(client, "DEL counter"), REDIS_REPLY_INTEGER, NULL);
    for (int i = 0; i < 10000; i++)
        redisAppendCommand(client, "INCR counter");
    for (int i = 0; i < 10000 && good; i++) {
        void *reply = NULL;
        good &= redisGetReply(client, &reply) == REDIS_OK && is_integer(reply, i + 1);
    }
    report("pipeline", good, "10,000 INCRs did not answer 1 to 10,000");
}

static void
test_array(void)
{
    redisReply *reply = redisCommand(client, "MGET k none n");
    bool good = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
                reply->element[0]->type == REDIS_REPLY_STRING && reply->element[1]->type == REDIS_REPLY_NIL &&
                reply->element[2]->type == REDIS_REPLY_STRING;
    if (reply)
        freeReplyObject(reply);
    report("array", good, "MGET is not string, nil, string");
}

static void
test_reconnect(void)
{
    bool good = is(redisCommand(client, "SELECT 2"), REDIS_REPLY_STATUS, "OK");
    good &= is(redisCommand(client, "QUIT"), REDIS_REPLY_STATUS, "OK");
    good &= redisReconnect(client) == REDIS_OK;
    good &= is(redisCommand(client, "GET k"), REDIS_REPLY_STRING, "v w");
    report("reconnect", good, "a new connection does not start afresh");
}

int
main(void)
{
    client = open_client();
    test_calls();
    test_binary();
    test_pipeline();
    test_array();
    test_reconnect();
    redisFree(client);
    return failed;
}
