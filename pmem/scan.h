/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking a table in hash order, a home at a time. */
#ifndef PMEM_SCAN_H
#define PMEM_SCAN_H

#include "pmem/table.h"

/*
 * The entries of the home that a position (a hash) lies in: expired ones are deleted, each other is visited. Returns
 * where the next home begins, 0 behind the last. visit may be NULL: then nothing is told, and DEPS grows only by what
 * is deleted.
 */
uint64_t scan_home(struct core *core, const struct root *root, uint64_t position, visit_fn visit, void *arg);

#endif
