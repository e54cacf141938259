/* SPDX-License-Identifier: BSD-3-Clause */
/* RESP requests, any split of the bytes. */
#include "dataplane/resp/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/resp/number.h"

#define SPANS_FIRST 16u
#define SPANS_KEPT  1024u /* a parser at rest keeps no more than this */

static enum resp_result
fail(struct resp_parser *parser, const char *reason)
{
    parser->failed = true;
    snprintf(parser->error, sizeof(parser->error), "ERR Protocol error: %s", reason);
    return RESP_ERROR;
}

void
resp_reset(struct resp_parser *parser)
{
    if (parser->capacity > SPANS_KEPT)
        resp_free(parser);
    parser->position = parser->scanned = parser->argc = 0;
    parser->expected = 0;
    parser->bulk = -1;
    parser->is_inline = parser->failed = false;
}

void
resp_free(struct resp_parser *parser)
{
    free(parser->span);
    parser->span = NULL;
    parser->capacity = 0;
}

static bool
grow_spans(struct resp_parser *parser)
{
    uint32_t capacity = parser->capacity ? parser->capacity * 2 : SPANS_FIRST;
    struct span *span = realloc(parser->span, capacity * sizeof(*span));
    if (!span)
        return false;
    parser->span = span;
    parser->capacity = capacity;
    return true;
}

/* A short canonical number that ends in CR and any byte; returns what follows, or NULL: look closer. */
static inline const uint8_t *
short_number(const uint8_t *p, const uint8_t *end, int64_t *value)
{
    if (end - p < 3 || (unsigned)(*p - '1') > 8)
        return NULL;
    int64_t number = *p++ - '0';
    for (unsigned digits = 1; p + 1 < end && digits < 9; digits++, p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (digit > 9)
            break;
        number = number * 10 + digit;
    }
    if (p + 1 >= end || *p != '\r')
        return NULL;
    *value = number;
    return p + 2;
}

/* Where the line at position ends: *line_len. RESP_MORE, RESP_COMMAND (found), or RESP_ERROR with that reason. */
static enum resp_result
find_line(struct resp_parser *parser, const uint8_t *data, size_t len, char end, const char *too_big,
          uint32_t *line_len)
{
    uint32_t from = parser->scanned > parser->position ? parser->scanned : parser->position;
    const uint8_t *found = memchr(data + from, end, len - from);
    if (!found) {
        parser->scanned = (uint32_t)len;
        return len - parser->position > RESP_LINE_MAX ? fail(parser, too_big) : RESP_MORE;
    }
    parser->scanned = (uint32_t)(found - data);
    *line_len = (uint32_t)(found - data) - parser->position;
    return RESP_COMMAND;
}

static enum resp_result
parse_inline(struct resp_parser *parser, const uint8_t *data, size_t len)
{
    uint32_t line_len;
    enum resp_result result = find_line(parser, data, len, '\n', "too big inline request", &line_len);
    if (result != RESP_COMMAND)
        return result;
    parser->position = line_len + 1;
    if (line_len > 0 && data[line_len - 1] == '\r')
        line_len--;
    bool quoted = memchr(data, '"', line_len) || memchr(data, '\'', line_len);
    uint8_t *text = quoted ? malloc(line_len) : NULL;
    if (quoted && !text)
        return fail(parser, "out of memory");
    int argc = inline_split(data, line_len, NULL, 0, text);
    free(text);
    if (argc < 0)
        return fail(parser, "unbalanced quotes in request");
    parser->is_inline = true;
    parser->argc = (uint32_t)argc;
    return argc > 0 ? RESP_COMMAND : RESP_EMPTY;
}

/* *N */
static enum resp_result
parse_array(struct resp_parser *parser, const uint8_t *data, size_t len, const struct resp_limits *limits)
{
    int64_t count;
    const uint8_t *next = short_number(data + 1, data + len, &count);
    if (next) {
        parser->position = (uint32_t)(next - data);
    } else {
        uint32_t line_len;
        enum resp_result result = find_line(parser, data, len, '\r', "too big mbulk count string", &line_len);
        if (result != RESP_COMMAND)
            return result;
        if (line_len + 2 > len)
            return RESP_MORE;
        if (!integer_parse(data + 1, line_len - 1, &count) || count > INT32_MAX)
            return fail(parser, "invalid multibulk length");
        parser->position = line_len + 2;
    }
    if (count > RESP_UNAUTHENTICATED_ARGC && limits->unauthenticated)
        return fail(parser, "unauthenticated multibulk length");
    if (count <= 0)
        return RESP_EMPTY;
    parser->expected = (int32_t)count;
    return RESP_COMMAND;
}

/* $N, looked at closely because it is not complete, or not as usual. */
static enum resp_result
parse_bulk_line(struct resp_parser *parser, const uint8_t *data, size_t len, int64_t *bulk)
{
    uint32_t line_len;
    enum resp_result result = find_line(parser, data, len, '\r', "too big bulk count string", &line_len);
    if (result != RESP_COMMAND)
        return result;
    if (parser->position + line_len + 2 > len)
        return RESP_MORE;
    const uint8_t *line = data + parser->position;
    if (line[0] != '$') {
        char reason[] = "expected '$', got '?'";
        reason[sizeof(reason) - 3] = (char)(line[0] == '\r' || line[0] == '\n' ? ' ' : line[0]);
        return fail(parser, reason);
    }
    if (!integer_parse(line + 1, line_len - 1, bulk))
        return fail(parser, "invalid bulk length");
    parser->position += line_len + 2;
    return RESP_COMMAND;
}

static enum resp_result
parse_bulk_length(struct resp_parser *parser, const uint8_t *data, size_t len, const struct resp_limits *limits)
{
    int64_t bulk;
    const uint8_t *line = data + parser->position;
    const uint8_t *next = line < data + len && *line == '$' ? short_number(line + 1, data + len, &bulk) : NULL;
    if (next) {
        parser->position = (uint32_t)(next - data);
    } else {
        enum resp_result result = parse_bulk_line(parser, data, len, &bulk);
        if (result != RESP_COMMAND)
            return result;
    }
    if (bulk < 0 || bulk > limits->max_bulk)
        return fail(parser, "invalid bulk length");
    if (bulk > RESP_UNAUTHENTICATED_BULK && limits->unauthenticated)
        return fail(parser, "unauthenticated bulk length");
    parser->bulk = bulk;
    return RESP_COMMAND;
}

enum resp_result
resp_parse(struct resp_parser *parser, const uint8_t *data, size_t len, const struct resp_limits *limits)
{
    if (parser->failed)
        return RESP_ERROR;
    if (parser->expected == 0) {
        if (len == 0)
            return RESP_MORE;
        if (data[0] != '*')
            return parse_inline(parser, data, len);
        enum resp_result result = parse_array(parser, data, len, limits);
        if (result != RESP_COMMAND)
            return result;
        parser->bulk = -1;
    }
    while (parser->argc < (uint32_t)parser->expected) {
        if (parser->bulk < 0) {
            enum resp_result result = parse_bulk_length(parser, data, len, limits);
            if (result != RESP_COMMAND)
                return result;
        }
        if (len - parser->position < (uint64_t)parser->bulk + 2)
            return RESP_MORE;
        if (parser->argc == parser->capacity && !grow_spans(parser))
            return fail(parser, "out of memory");
        parser->span[parser->argc++] = (struct span){parser->position, (uint32_t)parser->bulk};
        parser->position += (uint32_t)parser->bulk + 2;
        parser->bulk = -1;
    }
    return RESP_COMMAND;
}
