/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics file of layout.h: made, beaten, let go. The dataplane's side; others map it read-only. */
#ifndef DATAPLANE_STATS_STATS_FILE_H
#define DATAPLANE_STATS_STATS_FILE_H

#include <stddef.h>

#include "dataplane/stats/layout.h"

struct stats_file {
    struct stats_header *header;
    char path[512];
};

/* A new file under a temporary name, renamed when it is whole, so that whoever has an old one mapped keeps it. The
 * magic is not there before stats_file_publish. 0, or -errno with one sentence in error. */
int stats_file_create(struct stats_file *file, const char *path, unsigned cores, char *error, size_t error_size);

/* Ready: sign it and show it. */
void stats_file_publish(struct stats_file *file);

/* Once a second, by the housekeeping thread. */
void stats_file_beat(struct stats_file *file);

/* Unmaps and removes it: the process ends in order. */
void stats_file_close(struct stats_file *file);

#endif
