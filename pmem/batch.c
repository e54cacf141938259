/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch: its number, its two fences, DEPS, and the records that were prepared in vain. */
#include "pmem/engine_internal.h"

#include <errno.h>

/* ---- stamps ---- */

static void
stamps_reserve(struct core *core)
{
    struct engine *engine = core->engine;
    uint64_t batch = core->stamp & STAMP_BATCH_MASK;
    do {
        if (!atomic_exchange(&engine->reserving, true)) {
            if (batch + STAMP_RESERVE / 2 >= atomic_load(&engine->stamp_limit))
                atomic_store(&engine->stamp_limit, pool_reserve_stamps(engine->pool));
            atomic_store(&engine->reserving, false);
        }
        persist_yield();
    } while (batch >= atomic_load(&engine->stamp_limit)); /* half a reserve early, so never in practice */
}

/* A batch number that is in use was made durable by now: later stamps belong to the next. */
static void
stamp_advance(struct core *core)
{
    atomic_store_explicit(&core->engine->durable[core->index].batch, core->stamp & STAMP_BATCH_MASK,
                          memory_order_release);
    core->stamp++;
    core->stamped = false;
    if ((core->stamp & STAMP_BATCH_MASK) + STAMP_RESERVE / 2 >=
        atomic_load_explicit(&core->engine->stamp_limit, memory_order_relaxed))
        stamps_reserve(core);
}

/* ---- DEPS ---- */

static uint32_t
deps_hash(uint64_t line)
{
    return (uint32_t)(line * 0x9e3779b97f4a7c15ull >> 32) % (2 * DEPS_MAX);
}

static void
deps_flush(struct core *core)
{
    struct deps *deps = &core->deps;
    for (uint32_t i = 0; i < deps->used; i++) {
        persist_flush(core->base + deps->line[i] * LINE_SIZE, LINE_SIZE, SITE_FLUSH_DEPS);
        for (uint32_t h = deps_hash(deps->line[i]); deps->slot[h]; h = (h + 1) % (2 * DEPS_MAX))
            deps->slot[h] = 0;
    }
    deps->used = 0;
}

void
depend_slow(struct core *core, uint64_t line)
{
    struct deps *deps = &core->deps;
    if (deps->used == DEPS_MAX)
        deps_flush(core); /* what they hold by now; a later change of theirs adds them again. The fence is still due */
    uint32_t h = deps_hash(line);
    for (; deps->slot[h]; h = (h + 1) % (2 * DEPS_MAX)) {
        if (deps->line[deps->slot[h] - 1] == line)
            return;
    }
    deps->line[deps->used++] = line;
    deps->slot[h] = (uint16_t)deps->used;
}

void
commit_lines(struct core *core)
{
    if (core->deps.used) {
        deps_flush(core);
        persist_fence(SITE_FENCE_COMMIT);
    }
    if (core->stamped)
        stamp_advance(core);
    core->commits++;
}

/* ---- the batch ---- */

int
no_room(struct core *core)
{
    if (!space_hopeful(core->engine->space))
        return -ENOSPC;
    count(&core->counts.deferred, 1);
    return -EAGAIN;
}

static void
effort_begin(struct core *core)
{
    core->began = persist_counts();
}

static void
effort_end(struct core *core)
{
    struct persist_counts now = persist_counts();
    count(&core->counts.flushed_lines, now.lines - core->began.lines);
    count(&core->counts.fences, now.fences - core->began.fences);
    core->began = now;
}

void
batch_begin(struct core *core, uint64_t now_ms)
{
    if (!core->online)
        core_online(core);
    effort_begin(core);
    core->now_ms = now_ms;
    core->prepare_roots = word_load(core->roots_word);
}

void
batch_prepared(struct core *core)
{
    if (core->tail != core->tail_end)
        persist_flush(core->base + core->tail, core->tail_end - core->tail, SITE_FLUSH_RECORD);
    core->tail = core->tail_end;
    if (core->unfenced)
        persist_fence(SITE_FENCE_PREPARE);
    core->unfenced = false;
}

/* A hint does not outlive its batch: its record carries this batch's stamp. */
static void
abandon_prepared(struct core *core)
{
    for (uint32_t i = 0; i < core->prepared_used; i++) {
        if (core->prepared[i].offset)
            space_dead(core->engine->space, core->prepared[i].offset, core->prepared[i].size);
    }
    core->prepared_used = 0;
}

void
batch_commit(struct core *core)
{
    if (core->unfenced)
        batch_prepared(core); /* also what was prepared in vain: compaction reads a segment front to back */
    count(&core->counts.batches, 1);
    commit_lines(core);
    abandon_prepared(core);
    core->tail = core->tail_end = 0;
    effort_end(core);
}

bool
batch_tend(struct core *core)
{
    if (!core->online)
        core_online(core);
    effort_begin(core);
    /*
     * Quiescent first: all that this core displaced before is durable by now. What the slices below displace is made
     * so by the next batch's FENCE 2, before the next report.
     */
    if (core->deps.used || core->stamped)
        commit_lines(core);
    grace_quiescent(&core->engine->grace, core->index);
    bool more = split_tend(core);
    more |= reap_tend(core);
    more |= limbo_tend(core);
    more |= compact_tend(core);
    more |= expire_tend(core);
    more |= space_tend(core->engine->space, core->index);
    effort_end(core);
    return more;
}

void
core_offline(struct core *core)
{
    commit_lines(core);
    if (core->online)
        grace_offline(&core->engine->grace, core->index);
    core->online = false;
}

void
core_online(struct core *core)
{
    if (!core->online)
        grace_online(&core->engine->grace, core->index);
    core->online = true;
}

void
core_counts(const struct core *core, struct core_counts *counts)
{
    const uint64_t *from = (const uint64_t *)(const void *)&core->counts;
    uint64_t *to = (uint64_t *)(void *)counts;
    for (size_t i = 0; i < sizeof(*counts) / sizeof(*to); i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
