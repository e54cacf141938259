/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Space: which segment is what, and where the next record or page goes.
 *
 * Records are appended front to back in segments that a core has open for itself. A segment's live bytes (DRAM,
 * atomic) count what was appended and is not yet dead: a record is live from space_append until space_dead, which
 * its displacer (or whoever abandons a prepared record) calls. A closed segment with no live bytes is retired: one
 * grace period later its segment word becomes FREE, durably, and only then may it be used again.
 *
 * Nothing persistent tells used from free but the segment words; after a crash recovery walks the tables and counts
 * again (space_adopt, space_adopt_pages, space_recovered).
 *
 * Threads: any core for its own `core` argument. Nothing waits.
 */
#ifndef PMEM_SPACE_H
#define PMEM_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmem/grace.h"
#include "pmem/pool.h"

struct space;

/* Where a record goes: hot = written by commands; cold = survivors moved by compaction. */
enum space_stream { SPACE_HOT, SPACE_COLD, SPACE_STREAMS };

struct space *space_open(struct pool *pool, struct grace *grace, unsigned cores);
void space_free(struct space *space);

/*
 * Room for size bytes (rounded up to UNIT_SIZE) in the core's open segment of that stream; returns the offset, 0 if
 * no segment is to be had. Only SPACE_COLD, and HOT with urgent set, may take segments of the reserve. A newly opened
 * segment's word is stored and flushed here; the caller's next fence or CAS makes it durable before publication.
 */
uint64_t space_append(struct space *space, unsigned core, enum space_stream stream, uint32_t size, bool urgent);

/* The record at offset, of this size, is dead (displaced, deleted, or never published). */
void space_dead(struct space *space, uint64_t offset, uint32_t size);

/* count contiguous table pages, not zeroed; offset or 0. Freed pages may be handed out again at once, so the caller
 * lets a grace period pass first. */
uint64_t space_pages_alloc(struct space *space, unsigned count, bool urgent);
void space_pages_free(struct space *space, uint64_t offset, unsigned count);

/* Recovery, single-threaded, before anything else: what the tables reach. */
void space_adopt(struct space *space, uint64_t offset, uint32_t size);
void space_adopt_pages(struct space *space, uint64_t offset, unsigned count);
void space_recovered(struct space *space); /* all has been told: what is unreached is FREE */

/* Compaction: the closed record segment (closed for a grace period) with most to gain, claimed for this core, or -1.
 * pressure: take one even if it gains little. Give it back with space_release; done:
 * all that can be moved was. What is left then (kept by damaged words or records) does not make a victim of it again
 * until more of it dies. */
int64_t space_claim_victim(struct space *space, unsigned core, bool pressure);
void space_release(struct space *space, int64_t segment, bool done);

/* Retire empty segments and free those whose grace is over; a bounded slice. True if some still wait. */
bool space_tend(struct space *space, unsigned core);

/* How urgent compaction is: 0 none, 1 soon, 2 writers are about to fail. */
int space_pressure(const struct space *space);

/* True if space can still be won back (garbage in closed segments, or segments waiting for grace): a writer that
 * found no room should try again in the next batch rather than answer that the pool is full. */
bool space_hopeful(struct space *space);

struct space_usage {
    uint64_t segments, segments_free, segments_records, segments_table, segments_waiting;
    uint64_t live_bytes, garbage_bytes, writable_bytes, pages, pages_used;
};
void space_usage(const struct space *space, struct space_usage *usage);

#endif
