/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies in RESP2 and RESP3. */
#include "dataplane/resp/reply.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dataplane/resp/client.h"
#include "dataplane/resp/number.h"

#define HEADER_MAX (INTEGER_TEXT_MAX + 2) /* a kind, a number, CR LF */

/* n bytes at the end of the output, or NULL: memory is out, and the connection with it. */
static uint8_t *
room(struct client *client, size_t n)
{
    uint8_t *at = bytes_reserve(&client->stream->out, n);
    if (!at)
        client->stream->abort = true;
    return at;
}

static void
append(struct client *client, const void *data, size_t len)
{
    uint8_t *at = room(client, len);
    if (!at)
        return;
    memcpy(at, data, len);
    bytes_commit(&client->stream->out, len);
}

static unsigned
format_header(uint8_t *at, char kind, int64_t number)
{
    char digits[INTEGER_TEXT_MAX];
    unsigned len = integer_format(number, digits);
    at[0] = (uint8_t)kind;
    memcpy(at + 1, digits, len);
    at[len + 1] = '\r';
    at[len + 2] = '\n';
    return len + 3;
}

static void
append_header(struct client *client, char kind, int64_t number)
{
    uint8_t *at = room(client, HEADER_MAX);
    if (at)
        bytes_commit(&client->stream->out, format_header(at, kind, number));
}

static bool
is_line_end(char c)
{
    return c == '\r' || c == '\n';
}

/* A line cannot hold line ends: they become blanks. */
static void
append_line(struct client *client, char kind, const char *text)
{
    size_t len = strlen(text);
    uint8_t *at = room(client, len + 3);
    if (!at)
        return;
    at[0] = (uint8_t)kind;
    for (size_t i = 0; i < len; i++)
        at[i + 1] = (uint8_t)(is_line_end(text[i]) ? ' ' : text[i]);
    at[len + 1] = '\r';
    at[len + 2] = '\n';
    bytes_commit(&client->stream->out, len + 3);
}

void
reply_ok(struct client *client)
{
    append(client, "+OK\r\n", 5);
}

void
reply_status(struct client *client, const char *text)
{
    append_line(client, '+', text);
}

void
reply_error(struct client *client, const char *text)
{
    append_line(client, '-', text);
}

/* Line ends at the end go, others become blanks, as in Redis. */
void
reply_errorf(struct client *client, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    uint8_t *at = len < 0 ? NULL : room(client, (size_t)len + 3);
    if (at) {
        char *text = (char *)at + 1;
        at[0] = '-';
        vsnprintf(text, (size_t)len + 1, format, again);
        while (len > 0 && is_line_end(text[len - 1]))
            len--;
        for (int i = 0; i < len; i++)
            if (is_line_end(text[i]))
                text[i] = ' ';
        text[len] = '\r';
        text[len + 1] = '\n';
        bytes_commit(&client->stream->out, (size_t)len + 3);
    }
    va_end(again);
}

void
reply_integer(struct client *client, int64_t value)
{
    append_header(client, ':', value);
}

void
reply_bulk(struct client *client, const void *data, size_t len)
{
    uint8_t *at = room(client, HEADER_MAX + len + 2);
    if (!at)
        return;
    unsigned header = format_header(at, '$', (int64_t)len);
    memcpy(at + header, data, len);
    at[header + len] = '\r';
    at[header + len + 1] = '\n';
    bytes_commit(&client->stream->out, header + len + 2);
}

void
reply_bulk_string(struct client *client, const char *text)
{
    reply_bulk(client, text, strlen(text));
}

void
reply_bulk_integer(struct client *client, int64_t value)
{
    char digits[INTEGER_TEXT_MAX];
    reply_bulk(client, digits, integer_format(value, digits));
}

void
reply_null(struct client *client)
{
    if (client->protocol == 2)
        append(client, "$-1\r\n", 5);
    else
        append(client, "_\r\n", 3);
}

void
reply_null_array(struct client *client)
{
    if (client->protocol == 2)
        append(client, "*-1\r\n", 5);
    else
        append(client, "_\r\n", 3);
}

void
reply_array(struct client *client, size_t count)
{
    append_header(client, '*', (int64_t)count);
}

void
reply_map(struct client *client, size_t pairs)
{
    if (client->protocol == 2)
        append_header(client, '*', (int64_t)pairs * 2);
    else
        append_header(client, '%', (int64_t)pairs);
}

void
reply_set(struct client *client, size_t count)
{
    append_header(client, client->protocol == 2 ? '*' : '~', (int64_t)count);
}

void
reply_double(struct client *client, double value)
{
    char text[40];
    int len = isinf(value) ? snprintf(text, sizeof(text), "%s", value > 0 ? "inf" : "-inf")
                           : snprintf(text, sizeof(text), "%.17g", value);
    if (client->protocol == 2)
        reply_bulk(client, text, (size_t)len);
    else
        append_line(client, ',', text);
}

void
reply_boolean(struct client *client, int value)
{
    if (client->protocol == 2)
        append(client, value ? ":1\r\n" : ":0\r\n", 4);
    else
        append(client, value ? "#t\r\n" : "#f\r\n", 4);
}

void
reply_verbatim(struct client *client, const char *kind, const void *data, size_t len)
{
    if (client->protocol == 2) {
        reply_bulk(client, data, len);
        return;
    }
    append_header(client, '=', (int64_t)len + 4);
    append(client, kind, 3);
    append(client, ":", 1);
    append(client, data, len);
    append(client, "\r\n", 2);
}

size_t
reply_deferred_array(struct client *client)
{
    size_t mark = client->stream->out.len;
    uint8_t *at = room(client, HEADER_MAX);
    if (at)
        bytes_commit(&client->stream->out, HEADER_MAX);
    return mark;
}

/* The room left for the header was for the longest one: write it and close the gap. */
static void
set_deferred(struct client *client, size_t mark, char kind, size_t count)
{
    struct bytes *out = &client->stream->out;
    if (out->len < mark + HEADER_MAX)
        return;
    uint8_t *at = bytes_data(out) + mark;
    unsigned header = format_header(at, kind, (int64_t)count);
    memmove(at + header, at + HEADER_MAX, out->len - mark - HEADER_MAX);
    bytes_truncate(out, out->len - (HEADER_MAX - header));
}

void
reply_set_deferred_array(struct client *client, size_t mark, size_t count)
{
    set_deferred(client, mark, '*', count);
}

void
reply_set_deferred_map(struct client *client, size_t mark, size_t pairs)
{
    if (client->protocol == 2)
        set_deferred(client, mark, '*', pairs * 2);
    else
        set_deferred(client, mark, '%', pairs);
}

void
reply_engine_error(struct client *client, int error)
{
    switch (error) {
    case -ENOSPC:
        reply_error(client, "OOM command not allowed when used memory > 'maxmemory'.");
        break;
    case -E2BIG:
        reply_error(client, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
        break;
    case -EBADMSG:
        reply_error(client, "ERR the record of this key is damaged (checksum error)");
        break;
    default:
        reply_errorf(client, "ERR the engine failed: %s", strerror(-error));
    }
}
