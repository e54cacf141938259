/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies: RESP2 and RESP3, appended to a client's output. Where the two protocols differ (null, map, double, ...)
 * the client's own decides. Source: https://redis.io/docs/reference/protocol-spec
 */
#ifndef DATAPLANE_RESP_REPLY_H
#define DATAPLANE_RESP_REPLY_H

#include <stddef.h>
#include <stdint.h>

struct client;

void reply_ok(struct client *client);
void reply_status(struct client *client, const char *text); /* +text */
void reply_error(struct client *client, const char *text);  /* -text, e.g. "ERR syntax error" */
void reply_errorf(struct client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));
void reply_integer(struct client *client, int64_t value);
void reply_bulk(struct client *client, const void *data, size_t len);
void reply_bulk_string(struct client *client, const char *text);
void reply_bulk_integer(struct client *client, int64_t value);
void reply_null(struct client *client);       /* $-1 or _ */
void reply_null_array(struct client *client); /* *-1 or _ */
void reply_array(struct client *client, size_t count);
void reply_map(struct client *client, size_t pairs); /* *2n or %n */
void reply_set(struct client *client, size_t count); /* *n or ~n */
void reply_double(struct client *client, double value);
void reply_boolean(struct client *client, int value);                                       /* :0/:1 or #f/#t */
void reply_verbatim(struct client *client, const char *kind, const void *data, size_t len); /* bulk, or =len kind:... */

/* An array whose length is known only after its elements: begin, elements, then set. */
size_t reply_deferred_array(struct client *client);
void reply_set_deferred_array(struct client *client, size_t mark, size_t count);
void reply_set_deferred_map(struct client *client, size_t mark, size_t pairs);

/* The engine's errors, in Redis's words where Redis has them (-OOM ...). */
void reply_engine_error(struct client *client, int error);

#endif
