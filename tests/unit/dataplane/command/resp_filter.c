/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection on stdin and stdout: requests in, replies out, with the real engine behind and no network. For the
 * differential test, fuzzing and curiosity: printf 'SET a b\r\nGET a\r\n' | resp-filter
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/dataplane/command/harness.h"

#define CHUNK (64u << 10)

static void
read_clock(struct worker *worker)
{
    struct timespec wall, monotonic;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    worker->now_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    worker->now_us = (uint64_t)monotonic.tv_sec * 1000000 + (uint64_t)monotonic.tv_nsec / 1000;
}

static bool
write_output(struct stream *stream)
{
    while (stream->out.len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes_data(&stream->out), stream->out.len);
        if (n <= 0)
            return false;
        bytes_consume(&stream->out, (size_t)n);
    }
    return true;
}

int
main(void)
{
    static char chunk[CHUNK];
    struct harness *h = harness_open(HARNESS_POOL * 4);
    read_clock(&h->worker[0]);
    struct stream *stream = harness_connect(h);
    bool open = true;
    while (open && !stream->abort) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (!stream->end_of_input && poll(&input, 1, 1) > 0) {
            ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));
            if (n <= 0)
                stream->end_of_input = true;
            harness_feed(h, stream, chunk, n > 0 ? (size_t)n : 0);
        }
        do
            read_clock(&h->worker[0]);
        while (harness_turn(h) && write_output(stream));
        open = write_output(stream) && !stream->close_after_out && !h->server.stop;
    }
    harness_close(h);
    return 0;
}
