/* SPDX-License-Identifier: BSD-3-Clause */
/* Backlog: who is served on although it does not read, who must wait, who is closed. */
#include "dataplane/command/sessions.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

#define MIB   (1u << 20)
#define VALUE 1000u
#define REPLY (VALUE + (uint32_t)strlen("$1000\r\n\r\n"))

static void
feed_text(struct harness *h, struct stream *stream, const char *text)
{
    harness_feed(h, stream, text, strlen(text));
}

static void
feed_gets(struct harness *h, struct stream *stream, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        feed_text(h, stream, "GET k\r\n");
}

static void
feed_mget(struct harness *h, struct stream *stream, unsigned count)
{
    feed_text(h, stream, "MGET");
    for (unsigned i = 0; i < count; i++)
        feed_text(h, stream, " k");
    feed_text(h, stream, "\r\n");
}

static struct backlog *
open_with_value(struct harness **harness)
{
    struct harness *h = harness_open(HARNESS_POOL);
    struct stream *stream = harness_connect(h);
    harness_set(h, stream, "k", VALUE, 'v');
    harness_disconnect(h, stream);
    *harness = h;
    return &h->worker[0].sessions->backlog;
}

/* As stock clients send their pipelines: all of it before the first reply is read. */
static void
a_pipeline_is_served_before_it_is_read(void)
{
    enum { COUNT = 30000 };
    struct harness *h;
    const struct backlog *backlog = open_with_value(&h);
    struct stream *stream = harness_connect(h);
    for (unsigned i = 0; i < COUNT / 1000; i++) {
        feed_gets(h, stream, 1000);
        harness_run(h);
    }
    CU_ASSERT_EQUAL(stream->in.len, 0);
    CU_ASSERT_EQUAL(stream->out.len, COUNT * REPLY);
    CU_ASSERT_EQUAL(backlog->bytes, COUNT * REPLY - STREAM_OUT_SOFT_LIMIT);
    bytes_consume(&stream->out, stream->out.len);
    harness_run(h);
    CU_ASSERT_EQUAL(backlog->bytes, 0);
    CU_ASSERT_EQUAL(backlog->count, 0);
    harness_close(h);
}

/* What one has not read is what another may not owe; both go on when there is room again. */
static void
the_backlog_is_shared(void)
{
    struct harness *h;
    struct backlog *backlog = open_with_value(&h);
    struct stream *first = harness_connect(h), *second = harness_connect(h);
    backlog->shared = MIB;
    feed_gets(h, first, 2000);
    harness_run(h);
    feed_gets(h, second, 2000);
    harness_run(h);
    CU_ASSERT_TRUE(first->in.len > 0 && second->in.len > 0);
    CU_ASSERT_TRUE(first->out.len + second->out.len <= 2 * (STREAM_OUT_SOFT_LIMIT + REPLY) + MIB);
    bytes_consume(&first->out, first->out.len);
    harness_run(h);
    CU_ASSERT_TRUE(first->out.len > 0);
    CU_ASSERT_TRUE(second->out.len > STREAM_OUT_SOFT_LIMIT + REPLY);
    harness_close(h);
}

/* Nothing but memory limits a single reply: when it is out of proportion, its client goes. */
static void
a_reply_too_large_closes_its_client(void)
{
    struct harness *h;
    struct backlog *backlog = open_with_value(&h);
    struct stream *first = harness_connect(h), *second = harness_connect(h), *other = harness_connect(h);
    backlog->shared = MIB;
    backlog->limit = 8 * MIB;
    feed_mget(h, first, 6000);
    feed_text(h, first, "SET first 1\r\n");
    harness_run(h);
    feed_mget(h, second, 6000);
    feed_text(h, second, "SET second 1\r\n");
    harness_run(h);
    CU_ASSERT_FALSE(first->abort);
    CU_ASSERT_TRUE(second->abort);
    CU_ASSERT_EQUAL(h->stats->core[0].counter[COUNTER_connections_behind], 1);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "EXISTS first second"), ":0\r\n");
    harness_disconnect(h, second);
    CU_ASSERT_EQUAL(backlog->count, 1);
    CU_ASSERT_EQUAL(backlog->bytes, first->out.len - STREAM_OUT_SOFT_LIMIT);
    bytes_consume(&first->out, first->out.len);
    harness_run(h);
    CU_ASSERT_STRING_EQUAL(harness_command(h, other, "EXISTS first second"), ":1\r\n");
    harness_close(h);
}

/* CVE-2025-21605: a client without rights that reads nothing is closed. */
static void
a_stranger_has_no_share(void)
{
    struct harness *h;
    struct backlog *backlog = open_with_value(&h);
    snprintf(h->server.settings.requirepass, sizeof(h->server.settings.requirepass), "secret");
    struct stream *stream = harness_connect(h);
    for (unsigned i = 0; i < 30; i++) {
        feed_gets(h, stream, 1000);
        harness_run(h);
    }
    CU_ASSERT_TRUE(stream->out.len <= STREAM_OUT_SOFT_LIMIT + 64);
    CU_ASSERT_TRUE(stream->abort);
    harness_disconnect(h, stream);
    CU_ASSERT_EQUAL(backlog->bytes, 0);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"a pipeline is served before it is read", a_pipeline_is_served_before_it_is_read},
    {"the backlog is shared", the_backlog_is_shared},
    {"a reply too large closes its client", a_reply_too_large_closes_its_client},
    {"a stranger has no share", a_stranger_has_no_share},
};
UNIT_MAIN("backlog", tests)
