/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server without a network: a real engine on a pool in memory, one worker, and streams whose bytes the test writes
 * and reads itself. Time stands still unless the test moves it.
 */
#ifndef TESTS_UNIT_DATAPLANE_COMMAND_HARNESS_H
#define TESTS_UNIT_DATAPLANE_COMMAND_HARNESS_H

#include "dataplane/command/session.h"

#define HARNESS_POOL (64ull << 20)

#define HARNESS_CORES 2

struct harness {
    struct server server;
    struct worker worker[HARNESS_CORES];
    struct stats_header *stats;
    struct stream_list ready[HARNESS_CORES], dirty[HARNESS_CORES];
    struct batch_requests batch[HARNESS_CORES];
};

/* Exits with a message when the pool cannot be made: nothing else could be tested. */
struct harness *harness_open(uint64_t pool_size); /* one core */
struct harness *harness_open_cores(uint64_t pool_size, unsigned cores);
void harness_close(struct harness *harness);

/* A connection from 127.0.0.1, or from elsewhere. The stream is the test's until harness_disconnect. */
struct stream *harness_connect(struct harness *harness);
struct stream *harness_connect_to(struct harness *harness, unsigned core);
struct stream *harness_connect_from(struct harness *harness, uint8_t first_byte_of_ip);
void harness_disconnect(struct harness *harness, struct stream *stream);

/* Input arrives. */
void harness_feed(struct harness *harness, struct stream *stream, const void *data, size_t len);
/* One turn of the (first) core's loop; false: there was nothing to do. */
bool harness_turn(struct harness *harness);
bool harness_turn_core(struct harness *harness, unsigned core);
/* Turns until there is nothing to do. */
void harness_run(struct harness *harness);
void harness_advance(struct harness *harness, uint64_t ms);

/* Takes the output: a NUL-terminated copy in a buffer of the harness's, valid until the next call. */
const char *harness_output(struct stream *stream, size_t *len);
/* An inline command, run, and its output. */
const char *harness_command(struct harness *harness, struct stream *stream, const char *line);

/* Lines and the replies that must come; the first difference is printed. */
struct exchange {
    const char *line, *reply;
};
bool harness_talk(struct harness *harness, struct stream *stream, const struct exchange *exchange, unsigned count);
#define TALK(harness, stream, exchanges) \
    CU_ASSERT_TRUE(harness_talk(harness, stream, exchanges, sizeof(exchanges) / sizeof((exchanges)[0])))

/* Sets a key to len bytes `fill`. */
void harness_set(struct harness *harness, struct stream *stream, const char *key, size_t len, char fill);

#endif
