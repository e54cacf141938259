/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/command/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

#define MIB (1u << 20)

static void
feed_text(struct harness *h, struct stream *stream, const char *text)
{
    harness_feed(h, stream, text, strlen(text));
}

static void
set_password(struct harness *h)
{
    snprintf(h->server.settings.requirepass, sizeof(h->server.settings.requirepass), "secret");
}

/* ---- order and splits ---- */

static void
one_byte_at_a_time(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    const char input[] =
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\nGET k\r\n\r\n*2\r\n$3\r\nget\r\n$1\r\nk\r\nPING \"a b\"\r\n";
    for (size_t i = 0; i < sizeof(input) - 1; i++) {
        harness_feed(h, stream, &input[i], 1);
        harness_run(h);
    }
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+OK\r\n$5\r\nhello\r\n$5\r\nhello\r\n$3\r\na b\r\n");
    CU_ASSERT_EQUAL(stream->in.len, 0);
    harness_close(h);
}

static void
ten_thousand_commands_in_one_segment(void)
{
    enum { COMMANDS = 10000 };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    struct bytes input = {0};
    for (unsigned i = 0; i < COMMANDS; i++)
        bytes_append(&input, "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", 21);
    harness_feed(h, stream, bytes_data(&input), input.len);
    bytes_free(&input);
    harness_run(h);
    size_t len;
    const char *output = harness_output(stream, &len), *p = output;
    for (long i = 1; i <= COMMANDS; i++) {
        char *end;
        CU_ASSERT_EQUAL_FATAL(*p, ':');
        CU_ASSERT_EQUAL_FATAL(strtol(p + 1, &end, 10), i);
        p = end + 2;
    }
    CU_ASSERT_PTR_EQUAL(p, output + len);
    harness_close(h);
}

static void
many_arguments_in_small_pieces(void)
{
    enum { KEYS = 10000, PIECE = 1000 };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    struct bytes input = {0};
    char text[32];
    bytes_append(&input, text, (size_t)snprintf(text, sizeof(text), "*%d\r\n$6\r\nEXISTS\r\n", KEYS + 1));
    for (unsigned i = 0; i < KEYS; i++)
        bytes_append(&input, "$1\r\nk\r\n", 7);
    harness_command(h, stream, "SET k v");
    for (uint32_t at = 0; at < input.len; at += PIECE) {
        harness_feed(h, stream, bytes_data(&input) + at, input.len - at < PIECE ? input.len - at : PIECE);
        harness_run(h);
        CU_ASSERT_TRUE(at + PIECE >= input.len || stream->want > stream->in.len);
    }
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), ":10000\r\n");
    bytes_free(&input);
    harness_close(h);
}

static void
the_window_opens_for_a_large_value(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\nxxx");
    harness_run(h);
    CU_ASSERT_EQUAL(stream->want, strlen("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n") + 1000002);
    harness_close(h);
}

static void
two_connections_take_turns(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *busy = harness_connect(h), *other = harness_connect(h);
    for (unsigned i = 0; i < 2000; i++)
        feed_text(h, busy, "PING\r\n");
    feed_text(h, other, "ECHO x\r\n");
    harness_turn(h);
    CU_ASSERT_STRING_EQUAL(harness_output(other, NULL), "$1\r\nx\r\n");
    CU_ASSERT_TRUE(busy->in.len > 0);
    harness_run(h);
    CU_ASSERT_EQUAL(busy->out.len, 2000 * 7);
    harness_close(h);
}

static void
select_holds_for_what_follows_in_the_pipeline(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "SET k 0\r\nSELECT 5\r\nSET k 5\r\nSELECT 0\r\nGET k\r\nSELECT 5\r\nGET k\r\nDBSIZE\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL),
                           "+OK\r\n+OK\r\n+OK\r\n+OK\r\n$1\r\n0\r\n+OK\r\n$1\r\n5\r\n:1\r\n");
    harness_close(h);
}

/* ---- waiting ---- */

