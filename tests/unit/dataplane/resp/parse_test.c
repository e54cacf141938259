/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/resp/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define MIB (1u << 20)

static const struct resp_limits limits = {MIB, false}, before_auth = {MIB, true};

/*
 * The result when the bytes arrive in pieces of `step`. What the parser has understood is overwritten before the next
 * call, and the bytes move: it must neither look at it again nor keep pointers.
 */
static enum resp_result
feed(struct resp_parser *parser, const char *data, size_t len, size_t step, size_t *fed)
{
    size_t n = 0;
    for (;;) {
        n = n + step < len ? n + step : len;
        uint8_t *copy = malloc(n);
        memcpy(copy, data, n);
        if (parser->expected > 0)
            memset(copy, 'X', parser->position);
        enum resp_result result = resp_parse(parser, copy, n, &limits);
        free(copy);
        *fed = n;
        if (result != RESP_MORE || n == len)
            return result;
    }
}

static void
every_split_gives_the_same_arguments(void)
{
    const char data[] = "*4\r\n$3\r\nSET\r\n$9\r\na\r\n*2$3\r\n\r\n$0\r\n\r\n$10\r\n0123456789\r\n";
    static const char *const expected[] = {"SET", "a\r\n*2$3\r\n", "", "0123456789"};
    struct resp_parser parser = {0};
    for (size_t step = 1; step < sizeof(data); step++) {
        size_t fed;
        resp_reset(&parser);
        CU_ASSERT_EQUAL_FATAL(feed(&parser, data, sizeof(data) - 1, step, &fed), RESP_COMMAND);
        CU_ASSERT_EQUAL(fed, sizeof(data) - 1);
        CU_ASSERT_EQUAL(parser.position, sizeof(data) - 1);
        CU_ASSERT_EQUAL_FATAL(parser.argc, 4);
        for (unsigned i = 0; i < 4; i++) {
            CU_ASSERT_EQUAL(parser.span[i].len, strlen(expected[i]));
            CU_ASSERT_EQUAL(memcmp(data + parser.span[i].offset, expected[i], strlen(expected[i])), 0);
        }
    }
    resp_free(&parser);
}

static void
every_split_gives_the_same_line(void)
{
    const char data[] = "SET key \"a b\"\r\n";
    struct resp_parser parser = {0};
    for (size_t step = 1; step < sizeof(data); step++) {
        size_t fed;
        resp_reset(&parser);
        CU_ASSERT_EQUAL(feed(&parser, data, sizeof(data) - 1, step, &fed), RESP_COMMAND);
        CU_ASSERT_EQUAL(parser.position, sizeof(data) - 1);
        CU_ASSERT_TRUE(parser.is_inline);
        CU_ASSERT_EQUAL(parser.argc, 3);
    }
    resp_free(&parser);
}

static void
ten_thousand_arguments_in_pieces(void)
{
    char *data = malloc(10000 * 16 + 32);
    size_t len = (size_t)snprintf(data, 32, "*10001\r\n$3\r\nDEL\r\n"), fed;
    for (unsigned i = 0; i < 10000; i++)
        len += (size_t)snprintf(data + len, 16, "$5\r\n%05u\r\n", i);
    struct resp_parser parser = {0};
    CU_ASSERT_EQUAL(feed(&parser, data, len, 1461, &fed), RESP_COMMAND);
    CU_ASSERT_EQUAL_FATAL(parser.argc, 10001);
    CU_ASSERT_EQUAL(memcmp(data + parser.span[10000].offset, "09999", 5), 0);
    resp_reset(&parser);
    CU_ASSERT_TRUE(parser.capacity < 10001); /* a parser at rest is small again */
    resp_free(&parser);
    free(data);
}

static void
a_long_argument_in_pieces(void)
{
    const size_t long_len = MIB;
    char *data = malloc(long_len + 64);
    size_t head = (size_t)snprintf(data, 64, "*2\r\n$4\r\nECHO\r\n$%zu\r\n", long_len), fed;
    memset(data + head, '\r', long_len);
    memcpy(data + head + long_len, "\r\n", 2);
    struct resp_parser parser = {0};
    CU_ASSERT_EQUAL(feed(&parser, data, head + long_len + 2, 50000, &fed), RESP_COMMAND);
    CU_ASSERT_EQUAL(parser.span[1].len, long_len);
    CU_ASSERT_EQUAL(parser.span[1].offset, head);
    resp_free(&parser);
    free(data);
}

