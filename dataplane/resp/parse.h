/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: RESP arrays of bulk strings, and inline lines. Source: https://redis.io/docs/reference/protocol-spec;
 * limits and error texts are those of Redis 7.0.
 *
 * A parser is fed the bytes of one command from its first byte on, as many as there are. When they do not suffice it
 * remembers how far it got, so that nothing is looked at twice: neither the bytes of a long argument nor the ten
 * thousand arguments before it. Arguments are spans, distances from the command's first byte, because the bytes may
 * move between two calls. Threads: the owning core's.
 */
#ifndef DATAPLANE_RESP_PARSE_H
#define DATAPLANE_RESP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmem/engine.h"

#define RESP_LINE_MAX             (64u << 10) /* a line without its end is an error beyond this */
#define RESP_UNAUTHENTICATED_ARGC 10
#define RESP_UNAUTHENTICATED_BULK 16384

enum resp_result {
    RESP_MORE,    /* not complete yet */
    RESP_COMMAND, /* argc arguments, 1 at least; position bytes belong to it */
    RESP_EMPTY,   /* position bytes without a command: an empty line, *0, *-1 */
    RESP_ERROR,   /* the connection is of no more use; error says why, "ERR Protocol error: ..." */
};

struct resp_limits {
    int64_t max_bulk;     /* proto-max-bulk-len */
    bool unauthenticated; /* smaller limits until AUTH */
};

struct span {
    uint32_t offset, len;
};

struct resp_parser {
    uint32_t start;    /* the user's: where in the input the command begins */
    uint32_t position; /* bytes of the command that are understood */
    uint32_t scanned;  /* bytes known to hold no end of the present line; >= position or irrelevant */
    uint32_t argc, capacity;
    int32_t expected; /* arguments of the array; 0 = its length is not read yet */
    int64_t bulk;     /* length of the argument being received; -1 = not read yet */
    bool is_inline;   /* the arguments are those of inline_split over position bytes */
    bool failed;
    struct span *span;
    char error[72];
};

/* All zero is a parser at rest, too; resp_reset keeps the memory. */
void resp_reset(struct resp_parser *parser);
void resp_free(struct resp_parser *parser); /* what it owns, not itself */

/* data[0 .. len): all bytes of the command received so far (and those behind it). After a result other than RESP_MORE
 * the caller resets. An error repeats itself. */
enum resp_result resp_parse(struct resp_parser *parser, const uint8_t *data, size_t len,
                            const struct resp_limits *limits);

/*
 * Split a line at blanks, "..." (with \n \r \t \a \b \xHH \" \\) and '...' (with \') being taken together, as redis-cli
 * and the Redis server do. Arguments without quotes are slices of the line, the others are put into text, which has
 * room for len bytes (NULL if the line has no quotes). Returns the number of arguments, of which the first max are
 * stored; -EINVAL: unbalanced quotes.
 */
int inline_split(const uint8_t *line, size_t len, struct slice *argv, unsigned max, uint8_t *text);

#endif