static void
a_parked_command_holds_back_the_later_ones(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h), *other = harness_connect(h);
    feed_text(h, stream, "SET a 1\r\nWAIT 1 50\r\nINCR a\r\nPING\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "GET a"), "$1\r\n1\r\n");
    CU_ASSERT_EQUAL(session_deadline(&h->worker[0]), h->worker[0].now_us + 50000);
    harness_advance(h, 49);
    feed_text(h, stream, "PING\r\n");
    harness_run(h);
    CU_ASSERT_EQUAL(stream->out.len, 0);
    harness_advance(h, 1);
    harness_run(h);
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), ":0\r\n:2\r\n+PONG\r\n+PONG\r\n");
    CU_ASSERT_EQUAL(session_deadline(&h->worker[0]), UINT64_MAX);
    harness_close(h);
}

static void
many_may_wait_at_once(void)
{
    enum { CLIENTS = 300 };
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream[CLIENTS];
    h->server.settings.maxclients = CLIENTS;
    for (unsigned i = 0; i < CLIENTS; i++) {
        char line[32];
        stream[i] = harness_connect(h);
        snprintf(line, sizeof(line), "WAIT 1 %u", 1 + i % 7);
        CU_ASSERT_STRING_EQUAL(harness_command(h, stream[i], line), "");
    }
    for (unsigned ms = 0; ms < 20; ms++) {
        harness_advance(h, 1);
        harness_run(h);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        CU_ASSERT_STRING_EQUAL(harness_output(stream[i], NULL), ":0\r\n");
    harness_close(h);
}

static void
a_deferred_command_runs_once_and_in_order(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    atomic_flag_test_and_set(&h->server.settings_latch); /* CONFIG SET must wait for it */
    feed_text(h, stream, "INCR n\r\nCONFIG SET timeout 5\r\nINCR n\r\n*1\r\n$4\r\nPI");
    for (unsigned i = 0; i < 5; i++) {
        CU_ASSERT_TRUE(harness_turn(h));
        CU_ASSERT_EQUAL(stream->out.len, 4);
    }
    CU_ASSERT_EQUAL(h->stats->core[0].counter[COUNTER_deferred], 5);
    atomic_flag_clear(&h->server.settings_latch);
    harness_run(h);
    feed_text(h, stream, "NG\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), ":1\r\n+OK\r\n:2\r\n+PONG\r\n");
    harness_close(h);
}

static void
a_client_that_does_not_read_is_not_decoded(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h), *other = harness_connect(h);
    char *value = malloc(MIB);
    char head[64];
    memset(value, 'v', MIB);
    harness_feed(h, other, head, (size_t)snprintf(head, sizeof(head), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%u\r\n", MIB));
    harness_feed(h, other, value, MIB);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, ""), "+OK\r\n");
    for (unsigned i = 0; i < 500; i++)
        feed_text(h, stream, "GET k\r\n");
    h->worker[0].sessions->backlog.shared = 2 * MIB; /* for all together */
    struct stream *more[9];
    for (unsigned i = 0; i < 9; i++) {
        more[i] = harness_connect(h);
        for (unsigned n = 0; n < 500; n++)
            feed_text(h, more[i], "GET k\r\n");
    }
    harness_run(h);
    uint64_t unread = stream->out.len;
    for (unsigned i = 0; i < 9; i++)
        unread += more[i]->out.len;
    CU_ASSERT_TRUE(unread < 2 * MIB + 10 * (STREAM_OUT_SOFT_LIMIT + MIB + 64));
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "PING"), "+PONG\r\n");
    uint64_t replied = 0;
    for (unsigned i = 0; i < 600 && (stream->out.len > 0 || stream->in.len > 0); i++) {
        replied += stream->out.len;
        bytes_consume(&stream->out, stream->out.len);
        harness_run(h);
    }
    CU_ASSERT_EQUAL(replied, 500ull * (MIB + strlen("$1048576\r\n") + 2));
    free(value);
    harness_close(h);
}

/* ---- the end of a connection ---- */

static void
nothing_runs_after_quit(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h), *other = harness_connect(h);
    feed_text(h, stream, "PING\r\nQUIT\r\nSET k v\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+PONG\r\n+OK\r\n");
    CU_ASSERT_TRUE(stream->close_after_out);
    feed_text(h, stream, "SET k v\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "EXISTS k"), ":0\r\n");
    harness_close(h);
}

