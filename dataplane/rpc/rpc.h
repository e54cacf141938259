/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON-RPC 2.0 over a UNIX stream socket: one JSON object a line, each way. Spoken by polluxctl to pollux-control
 * (run-dir/control.sock) and by pollux-control to the dataplane's housekeeping thread (run-dir/dataplane.sock).
 *
 * Dataplane methods: ping {}, info {}, pool.info {}, config.get {pattern}, config.set {name: value, ...},
 * clients {}, client.kill {id}, shutdown {}.
 * Control adds: status {}, stats {}.
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
/* Serve methods[] (ended by a NULL name) on path; the socket is made with mode 0600. */
struct rpc_server *rpc_server_open(const char *path, const struct rpc_method *methods, void *context, char *error, size_t error_size);
/* Handle what has arrived, waiting at most timeout_ms. Never blocks on a slow peer; requests over 1 MiB end it. */
int rpc_server_poll(struct rpc_server *server, int timeout_ms);
void rpc_server_close(struct rpc_server *server);

/* One call. Returns the result (new reference), or NULL with a sentence in error. Waits timeout_ms at most. */
json_t *rpc_call(const char *path, const char *method, json_t *params, int timeout_ms, char *error, size_t error_size);

#endif
