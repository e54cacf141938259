/* SPDX-License-Identifier: BSD-3-Clause */
/* Room in a chain for one more word; under the latch of its home bucket. */
#ifndef PMEM_CHAIN_H
#define PMEM_CHAIN_H

#include "pmem/table.h"

struct room {
    const uint64_t *slot;      /* EMPTY, or a stale TENT */
    uint64_t word;             /* what is in it */
    const struct bucket *last; /* of the chain */
};

/*
 * Find or make room, having flushed the line of each NON-DURABLE EMPTY of the chain: the caller's CAS is the fence
 * that makes the key's old place durably empty before the new one shows. 0; -EAGAIN: the page is being split;
 * -ENOSPC; -EBADMSG: a word of the chain is damaged, and may be this key's.
 */
int chain_room(struct core *core, const struct place *at, struct room *room);

/* Take a free stash line of a page: its index, or -1. */
int stash_take(struct page_state *state);

#endif