static void
a_protocol_error_ends_it_after_the_replies_before(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "PING\r\n*3000000000\r\nPING\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n");
    CU_ASSERT_TRUE(stream->close_after_out);
    CU_ASSERT_EQUAL(stream->in.len, 0);
    CU_ASSERT_EQUAL(h->stats->core[0].counter[COUNTER_protocol_errors], 1);
    harness_close(h);
}

static void
http_is_cut_off(void)
{
    static const char *const request[] = {"POST / HTTP/1.1\r\n", "Host: 10.0.0.1:6379\r\n", "*1\r\n$4\r\npost\r\n"};
    for (unsigned i = 0; i < 3; i++) {
        struct harness *h = harness_open(HARNESS_POOL);
        struct stream *stream = harness_connect(h), *other = harness_connect(h);
        feed_text(h, stream, request[i]);
        feed_text(h, stream, "SET k v\r\n");
        harness_run(h);
        CU_ASSERT_TRUE(stream->abort);
        CU_ASSERT_STRING_EQUAL(harness_command(h, other, "EXISTS k"), ":0\r\n");
        harness_close(h);
    }
}

static void
the_last_commands_are_answered_at_the_end_of_input(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "PING\r\nWAIT 1 10\r\nPING\r\n*2\r\n$3\r\nGET");
    stream->end_of_input = true;
    harness_run(h);
    CU_ASSERT_FALSE(stream->close_after_out);
    harness_advance(h, 10);
    harness_run(h);
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+PONG\r\n:0\r\n+PONG\r\n");
    CU_ASSERT_TRUE(stream->close_after_out);
    harness_close(h);
}

static void
waiting_for_ever_ends_with_the_input(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "WAIT 1 0"), "");
    CU_ASSERT_FALSE(stream->abort);
    stream->end_of_input = true;
    feed_text(h, stream, "");
    harness_run(h);
    CU_ASSERT_TRUE(stream->abort);
    harness_close(h);
}

static void
idle_clients_are_closed_at_the_timeout(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    h->server.settings.timeout = 10;
    struct stream *idle = harness_connect(h), *busy = harness_connect(h), *slow = harness_connect(h);
    feed_text(h, slow, "*2\r\n$3\r\nGE"); /* a slow loris: bytes, but never a command */
    for (unsigned second = 0; second < 12; second++) {
        harness_command(h, busy, "PING");
        feed_text(h, slow, second == 0 ? "T" : second == 1 ? "\r\n$9\r\n" : "x");
        for (unsigned i = 0; i < 100; i++) {
            harness_advance(h, 10);
            harness_turn(h);
        }
    }
    CU_ASSERT_TRUE(idle->abort);
    CU_ASSERT_TRUE(slow->abort);
    CU_ASSERT_FALSE(busy->abort);
    harness_close(h);
}

/* A clock that is set a year ahead must not close everybody. */
static void
the_timeout_is_not_by_the_wall_clock(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    h->server.settings.timeout = 10;
    struct stream *stream = harness_connect(h);
    h->worker[0].now_ms += 365ull * 86400 * 1000;
    for (unsigned i = 0; i < 200; i++) {
        h->worker[0].now_us += 10000;
        harness_turn(h);
    }
    CU_ASSERT_FALSE(stream->abort);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "PING"), "+PONG\r\n");
    harness_close(h);
}

/* Bytes of values that never become whole take no space of the pool, and are freed with their client. */
static void
half_sent_values_take_no_space(void)
{
    enum { CLIENTS = 1000 };
    struct harness *h = harness_open(HARNESS_POOL);
    static struct stream *stream[CLIENTS];
    struct engine_info before, after;
    engine_info(h->server.engine, &before);
    for (unsigned i = 0; i < CLIENTS; i++) {
        stream[i] = harness_connect(h);
        feed_text(h, stream[i], "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048576\r\nhalf");
        harness_run(h);
    }
    struct stream *other = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "EXISTS k"), ":0\r\n");
    engine_info(h->server.engine, &after);
    CU_ASSERT_EQUAL(after.writable_bytes, before.writable_bytes);
    feed_text(h, other, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(other, NULL), "-ERR Protocol error: invalid bulk length\r\n");
    harness_close(h);
}

