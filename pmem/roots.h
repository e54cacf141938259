/* SPDX-License-Identifier: BSD-3-Clause */
/* ROOTS: one word that names an immutable record of the 16 roots; each change of a root is one CAS of it. */
#ifndef PMEM_ROOTS_H
#define PMEM_ROOTS_H

#include "pmem/table.h"

/* Give an empty database its table; the caller walks again. 0; -EAGAIN, -ENOSPC. */
int roots_create(struct core *core, unsigned db);

/*
 * Replace the roots that core->roots_seen names. The record is written and flushed, and the CAS is its fence; ROOTS
 * joins DEPS. 0; 1: lost, another core changed ROOTS (load them again); -ENOSPC.
 */
int roots_install(struct core *core, const struct roots *roots);

/* The database whose table this is by the roots last loaded; -1 if none. */
int roots_find(const struct core *core, uint32_t id);

/* Write the header of a new page, twice, and flush it. */
void page_header_write(const struct page *page, uint32_t id, uint32_t depth, uint64_t prefix, enum persist_site site);

#endif