static void
nothing_to_do_is_not_an_error(void)
{
    static const struct {
        const char *data;
        uint32_t position;
    } row[] = {{"\r\n", 2},     {"\n", 1},       {"*0\r\nPING", 4}, {"*-1\r\n", 5},
               {"*-10\r\n", 6}, {"   \r\nx", 5}, {"\t\n", 2}};
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct resp_parser parser = {0};
        CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)row[i].data, strlen(row[i].data), &limits), RESP_EMPTY);
        CU_ASSERT_EQUAL(parser.position, row[i].position);
        resp_free(&parser);
    }
}

static void
errors_are_those_of_redis(void)
{
    static const struct {
        const char *data;
        const struct resp_limits *with;
        const char *error;
    } row[] = {
        {"*3000000000\r\n", &limits, "invalid multibulk length"},
        {"*2147483648\r\n", &limits, "invalid multibulk length"},
        {"*\r\n", &limits, "invalid multibulk length"},
        {"*01\r\n", &limits, "invalid multibulk length"},
        {"*1 \r\n", &limits, "invalid multibulk length"},
        {"*+1\r\n", &limits, "invalid multibulk length"},
        {"*99999999999999999999\r\n", &limits, "invalid multibulk length"},
        {"*1\r\n$-10\r\n", &limits, "invalid bulk length"},
        {"*1\r\n$-1\r\n", &limits, "invalid bulk length"},
        {"*1\r\n$2000000000\r\n", &limits, "invalid bulk length"},
        {"*1\r\n$1048577\r\n", &limits, "invalid bulk length"},
        {"*1\r\n$blabla\r\n", &limits, "invalid bulk length"},
        {"*1\r\n$\r\n", &limits, "invalid bulk length"},
        {"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", &limits, "expected '$', got 'f'"},
        {"*1\r\n\r\n", &limits, "expected '$', got ' '"},
        {"*1\r\n*1\r\n", &limits, "expected '$', got '*'"},
        {"set \"x\r\n", &limits, "unbalanced quotes in request"},
        {"set 'x\r\n", &limits, "unbalanced quotes in request"},
        {"set \"x\"y\r\n", &limits, "unbalanced quotes in request"},
        {"*11\r\n", &before_auth, "unauthenticated multibulk length"},
        {"*1\r\n$16385\r\n", &before_auth, "unauthenticated bulk length"},
    };
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct resp_parser parser = {0};
        char expected[96];
        snprintf(expected, sizeof(expected), "ERR Protocol error: %s", row[i].error);
        CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)row[i].data, strlen(row[i].data), row[i].with),
                        RESP_ERROR);
        CU_ASSERT_STRING_EQUAL(parser.error, expected);
        /* It stays an error. */
        CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)"PING\r\n", 6, row[i].with), RESP_ERROR);
        resp_free(&parser);
    }
}

static void
limits_before_auth_are_inclusive(void)
{
    struct resp_parser parser = {0};
    CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)"*10\r\n$16384\r\n", 13, &before_auth), RESP_MORE);
    CU_ASSERT_EQUAL(parser.expected, 10);
    CU_ASSERT_EQUAL(parser.bulk, 16384);
    resp_free(&parser);
}

static void
lines_without_an_end_are_too_big_at_64_kib(void)
{
    static const struct {
        const char *head, *error;
    } row[] = {
        {"", "too big inline request"}, {"*", "too big mbulk count string"}, {"*1\r\n$", "too big bulk count string"}};
    static char data[RESP_LINE_MAX + 64];
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct resp_parser parser = {0};
        size_t head = strlen(row[i].head), line = head > 1 ? head - 1 : 0;
        memset(data, '1', sizeof(data));
        memcpy(data, row[i].head, head);
        for (size_t n = 1; n <= line + RESP_LINE_MAX; n += n < 100 ? 1 : 1000)
            CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)data, n, &limits), RESP_MORE);
        CU_ASSERT_EQUAL(resp_parse(&parser, (const uint8_t *)data, line + RESP_LINE_MAX + 1, &limits), RESP_ERROR);
        CU_ASSERT_PTR_NOT_NULL(strstr(parser.error, row[i].error));
        resp_free(&parser);
    }
}

static const struct unit_test tests[] = {
    {"every split gives the same arguments", every_split_gives_the_same_arguments},
    {"every split gives the same line", every_split_gives_the_same_line},
    {"ten thousand arguments in pieces", ten_thousand_arguments_in_pieces},
    {"a long argument in pieces", a_long_argument_in_pieces},
    {"nothing to do is not an error", nothing_to_do_is_not_an_error},
    {"errors are those of Redis", errors_are_those_of_redis},
    {"limits before AUTH are inclusive", limits_before_auth_are_inclusive},
    {"lines without an end are too big at 64 KiB", lines_without_an_end_are_too_big_at_64_kib},
};
UNIT_MAIN("parse", tests)