static void
empty_requests_have_no_reply(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "\r\n*-10\r\n*0\r\n\r\n");
    harness_run(h);
    CU_ASSERT_EQUAL(stream->out.len, 0);
    CU_ASSERT_EQUAL(stream->in.len, 0);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "PING"), "+PONG\r\n");
    harness_close(h);
}

/* ---- who may come in, and what may be done before AUTH ---- */

static void
the_client_too_many_is_told_so(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    h->server.settings.maxclients = 2;
    struct stream *first = harness_connect(h), *second = harness_connect(h), *third = harness_connect(h);
    CU_ASSERT_STRING_EQUAL(harness_output(third, NULL), "-ERR max number of clients reached\r\n");
    CU_ASSERT_TRUE(third->close_after_out);
    CU_ASSERT_EQUAL(h->stats->core[0].counter[COUNTER_connections_rejected], 1);
    harness_disconnect(h, second);
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect(h), "PING"), "+PONG\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, first, "PING"), "+PONG\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, third, "PING"), "");
    harness_disconnect(h, third);
    harness_close(h);
}

static void
protected_mode_serves_local_peers_only(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *remote = harness_connect_from(h, 10);
    CU_ASSERT_EQUAL(strncmp(harness_output(remote, NULL), "-DENIED ", 8), 0);
    CU_ASSERT_TRUE(remote->close_after_out);
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect(h), "PING"), "+PONG\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect(h), "CONFIG SET protected-mode no"), "+OK\r\n");
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect_from(h, 10), "PING"), "+PONG\r\n");
    harness_disconnect(h, remote);
    harness_close(h);
}

static void
a_password_must_be_given_first(void)
{
    static const struct {
        const char *line, *reply;
    } row[] = {
        {"GET k", "-NOAUTH Authentication required.\r\n"},
        {"nothing", "-ERR unknown command 'nothing', with args beginning with: \r\n"},
        {"get", "-ERR wrong number of arguments for 'get' command\r\n"},
        {"PING", "-NOAUTH Authentication required.\r\n"},
        {"HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH "
                    "<user> <pass> option can be used to authenticate the client and select the RESP protocol version "
                    "at the same time\r\n"},
        {"AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH secre", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH secret1", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH \"\"", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH somebody secret", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
        {"AUTH default secret", "+OK\r\n"},
        {"GET k", "$-1\r\n"},
        {"RESET", "+RESET\r\n"},
        {"GET k", "-NOAUTH Authentication required.\r\n"},
        {"AUTH secret", "+OK\r\n"},
        {"PING", "+PONG\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    set_password(h);
    struct stream *stream = harness_connect_from(h, 10); /* with a password, protected mode lets it in */
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        CU_ASSERT_STRING_EQUAL(harness_command(h, stream, row[i].line), row[i].reply);
    CU_ASSERT_STRING_EQUAL(harness_command(h, harness_connect(h), "QUIT"), "+OK\r\n");
    harness_close(h);
}

static void
limits_before_auth(void)
{
    static const struct {
        const char *input, *reply;
    } row[] = {
        {"*11\r\n$4\r\nPING\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"},
        {"*1\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"},
    };
    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct harness *h = harness_open(HARNESS_POOL);
        set_password(h);
        struct stream *stream = harness_connect(h);
        feed_text(h, stream, row[i].input);
        harness_run(h);
        CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), row[i].reply);
        CU_ASSERT_TRUE(stream->close_after_out);
        harness_close(h);
    }
}

/* AUTH and what it permits may come in one segment. */
static void
auth_holds_for_what_follows_in_the_pipeline(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    set_password(h);
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*12\r\n$6\r\nEXISTS\r\n");
    for (unsigned i = 0; i < 11; i++)
        feed_text(h, stream, "$1\r\nk\r\n");
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_output(stream, NULL), "+OK\r\n:0\r\n");
    harness_close(h);
}

