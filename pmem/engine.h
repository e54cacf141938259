/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: a durable map from (database, key) to value, for several cores at once.
 *
 * A core works in batches (PROTOCOL in docs/architecture.md):
 *
 *     batch_begin(core, now_ms);
 *     for each write:   entry_prepare(...)     likely records, flushed; no effect yet
 *     batch_prepared(core);                    FENCE 1
 *     for each command: entry_read / entry_edit ...   each takes effect by one CAS
 *     batch_commit(core);                      flush what replies depend on; FENCE 2
 *     ... now, and not before, replies and messages may leave ...
 *     batch_tend(core);                        a bounded slice of growth, compaction, reclamation, expiry
 *
 * Nothing here waits: an operation that meets another core's latch answers -EAGAIN, and the caller runs it again in
 * a later batch, before anything else of the same connection.
 *
 * Errors are negative errno values:
 *     -ENOENT   no such key            -EAGAIN  run it again in the next batch
 *     -ENOSPC   the pool is full       -EBADMSG a record or a word fails its check: never served
 *     -E2BIG    key + value do not fit a record
 */
#ifndef PMEM_ENGINE_H
#define PMEM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmem/layout.h"

struct engine; /* an open pool; one a process */
struct core;   /* one core's side of it; used by one thread at a time */

/* ---- open and close (thread: any one) ---- */

struct engine_options {
    const char *path;     /* file on fsdax, hugetlbfs or tmpfs, or a device DAX node */
    uint64_t create_size; /* bytes, a multiple of SEGMENT_SIZE: create the file if it does not exist; 0 = only open */
    unsigned cores;       /* 1 .. MAX_CORES: how many struct core will be used */
};

/* Open or create. On failure NULL, and error (256 bytes at least) holds one sentence: what happened, what to do. */
struct engine *engine_open(const struct engine_options *options, char *error, size_t error_size);

/* Orderly close: all cores must be idle. Marks the pool clean. */
void engine_close(struct engine *engine);

struct core *engine_core(struct engine *engine, unsigned index);

/* Where a write is safe: what INFO and the command line tell. */
enum persistence_domain { DOMAIN_EMULATED, DOMAIN_VIRTIO, DOMAIN_MEMCTRL, DOMAIN_ADR, DOMAIN_EADR };
const char *persistence_domain_name(enum persistence_domain domain);

struct engine_info {
    const char *path;
    char uuid[37];
    enum persistence_domain domain;
    uint64_t size, segments, segments_free, segments_table;
    uint64_t live_bytes;     /* records that a word points to (or may soon) */
    uint64_t garbage_bytes;  /* record space that compaction could give back */
    uint64_t writable_bytes; /* what can still be written before -ENOSPC, about */
    uint64_t dirty_shutdowns;
    bool was_clean;
    uint64_t created_ms;
    uint64_t open_us, walked_keys; /* recovery: how long, how many keys it met */
    uint64_t compacted_bytes, splits, crc_errors, expired;
};
/* Any thread, at any time; reads counters only. */
void engine_info(const struct engine *engine, struct engine_info *info);

/* Number of keys of a database, and of those with an expiry (both exact when no core is in a batch). Any thread. */
uint64_t engine_keys(const struct engine *engine, unsigned db, uint64_t *with_expiry);

/* ---- a batch (thread: the core's) ---- */

void batch_begin(struct core *core, uint64_t now_ms); /* now: ms since the epoch, for expiry */
void batch_prepared(struct core *core);
void batch_commit(struct core *core);

/*
 * One bounded slice (about 100 us at most) of background work. True if there is more to do soon: inserts of other
 * cores may wait for a split that this one has begun, so a core that leaves for good calls it until it says false.
 */
bool batch_tend(struct core *core);

/* A core that sleeps must not hold up reclamation: go offline before sleeping, online after. */
void core_offline(struct core *core);
void core_online(struct core *core);

