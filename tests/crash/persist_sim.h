/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated persistent memory behind pmem/persist.h.
 *
 * A memory is mapped twice: the engine sees it read-only, so a store that is not a persist call faults; the
 * simulator writes through the other mapping. For each line it keeps what is guaranteed durable, and the events
 * since: single stores in order, and the parts of bulk copies.
 *
 *   - A crash may leave, each line on its own, any prefix of its events (a cache may evict a line at any moment).
 *   - Bulk copies give no order of their own: of those at the end of the prefix, any subset of 8-byte words.
 *   - A flush takes note of the line's events so far; the flushing core's next fence, or its next compare-and-swap,
 *     successful or not, makes them durable.
 *   - Loads and stores of different cores are sequentially consistent: one thread, switched at each persist call.
 *
 * A segment is filled with garbage when its word turns from FREE to used, so that whoever still needs what was in it
 * is found out.
 */
#ifndef TESTS_CRASH_PERSIST_SIM_H
#define TESTS_CRASH_PERSIST_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pmem/layout.h"
#include "pmem/persist.h"

#define LINE_WORDS (LINE_SIZE / 8)

struct event {
    uint64_t word[LINE_WORDS];
    uint8_t mask; /* words that it stores */
    bool bulk;
};

struct line {
    struct event *event; /* pending ones */
    uint32_t pending, room;
    uint32_t settled; /* events that became durable before them */
    bool listed;      /* in memory.pending */
};

struct flushed {
    uint32_t line, upto; /* events of the line, counted from its first ever */
};

struct flushes {
    struct flushed *of;
    uint32_t used, room;
};

struct memory {
    const uint8_t *view; /* the engine's, read-only */
    uint8_t *live;       /* the same bytes, writable */
    uint8_t *durable;    /* what a crash leaves at least */
    uint64_t size, lines;
    uint64_t durable_hash; /* of durable */
    uint64_t version;      /* changes when the set of crash images does */
    bool tracked;          /* else stores are durable at once and there are no images */
    bool traced;           /* calls are written to persist_trace */
    struct line *line;
    uint32_t *pending; /* lines with pending events */
    uint32_t pending_used;
    struct flushes flushes[MAX_CORES];
};

struct memory *memory_new(uint64_t size);

/* Make it hold these bytes, all durable. */
void memory_fill(struct memory *memory, const uint8_t *bytes, bool tracked);

/* The process that issued them is gone, and they with it: what they would have made durable stays pending. */
void memory_forget_flushes(struct memory *memory);

/* The hash that line `index` with this content adds (by XOR) to the hash of an image. */
uint64_t line_hash(uint64_t index, const uint8_t content[LINE_SIZE]);

/* The memory that persist calls store to, and who hears of them. */
struct persist_listener {
    struct memory *memory;
    unsigned core;              /* that issues them */
    void (*before)(void *arg);  /* at each persist call, before it: others may run */
    void (*ordered)(void *arg); /* before a fence or compare-and-swap takes effect: the most images there are */
    void (*stored)(void *arg);  /* after a store or compare-and-swap that others can see */
    void *arg;
};
extern struct persist_listener persist_listener;

/* Where each call on a traced memory is written to, one a line; NULL = nowhere. */
extern FILE *persist_trace;

/* The mutant: flushes or fences of this site do nothing. SITES = none. */
extern enum persist_site persist_removed;
const char *persist_site_name(enum persist_site site);

/* What the recorded events say the memory holds is what it holds. */
bool memory_shadow_agrees(const struct memory *memory);

#endif