static void
a_stranger_may_keep_one_mib(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    set_password(h);
    struct stream *stream = harness_connect(h);
    static char junk[64 << 10];
    memset(junk, 'x', sizeof(junk));
    feed_text(h, stream, "*10\r\n");
    for (unsigned i = 0; i < 20 && !stream->abort; i++)
        harness_feed(h, stream, junk, sizeof(junk));
    harness_run(h);
    CU_ASSERT_TRUE(stream->abort);
    CU_ASSERT_EQUAL(stream->out.len, 0);
    harness_close(h);
}

/* CVE-2025-21605: replies to a client without rights, which it never reads, must not pile up. */
static void
a_stranger_that_does_not_read_is_not_decoded(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    set_password(h);
    struct stream *stream = harness_connect(h);
    for (unsigned i = 0; i < 30000 && !stream->abort; i++)
        feed_text(h, stream, "GET k\r\n");
    harness_run(h);
    CU_ASSERT_TRUE(stream->out.len <= STREAM_OUT_SOFT_LIMIT + 64);
    harness_close(h);
}

static void
an_endless_request_is_cut_off(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    h->server.settings.client_query_buffer_limit = MIB;
    struct stream *stream = harness_connect(h);
    feed_text(h, stream, "*1000000\r\n");
    for (unsigned i = 0; i < 200000 && !stream->abort; i++)
        feed_text(h, stream, "$1\r\nx\r\n");
    harness_run(h);
    CU_ASSERT_TRUE(stream->abort);
    harness_close(h);
}

static void
clients_come_and_go(void)
{
    struct harness *h = harness_open(HARNESS_POOL);
    for (unsigned i = 0; i < 1000; i++) {
        struct stream *a = harness_connect(h), *b = harness_connect(h);
        feed_text(h, a, "*2\r\n$3\r\nGET\r\n$1000\r\nhalf");
        feed_text(h, b, "WAIT 1 0\r\n");
        harness_run(h);
        harness_disconnect(h, i % 2 ? a : b);
        harness_disconnect(h, i % 2 ? b : a);
    }
    CU_ASSERT_EQUAL(h->worker[0].clients_used, 0);
    CU_ASSERT_EQUAL(h->server.clients, 0);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"one byte at a time", one_byte_at_a_time},
    {"ten thousand commands in one segment", ten_thousand_commands_in_one_segment},
    {"many arguments in small pieces", many_arguments_in_small_pieces},
    {"the window opens for a large value", the_window_opens_for_a_large_value},
    {"two connections take turns", two_connections_take_turns},
    {"SELECT holds for what follows in the pipeline", select_holds_for_what_follows_in_the_pipeline},
    {"a parked command holds back the later ones", a_parked_command_holds_back_the_later_ones},
    {"many may wait at once", many_may_wait_at_once},
    {"a deferred command runs once and in order", a_deferred_command_runs_once_and_in_order},
    {"a client that does not read is not decoded", a_client_that_does_not_read_is_not_decoded},
    {"nothing runs after QUIT", nothing_runs_after_quit},
    {"a protocol error ends it after the replies before", a_protocol_error_ends_it_after_the_replies_before},
    {"HTTP is cut off", http_is_cut_off},
    {"the last commands are answered at the end of input", the_last_commands_are_answered_at_the_end_of_input},
    {"waiting for ever ends with the input", waiting_for_ever_ends_with_the_input},
    {"idle clients are closed at the timeout", idle_clients_are_closed_at_the_timeout},
    {"the timeout is not by the wall clock", the_timeout_is_not_by_the_wall_clock},
    {"half-sent values take no space", half_sent_values_take_no_space},
    {"empty requests have no reply", empty_requests_have_no_reply},
    {"the client too many is told so", the_client_too_many_is_told_so},
    {"protected mode serves local peers only", protected_mode_serves_local_peers_only},
    {"a password must be given first", a_password_must_be_given_first},
    {"limits before AUTH", limits_before_auth},
    {"AUTH holds for what follows in the pipeline", auth_holds_for_what_follows_in_the_pipeline},
    {"a stranger may keep one MiB", a_stranger_may_keep_one_mib},
    {"a stranger that does not read is not decoded", a_stranger_that_does_not_read_is_not_decoded},
    {"an endless request is cut off", an_endless_request_is_cut_off},
    {"clients come and go", clients_come_and_go},
};
UNIT_MAIN("session", tests)
