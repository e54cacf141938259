/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON-RPC 2.0 over a UNIX stream socket: one JSON object a line, each way. Spoken by polluxctl to pollux-control
 * (run-dir/control.sock) and by pollux-control to the dataplane's housekeeping thread (run-dir/dataplane.sock).
 *
 * Dataplane methods: ping {}, info {}, pool.info {}, config.get {pattern}, config.set {name: value, ...},
 * clients {}, client.kill {id}, shutdown {}.
 * Control adds: status {}, stats {}.
 *
 * A request without params gets {}. A failed method answers error code -32000 and one sentence. Errors of the protocol
 * itself have JSON-RPC's codes. A request without an id is carried out and not answered.
 */
#ifndef DATAPLANE_RPC_RPC_H
#define DATAPLANE_RPC_RPC_H

#include <stddef.h>
#include <jansson.h>

/* A method's handler: returns the result (new reference), or NULL with a sentence in error. */
typedef json_t *(*rpc_handler)(void *context, json_t *params, char *error, size_t error_size);
struct rpc_method {
    const char *name;
    rpc_handler handler;
};

struct rpc_server;
/*
 * Serve methods[] (ended by a NULL name) on path; the socket is made with mode 0600. A socket that nobody listens on
 * any more is replaced; one that is served is refused. methods and context stay the caller's and must outlive the
 * server. NULL with a sentence in error. One thread uses a server.
 */
struct rpc_server *rpc_server_open(const char *path, const struct rpc_method *methods, void *context, char *error,
                                   size_t error_size);
/*
 * Handle what has arrived, waiting at most timeout_ms. Returns the number of requests handled or -errno. Never blocks
 * on a slow peer: a connection that does not read its replies is not read either; requests over 1 MiB end it; when all
 * places are taken a new connection replaces the one that has been silent longest.
 */
int rpc_server_poll(struct rpc_server *server, int timeout_ms);
/* Sends what replies the sockets take at once, then closes and removes the socket. NULL is allowed. */
void rpc_server_close(struct rpc_server *server);

/*
 * One call. params: an object that stays the caller's, or NULL for {}. Returns the result (new reference), or NULL
 * with a sentence in error, and errno 0 when the server itself answered with that error, else why it could not be
 * asked. Waits timeout_ms at most.
 */
json_t *rpc_call(const char *path, const char *method, json_t *params, int timeout_ms, char *error, size_t error_size);

#endif
