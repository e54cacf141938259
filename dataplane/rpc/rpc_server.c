/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC server: a UNIX socket, a few connections, one request a line. */
#include "dataplane/rpc/rpc.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS   64
#define REQUEST_LIMIT (1u << 20) /* bytes of one line */
#define READ_CHUNK    16384u

/* Error codes of JSON-RPC 2.0, section 5.1. */
#define ERROR_PARSE   -32700
#define ERROR_REQUEST -32600
#define ERROR_METHOD  -32601
#define ERROR_SERVER  -32000

struct connection {
    int fd;
    uint64_t last_used; /* turn of the server when it last spoke */
    char *in;
    size_t in_length, in_capacity;
    char *out; /* replies not sent yet; while there are any, no further request is read */
    size_t out_length, out_sent;
};

struct rpc_server {
    int listener;
    const struct rpc_method *methods;
    void *context;
    uint64_t turn;
    unsigned used;
    struct connection connection[CONNECTIONS];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static void
connection_end(struct rpc_server *server, struct connection *connection)
{
    close(connection->fd);
    free(connection->in);
    free(connection->out);
    *connection = server->connection[--server->used];
}

/* An error object. Reasons may quote bytes that are not UTF-8, which JSON cannot carry. */
static json_t *
failure(int code, const char *reason)
{
    json_t *message = json_string(reason);

    if (message == NULL)
        message = json_string("failed for a reason that is not UTF-8 text");
    return json_pack("{s:i, s:o}", "code", code, "message", message);
}

/* Carry out one request; exactly one of *result and *problem is set. */
static void
dispatch(struct rpc_server *server, const char *method, json_t *params, json_t **result, json_t **problem)
{
    char error[1024] = "";
    json_t *none = NULL;

    for (const struct rpc_method *m = server->methods; m->name != NULL; m++) {
        if (strcmp(m->name, method) != 0)
            continue;
        if (params == NULL)
            params = none = json_object();
        *result = m->handler(server->context, params, error, sizeof(error));
        json_decref(none);
        if (*result == NULL)
            *problem = failure(ERROR_SERVER, error[0] != '\0' ? error : "failed");
        return;
    }
    snprintf(error, sizeof(error), "unknown method '%.100s'", method);
    *problem = failure(ERROR_METHOD, error);
}

/* The reply to one line, or NULL where none is due. */
static json_t *
answer(struct rpc_server *server, const char *line, size_t length)
{
    json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL), *id = json_object_get(request, "id"),
           *params = json_object_get(request, "params"), *result = NULL, *problem = NULL, *reply = NULL;
    const char *method = json_string_value(json_object_get(request, "method"));

    if (request == NULL)
        problem = failure(ERROR_PARSE, "the request is not JSON, or names something twice");
    else if (method == NULL || (params != NULL && !json_is_object(params)))
        problem = failure(ERROR_REQUEST, "a request is an object with \"method\" and, if any, an object \"params\"");
    else
        dispatch(server, method, params, &result, &problem);
    if (method == NULL || id != NULL) {
        reply = json_pack("{s:s, s:O?}", "jsonrpc", "2.0", "id", id);
        json_object_set(reply, result != NULL ? "result" : "error", result != NULL ? result : problem);
    }
    json_decref(result);
    json_decref(problem);
    json_decref(request);
    return reply;
}

static int
serve_line(struct rpc_server *server, struct connection *connection, const char *line, size_t length)
{
    json_t *reply = answer(server, line, length);

    if (reply == NULL)
        return 0;
    connection->out = json_dumps(reply, JSON_COMPACT);
    json_decref(reply);
    if (connection->out == NULL)
        return -ENOMEM;
    connection->out_length = strlen(connection->out);
    connection->out[connection->out_length++] = '\n'; /* in place of the NUL */
    connection->out_sent = 0;
    return 0;
}

