/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a table that no root names any more. */
#ifndef PMEM_REAP_H
#define PMEM_REAP_H

#include "pmem/engine_internal.h"

/* This core gives back the table's records and pages, in slices, once nobody can be in it (reap_tend). */
void reap_start(struct core *core, const struct root *root);

#endif
