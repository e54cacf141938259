/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the engine share: the engine, a core's side of it, and the rules of the commit protocol that
 * take a line or two (stamps, NON-DURABLE, DEPS, latches). docs/architecture.md has the protocol; its names are
 * used here.
 *
 * All that is here lives in DRAM and is gone after a crash; what recovery needs is in layout.h.
 */
#ifndef PMEM_ENGINE_INTERNAL_H
#define PMEM_ENGINE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pmem/engine.h"
#include "pmem/grace.h"
#include "pmem/layout.h"
#include "pmem/persist.h"
#include "pmem/pool.h"
#include "pmem/record.h"
#include "pmem/space.h"
#include "pmem/word.h"

#ifndef TABLES
#define TABLES 256u /* tables at a time, those being reaped included; a table's slot is its id % TABLES */
#endif
#ifndef DEPS_MAX
#define DEPS_MAX 1024u /* lines in DEPS before they are flushed early */
#endif
#ifndef PREPARED_MAX
#define PREPARED_MAX 1024u /* records prepared in a batch; commands beyond it build theirs when they are executed */
#endif
#ifndef LATCHES
#define LATCHES 65536u
#endif

static_assert((MAX_CORES & (MAX_CORES - 1)) == 0, "a stamp's core is masked before it indexes");
static_assert(PAGE_STASHES <= 64, "a page's stash lines are bits of one word");

/* ---- DRAM beside the pool ---- */

/* Beside each table page: pages[offset / PAGE_SIZE_TABLE]. */
struct page_state {
    _Atomic uint64_t stash;    /* bit: that stash line is in a chain, or about to be */
    uint64_t token;            /* in a limbo: its grace period */
    uint32_t next;             /* in a queue: number of the page behind it, 0 = none */
    uint32_t owner;            /* in a queue of splits: id of the table */
    uint32_t count;            /* in a limbo: pages that are freed together */
    _Atomic uint8_t splitting; /* claimed by the core that splits it */
    _Atomic uint8_t filling;   /* a split fills it: its free stash lines belong to the split */
    _Atomic uint8_t outlook;   /* enum split_outlook: what became of the last try to split it */
    bool met;                  /* by the walk of recovery */
};

/* Pages in line, linked through page_state.next. One core's. */
struct page_queue {
    uint32_t first, last;
};

/* Beside each table. */
struct table {
    _Alignas(LINE_SIZE) _Atomic uint32_t id; /* 0 = this slot is free */
    _Atomic uint32_t splits;                 /* pages of it in some core's split queue */
    atomic_bool growing;                     /* GROWTH LOCK: directory entries and doubling */
    /* Once the database was emptied: */
    _Atomic uint32_t reaper; /* core + 1 of the core that gives the table back; set after `reaped` */
    struct root reaped;      /* the root that it had */
    uint64_t token, entry;   /* grace period; directory entry that comes next ... */
    unsigned home;           /* ... and home in its page */
};

struct engine {
    struct pool *pool;
    struct space *space;
    struct grace grace;
    struct page_state *pages;
    uint8_t *latch; /* [LATCHES] */
    unsigned cores;
    struct core *core[MAX_CORES];
    struct table table[TABLES];
    _Atomic uint64_t roots_stamp; /* of the last change of ROOTS, set before its CAS */
    _Atomic uint64_t stamp_limit; /* batch numbers below it are reserved */
    atomic_bool reserving;
    uint64_t open_us, walked_keys, damaged; /* recovery */
    struct {
        _Alignas(LINE_SIZE) _Atomic uint64_t batch;
    } durable[MAX_CORES]; /* the last batch of that core whose FENCE 2 is over */
};

/* DEPS: the lines that this batch's replies depend on. */
struct deps {
    uint32_t used;
    uint64_t line[DEPS_MAX];
    uint16_t slot[2 * DEPS_MAX]; /* hash set of 1 + index into line[] */
};

struct prepared {
    uint64_t offset; /* 0 = used or abandoned */
    uint32_t size;
};

enum split_phase { SPLIT_IDLE, SPLIT_FILL, SPLIT_SETTLE, SPLIT_LOCK, SPLIT_DOUBLE, SPLIT_ENTRIES };

/* The page that a core is splitting now; more of them wait in its queue. */
struct split {
    enum split_phase phase;
    const struct page *page, *child[2];
    struct table *table;
    uint32_t id, depth;
    uint64_t prefix;
    unsigned next_home;  /* FILL: homes below it are MOVED */
    uint64_t commits;    /* SETTLE: goes on when the core has committed more often */
    struct root root;    /* DOUBLE: the root that is replaced */
    uint64_t directory;  /* DOUBLE: the new one */
    uint64_t next_entry; /* DOUBLE, ENTRIES */
};

/* The segment that a core is compacting. */
struct compaction {
    int64_t segment; /* -1 = none */
    uint64_t offset; /* of the record that comes next */
    bool held;       /* a split had some record's word in hand: that one can be moved another time */
};

struct tally {
    int64_t keys, expiring;
};