/* Effort so far, for statistics. */
struct core_counts {
    uint64_t batches, fences, flushed_lines, appended_bytes, lost_cas, deferred, hints_used, hints_stale, expired;
};
void core_counts(const struct core *core, struct core_counts *counts);

/* ---- keys and entries ---- */

struct slice {
    const void *data;
    size_t len;
};

/* A key with its hash: hash once (key_init), use everywhere. The bytes stay the caller's. */
struct key {
    const void *data;
    uint32_t len;
    uint64_t hash;
};
void key_init(const struct engine *engine, struct key *key, const void *data, size_t len);

/* What a key holds. value points into the pool and is valid until the core's next batch_tend. */
struct entry {
    const void *value;
    uint32_t len;
    uint8_t type;      /* enum record_type */
    uint8_t flags;     /* RECORD_RAW */
    int64_t expire_ms; /* absolute; 0 = never */
};

/* Prefetch, in two steps over all keys of a batch: bucket lines first, then the records that they name. */
void entry_prefetch_bucket(struct core *core, unsigned db, const struct key *key);
void entry_prefetch_record(struct core *core, unsigned db, const struct key *key);

/* 0 and *entry, or -ENOENT, -EBADMSG, -EAGAIN. An expired key is deleted and is absent. */
int entry_read(struct core *core, unsigned db, const struct key *key, struct entry *entry);

/*
 * Change one key: decide() sees the entry (NULL = absent) and says what becomes of it. It may be called more than
 * once (in prepare, and again if another core got there first), so it must set, not add to, what it keeps in arg,
 * and must not have effects elsewhere.
 */
enum verdict { ENTRY_KEEP, ENTRY_PUT, ENTRY_DELETE };
#define EDIT_PARTS 4
struct edit {
    struct slice part[EDIT_PARTS]; /* the new value is their concatenation; data NULL stands for zeros */
    unsigned parts;
    uint8_t type, flags;
    bool blind;        /* in every call the same new entry, whatever the old one: a plain SET */
    int64_t expire_ms; /* preset to the old entry's, 0 if absent */
};
typedef enum verdict (*decide_fn)(const struct entry *old, struct edit *edit, void *arg);

/* What entry_prepare leaves for entry_edit; zero it at the start of each batch. */
struct hint {
    uint64_t seen, word; /* the word that decide() saw, and the one to install if it is still there */
    uint32_t number;     /* of the prepared record in this batch, from 1 */
    bool blind;          /* the word fits whatever is there */
};

/* Build and flush the record that entry_edit will probably install. Has no effect on the map; never fails. */
void entry_prepare(struct core *core, unsigned db, const struct key *key, decide_fn decide, void *arg,
                   struct hint *hint);

/* Carry it out. hint may be NULL. 0, or -EAGAIN, -ENOSPC, -EBADMSG, -E2BIG; on error nothing has changed. */
int entry_edit(struct core *core, unsigned db, const struct key *key, decide_fn decide, void *arg, struct hint *hint);

/*
 * Walk a database in hash order. cursor 0 begins; returns the next cursor, 0 at the end. Calls visit for each live
 * entry of one or more buckets, about count of them. Every key that is present from start to end is met at least
 * once, whatever the table does meanwhile. Cursors are below 2^48. visit must not edit.
 */
typedef void (*visit_fn)(const struct slice *key, const struct entry *entry, void *arg);
uint64_t entry_scan(struct core *core, unsigned db, uint64_t cursor, unsigned count, visit_fn visit, void *arg);

/* Some present key, random; 0 or -ENOENT. The key's bytes point into the pool. */
int entry_random(struct core *core, unsigned db, uint64_t seed, struct slice *key);

/* Empty databases (bit set: that database), and swap two. Durable with the batch, O(1); space returns in tend. */
int databases_flush(struct core *core, uint32_t mask);
int databases_swap(struct core *core, unsigned a, unsigned b);

#endif
