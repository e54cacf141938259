/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of bytes: where blocks come from, when they move, when they go. */
#include "dataplane/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer every block comes from malloc, so that a slice kept too long is caught. */
#ifdef __SANITIZE_ADDRESS__
#define KEEP 0u
#else
#define KEEP 1u
#endif

static const struct {
    uint32_t size, keep; /* bytes of a block; blocks a thread keeps */
} standard[] = {{2u << 10, 256 * KEEP}, {16u << 10, 64 * KEEP}};
#define STANDARD_SIZES (sizeof(standard) / sizeof(standard[0]))

struct free_block {
    struct free_block *next;
};
static _Thread_local struct {
    struct free_block *first;
    uint32_t count;
} free_list[STANDARD_SIZES];

static uint8_t *
block_get(uint32_t size)
{
    for (unsigned i = 0; i < STANDARD_SIZES; i++) {
        struct free_block *block = free_list[i].first;
        if (size == standard[i].size && block != NULL) {
            free_list[i].first = block->next;
            free_list[i].count--;
            return (uint8_t *)block;
        }
    }
    return malloc(size);
}

static void
block_put(uint8_t *block, uint32_t size)
{
    for (unsigned i = 0; i < STANDARD_SIZES; i++) {
        if (size == standard[i].size && free_list[i].count < standard[i].keep) {
            struct free_block *freed = (struct free_block *)(void *)block;
            freed->next = free_list[i].first;
            free_list[i].first = freed;
            free_list[i].count++;
            return;
        }
    }
    free(block);
}

/* The block size for n bytes: a standard one, or else a power of two, so that growth is geometric. 0: too many. */
static uint32_t
block_size(size_t n)
{
    for (unsigned i = 0; i < STANDARD_SIZES; i++)
        if (n <= standard[i].size)
            return standard[i].size;
    return n > 1u << 31 ? 0 : 1u << (64 - __builtin_clzll(n - 1));
}

/*
 * Make room for n bytes behind the `kept` ones. Sliding them to the front costs a copy of `kept` bytes; it is done only
 * when at least half as many have been consumed since the last one, so a byte is moved a bounded number of times. A
 * block that has become eight times too large is left for a smaller one.
 */
static bool
make_room(struct bytes *b, size_t kept, size_t n)
{
    uint32_t size = block_size(kept + n);

    if (b->block != NULL && kept + n <= b->capacity && b->head >= kept / 2 && size >= b->capacity / 8) {
        memmove(b->block, bytes_data(b), kept);
        b->head = 0;
        return true;
    }
    if (size == b->capacity)
        size = block_size((size_t)size + 1);
    uint8_t *block = size == 0 ? NULL : block_get(size);
    if (block == NULL)
        return false;
    if (b->block != NULL) {
        memcpy(block, bytes_data(b), kept);
        block_put(b->block, b->capacity);
    }
    b->block = block;
    b->capacity = size;
    b->head = 0;
    return true;
}

uint8_t *
bytes_reserve(struct bytes *b, size_t n)
{
    size_t kept = (size_t)b->len + b->ahead, behind = n > b->ahead ? n - b->ahead : 0;

    if (b->block == NULL || b->head + kept + behind > b->capacity)
        if (n > 1u << 31 || !make_room(b, kept, behind))
            return NULL;
    return bytes_data(b) + b->len;
}

void
bytes_commit(struct bytes *b, size_t n)
{
    b->len += (uint32_t)n;
    b->ahead = n < b->ahead ? b->ahead - (uint32_t)n : 0;
}

bool
bytes_append(struct bytes *b, const void *data, size_t n)
{
    if (n == 0)
        return true;
    uint8_t *room = bytes_reserve(b, n);
    if (room == NULL)
        return false;
    memcpy(room, data, n);
    bytes_commit(b, n);
    return true;
}

void
bytes_consume(struct bytes *b, size_t n)
{
    if (n == b->len && b->ahead == 0) { /* the usual case first */
        bytes_free(b);
        return;
    }
    b->head += (uint32_t)n;
    b->len -= (uint32_t)n;
}

void
bytes_truncate(struct bytes *b, size_t len)
{
    b->len = (uint32_t)len;
    b->ahead = 0;
    if (len == 0)
        bytes_free(b);
}

void
bytes_free(struct bytes *b)
{
    if (b->block != NULL)
        block_put(b->block, b->capacity);
    *b = (struct bytes){0};
}

void
bytes_drain(void)
{
    for (unsigned i = 0; i < STANDARD_SIZES; i++)
        while (free_list[i].first != NULL) {
            struct free_block *block = free_list[i].first;
            free_list[i].first = block->next;
            free(block);
        }
    memset(free_list, 0, sizeof(free_list));
}
