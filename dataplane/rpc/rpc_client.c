/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC client: one call on a connection of its own, within a time limit. */
#include "dataplane/rpc/rpc.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define REPLY_LIMIT (64u << 20)

static int64_t
monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 0 when the socket is ready, -ETIMEDOUT, or -errno. */
static int
wait_until(int fd, short events, int64_t deadline)
{
    struct pollfd pollfd = {fd, events, 0};

    for (;;) {
        int64_t left = deadline - monotonic_ms();
        int ready = poll(&pollfd, 1, left > 0 ? (int)left : 0);
        if (ready > 0)
            return 0;
        if (ready == 0)
            return -ETIMEDOUT;
        if (errno != EINTR)
            return -errno;
    }
}

static int
connect_to(const char *path, int64_t deadline)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, code = 0;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    /* EAGAIN: the server's backlog is full, which poll cannot wait for on a UNIX socket. */
    while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        code = -errno;
        if (code != -EAGAIN && code != -EINTR)
            break;
        if (monotonic_ms() >= deadline) {
            code = -ETIMEDOUT;
            break;
        }
        poll(NULL, 0, 10);
        code = 0;
    }
    if (code != 0) {
        close(fd);
        return code;
    }
    return fd;
}

static int
send_all(int fd, const char *bytes, size_t length, int64_t deadline)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes += sent;
            length -= (size_t)sent;
            continue;
        }
        int code = errno == EAGAIN ? wait_until(fd, POLLOUT, deadline) : -errno;
        if (code != 0 && code != -EINTR)
            return code;
    }
    return 0;
}

/* The reply's line, to be freed, in *line. Returns its length or -errno. */
static ssize_t
receive_line(int fd, char **line, int64_t deadline)
{
    size_t length = 0, capacity = 0;
    ssize_t got;
    char *end;

    for (;;) {
        if (length == capacity) {
            capacity = capacity == 0 ? 16384 : 2 * capacity;
            char *grown = capacity > REPLY_LIMIT ? NULL : realloc(*line, capacity);
            if (grown == NULL)
                return -EMSGSIZE;
            *line = grown;
        }
        int code = wait_until(fd, POLLIN, deadline);
        if (code != 0)
            return code;
        got = recv(fd, *line + length, capacity - length, 0);
        if (got == 0)
            return -ECONNRESET;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (got < 0)
            continue;
        end = memchr(*line + length, '\n', (size_t)got);
        if (end != NULL)
            return end - *line;
        length += (size_t)got;
    }
}

static ssize_t
exchange(const char *path, const char *request, char **line, int timeout_ms)
{
    int64_t deadline = monotonic_ms() + timeout_ms;
    int fd = connect_to(path, deadline);
    ssize_t code;

    if (fd < 0)
        return fd;
    code = send_all(fd, request, strlen(request), deadline);
    if (code == 0)
        code = send_all(fd, "\n", 1, deadline);
    if (code == 0)
        code = receive_line(fd, line, deadline);
    close(fd);
    return code;
}

/* What the reply says: its result (new reference), or NULL and a sentence. */
static json_t *
result_of(const char *line, size_t length, const char *path, char *error, size_t error_size)
{
    json_error_t where;
    json_t *reply = json_loadb(line, length, 0, &where), *result = json_object_get(reply, "result");
    const char *message = json_string_value(json_object_get(json_object_get(reply, "error"), "message"));

    if (message != NULL)
        snprintf(error, error_size, "%s", message);
    else if (result == NULL)
        snprintf(error, error_size, "%s answered what is no JSON-RPC reply", path);
    if (message != NULL)
        result = NULL;
    json_incref(result);
    json_decref(reply);
    return result;
}

json_t *
rpc_call(const char *path, const char *method, json_t *params, int timeout_ms, char *error, size_t error_size)
{
    json_t *message, *result = NULL;
    char *request, *line = NULL;
    ssize_t code;

    message = json_pack("{s:s, s:i, s:s, s:O*}", "jsonrpc", "2.0", "id", 1, "method", method, "params", params);
    request = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    code = request == NULL ? -ENOMEM : exchange(path, request, &line, timeout_ms);
    if (code >= 0)
        result = result_of(line, (size_t)code, path, error, error_size);
    else if (code == -ETIMEDOUT)
        snprintf(error, error_size, "%s did not answer within %d ms", path, timeout_ms);
    else
        snprintf(error, error_size, "cannot reach %s: %s", path, strerror((int)-code));
    free(request);
    free(line);
    errno = code < 0 ? (int)-code : 0;
    return result;
}
