/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the dataplane's statistics file: snapshots, differences of two, percentiles, and the report that the `stats`
 * method answers with. The file is read, not mapped: so a file cut short while it is looked at is an error and not a
 * signal.
 */
#ifndef CONTROL_STATS_H
#define CONTROL_STATS_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "dataplane/stats/layout.h"

struct stats_snapshot {
    int64_t taken_ms;           /* CLOCK_MONOTONIC; 0: nothing read yet */
    struct stats_header header; /* the blocks of header.cores cores are valid */
};

/*
 * Read what the process pid has written. 0; -ENOENT (no file), -EBADMSG (not a statistics file of this version and
 * these counters), -ESRCH (another process's), or -errno. A file that is refused leaves the snapshot as it was.
 */
int stats_read(struct stats_snapshot *snapshot, const char *path, pid_t pid, int64_t now_ms);

/* newer - older, counter by counter. Counters only grow; one that did not is taken as 0. */
void stats_difference(struct stats_core *difference, const struct stats_core *newer, const struct stats_core *older);
/* sum += core */
void stats_add(struct stats_core *sum, const struct stats_core *core);

uint64_t stats_count(const struct stats_histogram *histogram);
/*
 * The value that `per_thousand` of 1000 samples do not exceed, in ns: the upper edge of its bucket, so never too low
 * and at most an eighth too high. 0 when there are no samples.
 */
uint64_t stats_percentile(const struct stats_histogram *histogram, unsigned per_thousand);

/* Totals, and rates and percentiles between two snapshots of one dataplane. New reference, or NULL: out of memory. */
json_t *stats_report(const struct stats_snapshot *newer, const struct stats_snapshot *older);

#endif
