/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of dataplane/rpc/rpc.h: client and server over a real socket. */
#include "dataplane/rpc/rpc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PATIENCE_MS 20000 /* far above what is needed: only a hang takes so long */

static char folder[] = "/tmp/rpc_test.XXXXXX", path[64], error[1024];
static atomic_bool stop;
static atomic_uint notes;

static json_t *
echo(void *context, json_t *params, char *reason, size_t size)
{
    (void)context, (void)reason, (void)size;
    return json_incref(params);
}

static json_t *
note(void *context, json_t *params, char *reason, size_t size)
{
    (void)params, (void)reason, (void)size;
    atomic_fetch_add((atomic_uint *)context, 1);
    return json_null();
}

static json_t *
fail(void *context, json_t *params, char *reason, size_t size)
{
    (void)context;
    snprintf(reason, size, "%s",
             json_string_length(json_object_get(params, "why")) > 0 ? json_string_value(json_object_get(params, "why"))
                                                                    : "\xff is no text");
    return NULL;
}

static json_t *
big(void *context, json_t *params, char *reason, size_t size)
{
    json_t *list = json_array();

    (void)context, (void)params, (void)reason, (void)size;
    for (int i = 0; i < 300000; i++)
        json_array_append_new(list, json_integer(i));
    return list;
}

static const struct rpc_method methods[] = {{"echo", echo}, {"note", note}, {"fail", fail}, {"big", big}, {NULL, NULL}};

static void *
serve(void *server)
{
    while (!atomic_load(&stop))
        if (rpc_server_poll(server, 20) < 0)
            return "poll failed";
    rpc_server_close(server);
    return NULL;
}

static pthread_t
start(void)
{
    struct rpc_server *server = rpc_server_open(path, methods, &notes, error, sizeof(error));
    pthread_t thread;

    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    atomic_store(&stop, false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, serve, server), 0);
    return thread;
}

static void
finish(pthread_t thread)
{
    void *result;

    atomic_store(&stop, true);
    pthread_join(thread, &result);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

static int
raw_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {PATIENCE_MS / 1000, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, path, strlen(path));
    CU_ASSERT_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static void
raw_send(int fd, const char *text)
{
    CU_ASSERT_EQUAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* The next line; NULL: the server ended the connection. */
static json_t *
raw_receive(int fd)
{
    char line[4096];
    size_t length = 0;

    while (length < sizeof(line) && recv(fd, line + length, 1, 0) == 1)
        if (line[length++] == '\n')
            return json_loadb(line, length, 0, NULL);
    return NULL;
}

static json_int_t
error_code(json_t *reply)
{
    json_int_t code = json_integer_value(json_object_get(json_object_get(reply, "error"), "code"));

    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(reply, "jsonrpc")), "2.0");
    json_decref(reply);
    return code;
}

static void
calls_carry_params_and_results(void)
{
    pthread_t thread = start();
    json_t *params = json_pack("{s:s, s:[i, n]}", "text", "ä\n\"", "list", 3);
    json_t *result = rpc_call(path, "echo", params, PATIENCE_MS, error, sizeof(error));

    CU_ASSERT_TRUE(json_equal(result, params));
    json_decref(result);
    json_decref(params);
    result = rpc_call(path, "echo", NULL, PATIENCE_MS, error, sizeof(error));
    CU_ASSERT_TRUE(json_is_object(result) && json_object_size(result) == 0);
    json_decref(result);
    result = rpc_call(path, "big", NULL, PATIENCE_MS, error, sizeof(error));
    CU_ASSERT_EQUAL(json_array_size(result), 300000);
    json_decref(result);
    finish(thread);
}

static void
failures_say_why(void)
{
    pthread_t thread = start();
    json_t *params = json_pack("{s:s}", "why", "the moon is full");

    CU_ASSERT_PTR_NULL(rpc_call(path, "fail", params, PATIENCE_MS, error, sizeof(error)));
    CU_ASSERT_EQUAL(errno, 0);
    CU_ASSERT_STRING_EQUAL(error, "the moon is full");
    json_decref(params);
    CU_ASSERT_PTR_NULL(rpc_call(path, "fail", NULL, PATIENCE_MS, error, sizeof(error)));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not UTF-8"));
    CU_ASSERT_PTR_NULL(rpc_call(path, "nosuch", NULL, PATIENCE_MS, error, sizeof(error)));
    CU_ASSERT_STRING_EQUAL(error, "unknown method 'nosuch'");
    finish(thread);
    CU_ASSERT_PTR_NULL(rpc_call(path, "echo", NULL, PATIENCE_MS, error, sizeof(error)));
    CU_ASSERT_EQUAL(errno, ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "No such file"));
}

static void
bad_requests_are_answered(void)
{
    static const struct {
        const char *line;
        json_int_t code;
    } rows[] = {{"\n", -32700},
                {"{\"id\":1,\n", -32700},
                {"{\"id\":1,\"method\":\"echo\",\"method\":\"note\"}\n", -32700},
                {"[1,2]\n", -32600},
                {"{\"id\":1}\n", -32600},
                {"{\"id\":1,\"method\":7}\n", -32600},
                {"{\"id\":1,\"method\":\"echo\",\"params\":[1]}\n", -32600},
                {"{\"id\":1,\"method\":\"nosuch\"}\n", -32601},
                {"{\"id\":1,\"method\":\"fail\"}\n", -32000}};
    pthread_t thread = start();
    int fd = raw_connect();

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        raw_send(fd, rows[i].line);
        CU_ASSERT_EQUAL(error_code(raw_receive(fd)), rows[i].code);
    }
    close(fd);
    finish(thread);
}