struct core {
    _Alignas(LINE_SIZE) struct engine *engine;
    const uint8_t *base;                  /* of the pool */
    const uint64_t *roots_word;           /* in the pool */
    uint64_t roots_seen;                  /* the last value of it that was checked ... */
    const struct roots *roots;            /* ... and what it names */
    uint64_t settled_word, settled_stamp; /* the last change of ROOTS that this core flushed before a CAS */
    uint64_t stamp;                       /* of the present batch */
    uint64_t now_ms;
    uint64_t commits; /* FENCE 2s, and batches that needed none */
    unsigned index;
    bool online, stamped;    /* stamped: the present batch number is in use */
    bool unfenced;           /* records were prepared since the last fence */
    uint64_t tail, tail_end; /* prepared records end here; [tail, tail_end) is not flushed yet */
    uint64_t prepare_roots;  /* the ROOTS word that this batch's hints were made under */
    uint32_t prepared_used;
    struct persist_counts began;
    struct core_counts counts;
    uint64_t compacted_bytes, splits_done, crc_errors;

    struct split split;
    struct page_queue splits, limbo; /* pages to split; pages to free after grace */
    struct compaction compaction;
    unsigned reaping;                  /* tables that this core reaps */
    uint64_t expire_cursor, expire_ms; /* background expiry: where, and the last millisecond */
    unsigned expire_db;

    struct tally tally[TABLES];
    struct prepared prepared[PREPARED_MAX];
    struct deps deps;
};

/* ---- counters: one writer, read by any thread ---- */

static inline void
count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void
tally(struct core *core, uint32_t table_id, int64_t keys, int64_t expiring)
{
    struct tally *t = &core->tally[table_id % TABLES];
    __atomic_store_n(&t->keys, t->keys + keys, __ATOMIC_RELAXED);
    __atomic_store_n(&t->expiring, t->expiring + expiring, __ATOMIC_RELAXED);
}

/* ---- stamps ---- */

#define STAMP_BATCH_MASK ((1ull << STAMP_BATCH_BITS) - 1)

/* The stamp of what this core publishes now. */
static inline uint64_t
core_stamp(struct core *core)
{
    core->stamped = true;
    return core->stamp;
}

/* NON-DURABLE */
static inline bool
non_durable(const struct engine *engine, uint64_t stamp)
{
    unsigned core = stamp >> STAMP_BATCH_BITS & (MAX_CORES - 1);
    return atomic_load_explicit(&engine->durable[core].batch, memory_order_acquire) < (stamp & STAMP_BATCH_MASK);
}

/* ---- DEPS ---- */

void depend_slow(struct core *core, uint64_t line);

/* DEPS += the line of p */
static inline void
depend(struct core *core, const void *p)
{
    uint64_t line = (uint64_t)((const uint8_t *)p - core->base) / LINE_SIZE;
    struct deps *deps = &core->deps;
    if (deps->used == 0 || deps->line[deps->used - 1] != line)
        depend_slow(core, line);
}

/* FENCE 2 for what no batch has committed: what batch_tend itself left, before others may rely on it. */
void commit_lines(struct core *core);

/* ---- latches ---- */

/* Try-latch of a bucket; never waits. Different buckets may share one, so a core that holds some may fail by itself. */
static inline uint8_t *
latch_of(const struct engine *engine, const void *bucket)
{
    uint64_t line = pool_offset(engine->pool, bucket) / LINE_SIZE;
    return &engine->latch[line * 0x9e3779b97f4a7c15ull >> 48 & (LATCHES - 1)];
}

static inline bool
latch_try(const struct engine *engine, const void *bucket)
{
    persist_yield();
    return __atomic_exchange_n(latch_of(engine, bucket), 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void
latch_release(const struct engine *engine, const void *bucket)
{
    __atomic_store_n(latch_of(engine, bucket), 0, __ATOMIC_RELEASE);
    persist_yield();
}

/* ---- pages ---- */

static inline uint32_t
page_number(const struct engine *engine, const void *page)
{
    return (uint32_t)(pool_offset(engine->pool, page) / PAGE_SIZE_TABLE);
}

static inline struct page_state *
page_state(const struct engine *engine, const void *page)
{
    return &engine->pages[page_number(engine, page)];
}

static inline const struct page *
page_at(const struct engine *engine, uint64_t offset)
{
    return pool_at(engine->pool, offset);
}

/* Pages that a directory of this depth takes. */
static inline unsigned
directory_pages(uint32_t depth)
{
    return (unsigned)(((sizeof(uint64_t) << depth) + PAGE_SIZE_TABLE - 1) / PAGE_SIZE_TABLE);
}

void page_queue_push(struct engine *engine, struct page_queue *queue, uint32_t number);
uint32_t page_queue_pop(struct engine *engine, struct page_queue *queue); /* 0 = empty */

/* Free count pages at offset once nobody can be looking at them. */
void limbo_add(struct core *core, uint64_t offset, uint32_t pages);
bool limbo_tend(struct core *core);

/* What to answer when there was no room: -EAGAIN while space can still be won back, else -ENOSPC. */
int no_room(struct core *core);

/* ---- the steps of batch_tend: each a bounded slice, true if there is more to do soon ---- */

bool split_tend(struct core *core);
bool reap_tend(struct core *core);
bool compact_tend(struct core *core);
bool expire_tend(struct core *core);

/* ---- open ---- */

/*
 * Open the engine on a pool that is mapped and has a checked superblock (pool_open, or the crash simulator). The pool
 * stays the caller's until engine_detach, which forgets the engine's DRAM and stores nothing.
 */
struct engine *engine_attach(struct pool *pool, unsigned cores, char *error, size_t error_size);
void engine_detach(struct engine *engine);

/* Recovery: learn from the trees what is in use; nothing else runs yet. 0, or -errno with one sentence in error. */
int recover(struct engine *engine, char *error, size_t error_size);

#endif
