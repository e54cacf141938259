/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovery of crash images, of interrupted recoveries too. */
#include "tests/crash/recovery.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/engine_internal.h"
#include "pmem/superblock.h"
#include "tests/crash/keys.h"

bool
machine_start(struct machine *machine, struct memory *memory, unsigned cores, char *error, size_t error_size)
{
    memset(machine, 0, sizeof(*machine));
    persist_listener.memory = memory;
    persist_listener.core = 0;
    machine->pool.base = memory->view;
    machine->pool.size = memory->size;
    machine->pool.lock_fd = -1;
    if (superblock_open(&machine->pool, error, error_size) != 0)
        return false;
    machine->engine = engine_attach(&machine->pool, cores, error, error_size);
    return machine->engine != NULL;
}

void
machine_stop(struct machine *machine)
{
    engine_detach(machine->engine);
}

void
recovery_init(struct recovery *recovery, uint64_t size, uint64_t seed)
{
    recovery->random.state = seed;
    if (recovery->scratch)
        return;
    recovery->scratch = memory_new(size);
    recovery->nested = memory_new(size);
    recovery->image = malloc(size);
    recovery->nested_image = malloc(size);
    if (!recovery->image || !recovery->nested_image)
        abort();
}

static bool __attribute__((format(printf, 2, 3))) problem(struct recovery *recovery, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(recovery->problem, sizeof(recovery->problem), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- what the recovered engine says ---- */

struct tour {
    unsigned db;
    struct state met;
    unsigned strangers, doubles;
};

static void
visit(const struct slice *key, const struct entry *entry, void *arg)
{
    struct tour *tour = arg;
    unsigned name = name_find(key->data, key->len);
    if (name == NAMES) {
        tour->strangers++;
        return;
    }
    int64_t *number = &tour->met.cell[name].number[tour->db];
    tour->doubles += *number != 0;
    *number = value_number(entry->value, entry->len);
}

static bool
keys_agree(struct recovery *recovery, struct machine *machine, unsigned db, const struct reached *reached)
{
    const struct name *names = names_get();
    struct core *core = engine_core(machine->engine, 0);
    struct tour tour = {.db = db};
    uint64_t cursor = 0;
    do
        cursor = entry_scan(core, db, cursor, 1000, visit, &tour);
    while (cursor);
    if (tour.strangers || tour.doubles)
        return problem(recovery, "SCAN met %u unknown keys, %u keys twice", tour.strangers, tour.doubles);
    for (unsigned i = 0; i < NAMES; i++) {
        struct key key;
        struct entry entry;
        key_init(machine->engine, &key, names[i].text, names[i].len);
        int rc = entry_read(core, db, &key, &entry);
        int64_t wanted = reached->state.cell[i].number[db];
        int64_t got = rc == 0 ? value_number(entry.value, entry.len) : 0;
        if ((rc != 0 && rc != -ENOENT) || got != wanted)
            return problem(recovery, "GET k%u in db %u gives %lld (%d), the image has %lld", i, db, (long long)got, rc,
                           (long long)wanted);
        if (tour.met.cell[i].number[db] != wanted)
            return problem(recovery, "SCAN of db %u gives another k%u", db, i);
    }
    uint64_t keys = engine_keys(machine->engine, db, NULL);
    if (keys != reached->keys[db])
        return problem(recovery, "db %u counts %lu keys, the image has %lu", db, keys, reached->keys[db]);
    return true;
}

/* reachable + free = total */
static bool
space_agrees(struct recovery *recovery, struct machine *machine, const struct reached *reached)
{
    struct engine_info info;
    uint64_t free_segments = 0;
    engine_info(machine->engine, &info);
    for (uint64_t i = 1; i < machine->pool.segments; i++)
        free_segments += reached->kind[i] == SEGMENT_FREE;
    if (info.segments_free != free_segments || info.live_bytes != reached->live_bytes)
        return problem(recovery, "%lu segments free, %lu bytes live; the image has %lu and %lu", info.segments_free,
                       info.live_bytes, free_segments, reached->live_bytes);
    return true;
}

static bool
engine_agrees(struct recovery *recovery, struct machine *machine, const struct reached *reached)
{
    struct core *core = engine_core(machine->engine, 0);
    bool agrees = true;
    batch_begin(core, 0); /* nothing has expired */
    for (unsigned db = 0; agrees && db < DBS; db++)
        agrees = keys_agree(recovery, machine, db, reached);
    batch_commit(core);
    return agrees && space_agrees(recovery, machine, reached);
}

/* ---- again, and interrupted ---- */

static bool
recover_twice(struct recovery *recovery)
{
    struct memory *scratch = recovery->scratch;
    struct machine machine;
    char error[200];
    memcpy(recovery->nested_image, scratch->view, scratch->size);
    if (!machine_start(&machine, scratch, 1, error, sizeof(error)))
        return problem(recovery, "recovered once, but not again: %s", error);
    machine_stop(&machine);
    if (memcmp(recovery->nested_image + ROOTS_OFFSET, scratch->view + ROOTS_OFFSET, scratch->size - ROOTS_OFFSET) != 0)
        return problem(recovery, "recovered again, it is not what it was");
    return true;
}

struct interruption {
    struct recovery *recovery;
    const struct state *state; /* that every recovery must come to */
    bool agrees;
};

static void
recover_interrupted(const struct memory *memory, const struct patch *patch, uint64_t hash, void *arg)
{
    struct interruption *interruption = arg;
    struct recovery *recovery = interruption->recovery;
    struct reached reached;
    struct machine machine;
    char error[200];
    (void)hash;
    if (!interruption->agrees)
        return;
    recovery->nested_images++;
    patch_apply(memory, patch, recovery->nested_image);
    struct persist_listener saved = persist_listener;
    persist_listener = (struct persist_listener){0};
    memory_fill(recovery->nested, recovery->nested_image, false);
    if (!walk_image(recovery->nested_image, memory->size, &reached))
        interruption->agrees = problem(recovery, "after a crash in recovery: %s", reached.problem);
    else if (memcmp(&reached.state, interruption->state, sizeof(reached.state)) != 0)
        interruption->agrees = problem(recovery, "after a crash in recovery the keys are others");
    else if (!machine_start(&machine, recovery->nested, 1, error, sizeof(error)))
        interruption->agrees = problem(recovery, "after a crash in recovery: %s", error);
    else
        machine_stop(&machine);
    persist_listener = saved;
}

static void
at_order(void *arg)
{
    static const struct image_plan plan = {.exhaustive = 8, .seeded = 4, .limit = 6};
    struct interruption *interruption = arg;
    images_make(persist_listener.memory, &plan, &interruption->recovery->random, recover_interrupted, interruption);
}

/* ---- one image ---- */

bool
recovery_check(struct recovery *recovery, enum recovery_depth depth, struct state *state)
{
    struct memory *scratch = recovery->scratch;
    struct persist_listener saved = persist_listener;
    struct reached reached;
    struct machine machine;
    char error[200];
    if (!walk_image(recovery->image, scratch->size, &reached))
        return problem(recovery, "%s", reached.problem);
    *state = reached.state;
    struct interruption interruption = {recovery, state, true};
    persist_listener = (struct persist_listener){.arg = &interruption};
    if (depth == RECOVER_INTERRUPTED)
        persist_listener.ordered = at_order;
    memory_fill(scratch, recovery->image, depth == RECOVER_INTERRUPTED);
    bool agrees = machine_start(&machine, scratch, 1, error, sizeof(error));
    persist_listener.ordered = NULL;
    if (!agrees) {
        problem(recovery, "%s", error);
    } else {
        agrees = interruption.agrees && engine_agrees(recovery, &machine, &reached);
        machine_stop(&machine);
        if (agrees && depth == RECOVER_TWICE)
            agrees = recover_twice(recovery);
    }
    persist_listener = saved;
    return agrees;
}
