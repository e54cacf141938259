/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of bytes in one contiguous block: appended at the end, consumed at the front. Empty queues own no memory
 * (an idle connection must be small). Bounded by its users, not here. Threads: the owning core's.
 *
 * Blocks of the two common sizes are kept on a short free list of the thread, because a request's queue is filled and
 * emptied within one batch.
 */
#ifndef DATAPLANE_BYTES_H
#define DATAPLANE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *block;
    uint32_t head, len, capacity; /* content: block[head .. head + len) */
    uint32_t ahead; /* bytes behind the content that its owner wrote before they are due: kept, not read */
};

static inline uint8_t *
bytes_data(const struct bytes *b)
{
    return b->block + b->head;
}

/* Room for n bytes behind the content, contiguous; returns where, or NULL when memory is out. May move the block. */
uint8_t *bytes_reserve(struct bytes *b, size_t n);
/* n of the reserved bytes have been written. */
void bytes_commit(struct bytes *b, size_t n);
bool bytes_append(struct bytes *b, const void *data, size_t n);
/* Drop n bytes at the front; gives the block back when nothing is left. */
void bytes_consume(struct bytes *b, size_t n);
/* Forget what was appended after the content was len long. */
void bytes_truncate(struct bytes *b, size_t len);
void bytes_free(struct bytes *b);
/* Give the calling thread's free lists back; for threads that end before the process does. */
void bytes_drain(void);

#endif
