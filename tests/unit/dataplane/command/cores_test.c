/* SPDX-License-Identifier: BSD-3-Clause */
/* Two cores on the same keys: what each client is told must add up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"

#define ROUNDS 20000

struct side {
    struct harness *h;
    unsigned core;
    struct stream *stream;
    long deleted, made; /* what the replies said */
};

/* The replies of a pipeline must all be there before the next one is sent. */
static void
talk(struct side *side, const char *input)
{
    harness_feed(side->h, side->stream, input, strlen(input));
    for (unsigned turns = 0; side->stream->in.len > 0 || side->stream->ready; turns++) {
        harness_turn_core(side->h, side->core);
        if (turns > 1000000)
            abort();
    }
}

/* INCR on shared counters; SET NX and DEL on shared keys that come and go, several to a DEL. */
static void *
run_side(void *arg)
{
    struct side *side = arg;
    unsigned seed = side->core + 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char input[512];
        unsigned a = (unsigned)rand_r(&seed) % 8, b = (unsigned)rand_r(&seed) % 8;
        snprintf(input, sizeof(input), "INCR n%u\r\nSET x%u v NX\r\nINCR n%u\r\nDEL x%u x%u y\r\nAPPEND long%u ab\r\n",
                 a % 3, a, b % 3, a, b, i % 50);
        talk(side, input);
        const char *reply = (const char *)bytes_data(&side->stream->out), *line = reply;
        long lines = 0;
        for (const char *end = reply + side->stream->out.len; line < end;
             line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
            if (lines == 1)
                side->made += line[0] == '+';
            if (lines == 3)
                side->deleted += strtol(line + 1, NULL, 10);
            lines++;
        }
        if (lines != 5)
            side->deleted = -1000000;
        bytes_consume(&side->stream->out, side->stream->out.len);
    }
    return NULL;
}

static void
what_clients_are_told_adds_up(void)
{
    struct harness *h = harness_open_cores(HARNESS_POOL, 2);
    struct side side[2];
    pthread_t thread[2];
    for (unsigned i = 0; i < 2; i++)
        side[i] = (struct side){h, i, harness_connect_to(h, i), 0, 0};
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run_side, &side[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    struct stream *stream = side[0].stream;
    long counted = 0, left = 0;
    char line[32];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(line, sizeof(line), "GET n%u", i);
        counted += strtol(strchr(harness_command(h, stream, line), '\n') + 1, NULL, 10);
    }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(line, sizeof(line), "EXISTS x%u", i);
        left += strtol(harness_command(h, stream, line) + 1, NULL, 10);
    }
    CU_ASSERT_EQUAL(counted, 2 * 2 * ROUNDS);
    CU_ASSERT_EQUAL(side[0].made + side[1].made, side[0].deleted + side[1].deleted + left);
    CU_ASSERT_STRING_EQUAL(harness_command(h, stream, "STRLEN long7"), ":1600\r\n");
    harness_close(h);
}

static const struct unit_test tests[] = {{"what clients are told adds up", what_clients_are_told_adds_up}};
UNIT_MAIN("cores", tests)
