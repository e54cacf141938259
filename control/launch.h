/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control process does with the system: the run-dir, pid files with locks, starting a program. */
#ifndef CONTROL_LAUNCH_H
#define CONTROL_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

/* Make the folder (0755) where it is missing. Refused: not a folder, another user's, writable by others. 0 or -errno
 * with a sentence in error. */
int run_dir_make(const char *path, char *error, size_t error_size);

/* Lock the file for this process and write its pid. The descriptor, which holds the lock until it is closed (also by
 * a crash), or -EWOULDBLOCK: another process holds it, or -errno. */
int pid_file_take(const char *path);
/* The process that holds the lock; 0: nobody; -EAGAIN: somebody who has not written its pid yet. */
pid_t pid_file_holder(const char *path);

/*
 * Start `program --settings FILE` in a session of its own, its output appended to the log, default signals. The child's
 * pid, with a descriptor of the process in *pidfd; or -errno when it cannot be executed.
 */
pid_t launch(const char *program, const char *settings_path, const char *log_path, int *pidfd);

/* The last line of a log file, cut to size; empty when there is none. */
void last_line(const char *path, char *line, size_t size);

#endif