static void
requests_are_split_and_joined_at_will(void)
{
    const char *line = "{\"id\":\"x\",\"method\":\"note\"}\n";
    pthread_t thread = start();
    int fd = raw_connect();

    atomic_store(&notes, 0);
    for (const char *p = line; *p != '\0'; p++)
        CU_ASSERT_EQUAL(send(fd, p, 1, MSG_NOSIGNAL), 1);
    json_t *reply = raw_receive(fd);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(reply, "id")), "x");
    CU_ASSERT_TRUE(json_is_null(json_object_get(reply, "result")));
    json_decref(reply);
    /* The two without an id are carried out and not answered: the next reply is that of id 9. */
    raw_send(fd, "{\"method\":\"note\"}\n{\"method\":\"note\"}\n{\"id\":9,\"method\":\"note\"}\n{\"id\":10,\"method\":"
                 "\"note\"}\n");
    for (int id = 9; id <= 10; id++) {
        reply = raw_receive(fd);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(reply, "id")), id);
        json_decref(reply);
    }
    CU_ASSERT_EQUAL(atomic_load(&notes), 5);
    close(fd);
    finish(thread);
}

static void
a_request_over_the_limit_ends_its_connection(void)
{
    pthread_t thread = start();
    int fd = raw_connect(), other = raw_connect();
    char chunk[4096];
    size_t sent = 0;

    memset(chunk, 'x', sizeof(chunk));
    while (sent < (2u << 20)) {
        ssize_t n = send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL);
        if (n < 0)
            break;
        sent += (size_t)n;
    }
    CU_ASSERT_PTR_NULL(raw_receive(fd));
    raw_send(other, "{\"id\":1,\"method\":\"nosuch\"}\n");
    CU_ASSERT_EQUAL(error_code(raw_receive(other)), -32601);
    close(fd);
    close(other);
    finish(thread);
}

static void
peers_that_do_not_read_hold_up_nobody(void)
{
    pthread_t thread = start();
    int lazy = raw_connect(), fd = raw_connect();

    for (int i = 0; i < 100; i++)
        raw_send(lazy, "{\"id\":1,\"method\":\"big\"}\n");
    raw_send(fd, "{\"id\":1,\"method\":\"nosuch\"}\n");
    CU_ASSERT_EQUAL(error_code(raw_receive(fd)), -32601);
    close(lazy);
    close(fd);
    finish(thread);
}

static void
many_silent_connections_do_not_lock_out_a_new_one(void)
{
    pthread_t thread = start();
    int silent[100];

    for (unsigned i = 0; i < 100; i++)
        silent[i] = raw_connect();
    json_t *result = rpc_call(path, "echo", NULL, PATIENCE_MS, error, sizeof(error));
    CU_ASSERT_PTR_NOT_NULL(result);
    json_decref(result);
    for (unsigned i = 0; i < 100; i++)
        close(silent[i]);
    finish(thread);
}

static void
a_call_gives_up_when_nobody_answers(void)
{
    struct rpc_server *server = rpc_server_open(path, methods, &notes, error, sizeof(error));

    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    CU_ASSERT_PTR_NULL(rpc_call(path, "echo", NULL, 30, error, sizeof(error)));
    CU_ASSERT_EQUAL(errno, ETIMEDOUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "did not answer within 30 ms"));
    rpc_server_close(server);
}

static void
only_an_abandoned_socket_is_replaced(void)
{
    struct rpc_server *server, *second;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    FILE *file;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, path, strlen(path));
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd); /* what kill -9 leaves */
    server = rpc_server_open(path, methods, &notes, error, sizeof(error));
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    CU_ASSERT_EQUAL(stat(path, &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
    second = rpc_server_open(path, methods, &notes, error, sizeof(error));
    CU_ASSERT_PTR_NULL(second);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "another process serves it"));
    rpc_server_close(server);

    file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fclose(file);
    CU_ASSERT_PTR_NULL(rpc_server_open(path, methods, &notes, error, sizeof(error)));
    CU_ASSERT_EQUAL(access(path, F_OK), 0);
    unlink(path);
    CU_ASSERT_PTR_NULL(rpc_server_open("/tmp/no-such-folder/socket", methods, &notes, error, sizeof(error)));
}

static const struct unit_test tests[] = {
    {"calls carry params and results", calls_carry_params_and_results},
    {"failures say why", failures_say_why},
    {"bad requests are answered", bad_requests_are_answered},
    {"requests are split and joined at will", requests_are_split_and_joined_at_will},
    {"a request over the limit ends its connection", a_request_over_the_limit_ends_its_connection},
    {"peers that do not read hold up nobody", peers_that_do_not_read_hold_up_nobody},
    {"many silent connections do not lock out a new one", many_silent_connections_do_not_lock_out_a_new_one},
    {"a call gives up when nobody answers", a_call_gives_up_when_nobody_answers},
    {"only an abandoned socket is replaced", only_an_abandoned_socket_is_replaced},
};

int
main(void)
{
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/socket", folder);
    failed = unit_main("dataplane/rpc/rpc", tests, sizeof(tests) / sizeof(tests[0]));
    rmdir(folder);
    return failed;
}