static int
send_replies(struct connection *connection)
{
    while (connection->out != NULL) {
        ssize_t sent = send(connection->fd, connection->out + connection->out_sent,
                            connection->out_length - connection->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        connection->out_sent += (size_t)sent;
        if (connection->out_sent == connection->out_length) {
            free(connection->out);
            connection->out = NULL;
        }
    }
    return 0;
}

/* Whole lines in the buffer, as long as the peer takes the replies. Returns requests handled or -errno. */
static int
serve_lines(struct rpc_server *server, struct connection *connection)
{
    size_t start = 0;
    char *end;
    int handled = 0, code = 0;

    while (code == 0 && connection->out == NULL &&
           (end = memchr(connection->in + start, '\n', connection->in_length - start)) != NULL) {
        size_t length = (size_t)(end - connection->in) - start;
        code = serve_line(server, connection, connection->in + start, length);
        start += length + 1;
        handled++;
        if (code == 0)
            code = send_replies(connection);
    }
    if (start > 0) {
        connection->in_length -= start;
        memmove(connection->in, connection->in + start, connection->in_length);
    }
    if (code == 0 && connection->out == NULL && connection->in_length > REQUEST_LIMIT)
        code = -EMSGSIZE;
    return code != 0 ? code : handled;
}

static int
receive(struct connection *connection)
{
    if (connection->in_capacity - connection->in_length < READ_CHUNK) {
        size_t capacity = 2 * connection->in_capacity + READ_CHUNK;
        char *in = realloc(connection->in, capacity);
        if (in == NULL)
            return -ENOMEM;
        connection->in = in;
        connection->in_capacity = capacity;
    }
    ssize_t got = recv(connection->fd, connection->in + connection->in_length, READ_CHUNK, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return -ECONNRESET;
    connection->in_length += (size_t)got;
    return 0;
}

/* Returns requests handled, or -errno: the connection is over. */
static int
connection_turn(struct rpc_server *server, struct connection *connection, short events)
{
    int code;

    if (events == 0)
        return 0;
    connection->last_used = server->turn;
    code = connection->out != NULL ? send_replies(connection) : receive(connection);
    if (code != 0 || connection->out != NULL)
        return code;
    return serve_lines(server, connection);
}

static void
accept_one(struct rpc_server *server)
{
    int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (server->used == CONNECTIONS) {
        struct connection *oldest = server->connection;
        for (unsigned i = 1; i < server->used; i++)
            if (server->connection[i].last_used < oldest->last_used)
                oldest = &server->connection[i];
        connection_end(server, oldest);
    }
    server->connection[server->used++] = (struct connection){.fd = fd, .last_used = server->turn};
}

int
rpc_server_poll(struct rpc_server *server, int timeout_ms)
{
    struct pollfd fds[CONNECTIONS + 1];
    int handled = 0;

    for (unsigned i = 0; i < server->used; i++)
        fds[i] = (struct pollfd){server->connection[i].fd, server->connection[i].out != NULL ? POLLOUT : POLLIN, 0};
    fds[server->used] = (struct pollfd){server->listener, POLLIN, 0};
    if (poll(fds, server->used + 1, timeout_ms) < 0)
        return errno == EINTR ? 0 : -errno;
    server->turn++;
    bool knock = fds[server->used].revents != 0;
    for (unsigned i = server->used; i-- > 0;) { /* downwards: an ended connection is replaced by the last one */
        int code = connection_turn(server, &server->connection[i], fds[i].revents);
        if (code < 0)
            connection_end(server, &server->connection[i]);
        else
            handled += code;
    }
    if (knock)
        accept_one(server);
    return handled;
}

/* A socket file that nobody listens on is what a killed server leaves. */
static bool
is_abandoned(const struct sockaddr_un *address)
{
    struct stat status;
    bool refused = false;
    int fd;

    if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return false;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED;
        close(fd);
    }
    return refused;
}

static int
listen_on(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, code;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    if (is_abandoned(&address))
        unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    /* Linux gives the file the mode of the socket's inode: no moment in which others may connect. */
    if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(fd, CONNECTIONS) == 0)
        return fd;
    code = -errno;
    close(fd);
    return code;
}

struct rpc_server *
rpc_server_open(const char *path, const struct rpc_method *methods, void *context, char *error, size_t error_size)
{
    struct rpc_server *server;
    int fd = listen_on(path);

    if (fd < 0) {
        snprintf(error, error_size, "cannot serve %s: %s", path,
                 fd == -EADDRINUSE ? "another process serves it, or it is no socket" : strerror(-fd));
        return NULL;
    }
    server = calloc(1, sizeof(*server));
    if (server == NULL) {
        close(fd);
        unlink(path);
        snprintf(error, error_size, "cannot serve %s: out of memory", path);
        return NULL;
    }
    server->listener = fd;
    server->methods = methods;
    server->context = context;
    memcpy(server->path, path, strlen(path));
    return server;
}

void
rpc_server_close(struct rpc_server *server)
{
    if (server == NULL)
        return;
    while (server->used > 0) {
        send_replies(&server->connection[0]);
        connection_end(server, &server->connection[0]);
    }
    close(server->listener);
    unlink(server->path);
    free(server);
}
