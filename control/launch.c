/* SPDX-License-Identifier: BSD-3-Clause */
/* The run-dir, pid files with locks, starting a program. */
#include "control/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int
run_dir_make(const char *path, char *error, size_t error_size)
{
    struct stat status;
    const char *fault = NULL;

    if (mkdir(path, 0755) == 0) {
        if (chmod(path, 0755) == 0) /* whatever the umask took */
            return 0;
        fault = strerror(errno);
    } else if (errno != EEXIST || lstat(path, &status) != 0)
        fault = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        fault = "it is not a folder";
    else if (status.st_uid != geteuid())
        fault = "it belongs to another user";
    else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        fault = "others may write to it; mend that with chmod 755";
    if (fault == NULL)
        return 0;
    snprintf(error, error_size, "cannot use %s as run-dir: %s", path, fault);
    return -EPERM;
}

/* Is the open file still the one of that name? */
static bool
is_current(int fd, const char *path)
{
    struct stat held, named;

    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

int
pid_file_take(const char *path)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "%d\n", (int)getpid()), fd, code;

    for (;;) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, 0) != 0 || pwrite(fd, text, length, 0) != length) {
            code = -errno;
            close(fd);
            return code;
        }
        if (is_current(fd, path))
            return fd;
        close(fd); /* removed between open and lock: the lock is worth nothing */
    }
}

pid_t
pid_file_holder(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[16] = "";
    pid_t holder = 0;

    if (fd < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
        long pid = got > 0 && memchr(text, '\n', (size_t)got) != NULL ? strtol(text, NULL, 10) : 0;
        holder = pid > 0 ? (pid_t)pid : -EAGAIN;
    }
    close(fd);
    return holder;
}

static int
spawn(pid_t *pid, const char *program, const char *settings_path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes)
{
    char *path = strdup(program), *settings = strdup(settings_path), option[] = "--settings";
    char *arguments[] = {path, option, settings, NULL};
    int code =
        path == NULL || settings == NULL ? ENOMEM : posix_spawn(pid, program, actions, attributes, arguments, environ);

    free(path);
    free(settings);
    return code;
}

/* A process that cannot be watched is not left running. */
static int
watch(pid_t pid, int *pidfd)
{
    int code = 0;

    *pidfd = pidfd_open(pid, 0); /* a child's pid is ours until it is waited for */
    if (*pidfd < 0) {
        code = errno;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return code;
}

pid_t
launch(const char *program, const char *settings_path, const char *log_path, int *pidfd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid = 0;
    int code;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_path, O_WRONLY | O_CREAT | O_APPEND, 0640);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    code = spawn(&pid, program, settings_path, &actions, &attributes);
    if (code == 0)
        code = watch(pid, pidfd);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code != 0 ? -code : pid;
}

void
last_line(const char *path, char *line, size_t size)
{
    char tail[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t from = end > (off_t)sizeof(tail) ? end - (off_t)sizeof(tail) : 0;
    ssize_t got = fd < 0 ? 0 : pread(fd, tail, sizeof(tail), from);

    if (fd >= 0)
        close(fd);
    while (got > 0 && tail[got - 1] == '\n')
        got--;
    const char *before = got > 0 ? memrchr(tail, '\n', (size_t)got) : NULL, *start = before == NULL ? tail : before + 1;
    snprintf(line, size, "%.*s", got > 0 ? (int)(tail + got - start) : 0, start);
}
