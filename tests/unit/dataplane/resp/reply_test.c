/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/resp/reply.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "dataplane/resp/client.h"
#include "tests/unit/unit.h"

static struct stream stream;
static struct client client = {.stream = &stream};

/* What has been replied since the last call. */
static const char *
output(void)
{
    static char text[4096];
    size_t len = stream.out.len < sizeof(text) ? stream.out.len : sizeof(text) - 1;
    if (len > 0)
        memcpy(text, bytes_data(&stream.out), len);
    text[len] = '\0';
    bytes_consume(&stream.out, stream.out.len);
    return text;
}

#define CHECK(call, resp2, resp3)                \
    do {                                         \
        client.protocol = 2;                     \
        call;                                    \
        CU_ASSERT_STRING_EQUAL(output(), resp2); \
        client.protocol = 3;                     \
        call;                                    \
        CU_ASSERT_STRING_EQUAL(output(), resp3); \
    } while (0)

static void
plain_replies(void)
{
    CHECK(reply_ok(&client), "+OK\r\n", "+OK\r\n");
    CHECK(reply_status(&client, "PONG"), "+PONG\r\n", "+PONG\r\n");
    CHECK(reply_error(&client, "ERR no"), "-ERR no\r\n", "-ERR no\r\n");
    CHECK(reply_integer(&client, -42), ":-42\r\n", ":-42\r\n");
    CHECK(reply_integer(&client, INT64_MIN), ":-9223372036854775808\r\n", ":-9223372036854775808\r\n");
    CHECK(reply_bulk(&client, "a\r\nb", 4), "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n");
    CHECK(reply_bulk(&client, "", 0), "$0\r\n\r\n", "$0\r\n\r\n");
    CHECK(reply_bulk_integer(&client, 10), "$2\r\n10\r\n", "$2\r\n10\r\n");
    CHECK(reply_array(&client, 3), "*3\r\n", "*3\r\n");
}

static void
replies_that_differ(void)
{
    CHECK(reply_null(&client), "$-1\r\n", "_\r\n");
    CHECK(reply_null_array(&client), "*-1\r\n", "_\r\n");
    CHECK(reply_map(&client, 3), "*6\r\n", "%3\r\n");
    CHECK(reply_set(&client, 2), "*2\r\n", "~2\r\n");
    CHECK(reply_double(&client, 1.5), "$3\r\n1.5\r\n", ",1.5\r\n");
    CHECK(reply_double(&client, -INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n");
    CHECK(reply_boolean(&client, 1), ":1\r\n", "#t\r\n");
    CHECK(reply_boolean(&client, 0), ":0\r\n", "#f\r\n");
    CHECK(reply_verbatim(&client, "txt", "ab", 2), "$2\r\nab\r\n", "=6\r\ntxt:ab\r\n");
}

/* What a client sends comes back in errors: it must not be able to forge replies. */
static void
lines_hold_no_line_ends(void)
{
    CHECK(reply_error(&client, "ERR a\r\nb"), "-ERR a  b\r\n", "-ERR a  b\r\n");
    CHECK(reply_errorf(&client, "ERR %s", "a\r\n+OK\r\n"), "-ERR a  +OK\r\n", "-ERR a  +OK\r\n");
    CHECK(reply_errorf(&client, "ERR %.*s!", 3, "abcdef"), "-ERR abc!\r\n", "-ERR abc!\r\n");
}

static void
deferred(size_t count)
{
    size_t mark = reply_deferred_array(&client);
    for (size_t i = 0; i < count; i++)
        reply_integer(&client, 7);
    reply_set_deferred_array(&client, mark, count);
}

static void
nested(void)
{
    reply_ok(&client);
    size_t outer = reply_deferred_array(&client);
    deferred(2);
    reply_set_deferred_map(&client, outer, 1);
}

static void
lengths_known_later(void)
{
    CHECK(deferred(0), "*0\r\n", "*0\r\n");
    CHECK(deferred(2), "*2\r\n:7\r\n:7\r\n", "*2\r\n:7\r\n:7\r\n");
    CHECK(nested(), "+OK\r\n*2\r\n*2\r\n:7\r\n:7\r\n", "+OK\r\n%1\r\n*2\r\n:7\r\n:7\r\n");
}

static void
errors_of_the_engine(void)
{
    reply_engine_error(&client, -ENOSPC);
    CU_ASSERT_EQUAL(strncmp(output(), "-OOM ", 5), 0);
    reply_engine_error(&client, -E2BIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(output(), "string exceeds maximum allowed size"));
    reply_engine_error(&client, -EBADMSG);
    CU_ASSERT_EQUAL(strncmp(output(), "-ERR ", 5), 0);
}

static const struct unit_test tests[] = {
    {"plain replies", plain_replies},
    {"replies that differ", replies_that_differ},
    {"lines hold no line ends", lines_hold_no_line_ends},
    {"lengths known later", lengths_known_later},
    {"errors of the engine", errors_of_the_engine},
};
UNIT_MAIN("reply", tests)
