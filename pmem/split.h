/* SPDX-License-Identifier: BSD-3-Clause */
/* Growth: a table page that runs out of stash lines is split into two, by the core that asked for it. */
#ifndef PMEM_SPLIT_H
#define PMEM_SPLIT_H

#include "pmem/table.h"

/* What became of the last try to split a page: page_state.outlook. */
enum split_outlook { SPLIT_POSSIBLE, SPLIT_NO_PAGES, SPLIT_AT_LIMIT };

/* Ask for a page to be split; once is enough. Only for pages that a directory names. */
void split_request(struct core *core, const struct place *at);

/* A crash interrupted this one (recovery): go on with it. */
void split_resume(struct core *core, const struct page *page, uint32_t id);

/* The steps after all words are in the children (directory.c), a slice. False: put off, there is no room. */
bool directory_tend(struct core *core);

/* The present split is over, or given up; its page stays claimed where keep is set. */
void split_end(struct core *core, bool keep);

#endif
