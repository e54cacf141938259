/* SPDX-License-Identifier: BSD-3-Clause */
/* Boots, the schedule, and the look at the crash images. */
#include "tests/crash/world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmem/engine_internal.h"
#include "pmem/superblock.h"
#include "pmem/table.h"
#include "tests/crash/keys.h"
#include "tests/crash/world_internal.h"

#define STEPS_MAX    400000u /* persist calls in a boot after which it counts as stuck */
#define IMAGES_ROOM  (1u << 16)
#define IMAGES_MAX   (IMAGES_ROOM / 2)
#define KILLED       150u /* per mille of the boots: the process is killed in it */
#define KILLED_BY    400u /* persist calls, at most, until then */
#define KILLED_EARLY 40u  /* the same, to meet the start of a process */

const char *const rule_names[RULES] = {"reply", "quiescent", "grace", "stamps", "latch", "absent"};
enum rule rule_removed = RULES;

static struct world world;

void
world_violation(struct world *w, const char *format, ...)
{
    va_list arguments;
    if (w->outcome->violated)
        return;
    w->outcome->violated = true;
    w->outcome->operations = 0;
    for (unsigned i = 0; i < w->history.used; i++)
        w->outcome->operations += w->history.operation[i].progress != NOT_YET;
    va_start(arguments, format);
    vsnprintf(w->outcome->what, sizeof(w->outcome->what), format, arguments);
    va_end(arguments);
}

/* ---- rules taken away from outside ---- */

bool __real_grace_over(struct grace *grace, uint64_t token);
bool __wrap_grace_over(struct grace *grace, uint64_t token);
int __real_chain_absent(struct core *core, const struct place *at);
int __wrap_chain_absent(struct core *core, const struct place *at);

bool
__wrap_grace_over(struct grace *grace, uint64_t token)
{
    return rule_removed == RULE_GRACE || __real_grace_over(grace, token);
}

int
__wrap_chain_absent(struct core *core, const struct place *at)
{
    return rule_removed == RULE_ABSENT ? -ENOENT : __real_chain_absent(core, at);
}

static void
remove_rules_at_start(struct world *w)
{
    struct engine *engine = w->machine.engine;
    for (unsigned i = 0; rule_removed == RULE_STAMPS && i < engine->cores; i++)
        engine->core[i]->stamp = (uint64_t)i << STAMP_BATCH_BITS | 1;
}

/* ---- images ---- */

/* The index of the state among those met in this boot. */
static uint32_t
state_index(struct world *w, const struct state *state)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < NAMES; i++)
        for (unsigned db = 0; db < DBS; db++)
            hash = mix64(hash + (uint64_t)state->cell[i].number[db]);
    for (uint32_t i = w->states; i-- > 0;)
        if (w->state[i].hash == hash && memcmp(&w->state[i].state, state, sizeof(*state)) == 0)
            return i;
    if (w->states == w->states_room) {
        w->states_room = w->states_room ? 2 * w->states_room : 256;
        w->state = realloc(w->state, w->states_room * sizeof(*w->state));
        if (!w->state)
            abort();
    }
    w->state[w->states] = (struct seen_state){.state = *state, .hash = hash, .explained_at = UINT64_MAX};
    return w->states++;
}

static void
check_explained(struct world *w, uint32_t index)
{
    struct seen_state *seen = &w->state[index];
    unsigned name;
    if (seen->explained_at == w->history.version)
        return;
    seen->explained_at = w->history.version;
    if (history_explains(&w->history, &seen->state, &name))
        return;
    world_violation(w, "not linearizable: k%u is %#llx, %#llx after the crash", name,
                    (unsigned long long)seen->state.cell[name].number[0],
                    (unsigned long long)seen->state.cell[name].number[1]);
}

static struct seen_image *
image_slot(struct world *w, uint64_t hash)
{
    uint64_t i = hash % IMAGES_ROOM;
    while (w->image[i].hash && w->image[i].hash != hash)
        i = (i + 1) % IMAGES_ROOM;
    return &w->image[i];
}

/* An image that was not met before in this boot. */
static void
look_at_image(struct world *w, const struct memory *memory, const struct patch *patch, uint64_t hash)
{
    struct state state;
    unsigned draw = random_below(&w->image_random, 64);
    enum recovery_depth depth = draw == 0 ? RECOVER_INTERRUPTED : draw < 5 ? RECOVER_TWICE : RECOVER_ONCE;
    patch_apply(memory, patch, w->recovery.image);
    w->outcome->images++;
    w->met(hash);
    if (!recovery_check(&w->recovery, depth, &state)) {
        world_violation(w, "%s", w->recovery.problem);
        return;
    }
    uint32_t index = state_index(w, &state);
    *image_slot(w, hash) = (struct seen_image){hash, index};
    w->images++;
    check_explained(w, index);
    if (random_next(&w->image_random) % w->images < 2) {
        memcpy(w->chosen, w->recovery.image, memory->size);
        w->chosen_state = state;
    }
}

static void
at_image(const struct memory *memory, const struct patch *patch, uint64_t hash, void *arg)
{
    struct world *w = arg;
    hash += hash == 0;
    if (w->outcome->violated)
        return;
    struct seen_image *seen = image_slot(w, hash);
    if (seen->hash)
        check_explained(w, seen->state);
    else if (w->images < IMAGES_MAX)
        look_at_image(w, memory, patch, hash);
    if (w->outcome->violated && persist_trace)
        patch_print(memory, patch, persist_trace);
}
void
world_look(struct world *w)
{
    if (w->quiet || w->outcome->violated ||
        (w->memory->version == w->seen_memory && w->history.version == w->seen_history))
        return;
    w->seen_memory = w->memory->version;
    w->seen_history = w->history.version;
    images_make(w->memory, &w->plan.images, &w->image_random, at_image, w);
}

/* ---- what persist calls tell ---- */

static void
before(void *arg)
{
    struct world *w = arg;
    if (++w->steps > STEPS_MAX)
        world_violation(w, "stuck: no end after %u steps", STEPS_MAX);
    if (w->quiet || !fiber_inside())
        return;
    if (rule_removed == RULE_LATCH)
        memset(w->machine.engine->latch, 0, LATCHES);
    while (w->steps >= w->kill_at)
        fiber_pause(); /* for ever */
    unsigned chance = w->effect ? w->plan.after_effect : w->plan.switching;
    w->effect = false;
    while (w->outcome->violated || random_chance(&w->random, chance)) {
        fiber_pause();
        if (!w->outcome->violated)
            return;
    }
}

static void
ordered(void *arg)
{
    world_look(arg);
}

static void
stored(void *arg)
{
    struct world *w = arg;
    w->effect = true;
}

/* ---- a boot ---- */

static void
draw_operations(struct world *w)
{
    unsigned positions[SIM_CORES] = {0};
    for (unsigned i = 0; i < w->plan.operations; i++) {
        struct operation *op = &w->history.operation[w->history.used++];
        w->next_number += NUMBER_STEP;
        plan_operation(&w->plan, &w->random, op, w->next_number);
        op->core = random_chance(&w->random, w->plan.busy) ? 0 : random_below(&w->random, w->plan.cores);
        op->connection = random_below(&w->random, CONNECTIONS);
        op->position = positions[op->core]++;
        if (op->command >= FLUSH && w->history.used > 6)
            op->command = GET; /* each multiplies the oracle's work */
    }
}

/* Interleave the cores: each runs for a while, then sleeps, so that the others may get far. False: killed. */
static bool
schedule(struct world *w)
{
    static const unsigned sleeps[] = {0, 50, 250};
    unsigned running = w->plan.cores;
    while (running && !w->outcome->violated) {
        if (w->steps >= w->kill_at)
            return false;
        struct client *client = &w->client[random_below(&w->random, w->plan.cores)];
        bool other_awake = false;
        for (unsigned i = 0; i < w->plan.cores; i++)
            other_awake |= !w->client[i].fiber.done && w->client[i].awake_at <= w->steps;
        if (client->fiber.done || (other_awake && client->awake_at > w->steps))
            continue;
        persist_listener.core = client->index;
        fiber_resume(&client->fiber);
        client->awake_at = w->steps + sleeps[random_below(&w->random, 3)];
        running -= client->fiber.done;
    }
    return true;
}

/* Until all is done. False: the process was killed; its fibers stand in the engine, and are not resumed. */
static bool
run_cores(struct world *w)
{
    w->working = w->plan.cores;
    for (unsigned i = 0; i < w->plan.cores; i++) {
        struct client *client = &w->client[i];
        client->world = w;
        client->index = i;
        client->core = engine_core(w->machine.engine, i);
        client->awake_at = 0;
        client->random.state = random_next(&w->random);
        core_online(client->core);
        fiber_make(&client->fiber, client_run, client);
    }
    bool finished = schedule(w);
    persist_listener.core = 0;
    return finished;
}

/* Open the pool (in a fiber, so that this can be killed too). */
static void
start(void *arg)
{
    struct world *w = arg;
    char error[256];
    w->started = machine_start(&w->machine, w->memory, w->plan.cores, error, sizeof(error));
    if (w->started)
        remove_rules_at_start(w);
    else
        world_violation(w, "%s", error);
}

/* The life of one process. False: it was killed. */
static bool
run_process(struct world *w)
{
    w->started = false;
    persist_listener.core = 0;
    fiber_make(&w->starter, start, w);
    while (!w->starter.done && !w->outcome->violated) {
        if (w->steps >= w->kill_at)
            return false;
        fiber_resume(&w->starter);
    }
    return w->outcome->violated || run_cores(w);
}

/* kill -9 without a power cut: the caches keep what was stored, but nobody flushes it unless the next process does. */
static void
kill_process(struct world *w)
{
    w->kill_at = random_chance(&w->random, KILLED) ? w->steps + random_below(&w->random, KILLED_BY) : UINT64_MAX;
    history_kill(&w->history);
    memory_forget_flushes(w->memory);
    if (w->started)
        machine_stop(&w->machine); /* else what its start has allocated is lost */
    if (persist_trace)
        fprintf(persist_trace, "    killed\n");
}

static void
forget_images(struct world *w)
{
    memset(w->image, 0, IMAGES_ROOM * sizeof(*w->image));
    w->images = 0;
    w->states = 0;
    w->seen_memory = w->seen_history = UINT64_MAX;
}

static void
count_effort(struct world *w)
{
    struct engine_info info;
    engine_info(w->machine.engine, &info);
    w->outcome->compacted += info.compacted_bytes;
    w->outcome->splits += info.splits;
    w->outcome->steps += w->steps;
}

/* From the chosen image to a crash, or an orderly close. */
static void
boot(struct world *w, bool last)
{
    memory_fill(w->memory, w->chosen, true);
    w->memory->traced = true;
    if (persist_trace)
        fprintf(persist_trace, "    boot\n");
    forget_images(w);
    history_start(&w->history, &w->chosen_state);
    w->steps = 0;
    w->kill_at = random_chance(&w->random, KILLED) ? random_below(&w->random, KILLED_BY) : UINT64_MAX;
    if (random_chance(&w->random, KILLED))
        w->kill_at = random_below(&w->random, KILLED_EARLY);
    persist_listener = (struct persist_listener){.before = before, .ordered = ordered, .stored = stored, .arg = w};
    draw_operations(w);
    while (!run_process(w))
        kill_process(w);
    if (w->outcome->violated)
        return; /* the engine is left as it is: fibers stand in it */
    if (!memory_shadow_agrees(w->memory))
        world_violation(w, "the memory is not what the persist calls made it");
    count_effort(w);
    machine_stop(&w->machine);
    if (last && w->plan.orderly) {
        superblock_close(&w->machine.pool);
        world_look(w);
    }
}

/* ---- a pool to begin with ---- */

static void
prefill(struct world *w)
{
    char error[256];
    struct reached reached;
    memset(w->chosen, 0xdb, w->memory->size);
    memory_fill(w->memory, w->chosen, false);
    w->memory->traced = false;
    persist_listener = (struct persist_listener){.memory = w->memory, .before = before, .arg = w};
    w->quiet = true;
    w->steps = 0;
    superblock_format(w->memory->view, w->memory->size, (const uint8_t *)HASH_KEY, (const uint8_t *)HASH_KEY, 1);
    if (!machine_start(&w->machine, w->memory, 1, error, sizeof(error)))
        abort();
    client_prefill(w, engine_core(w->machine.engine, 0));
    core_offline(engine_core(w->machine.engine, 0));
    machine_stop(&w->machine);
    w->quiet = false;
    memcpy(w->chosen, w->memory->view, w->memory->size);
    if (!walk_image(w->chosen, w->memory->size, &reached))
        world_violation(w, "after the prefill: %s", reached.problem);
    w->chosen_state = reached.state;
}

static void
make_room(struct world *w)
{
    uint64_t size = (uint64_t)w->plan.segments * SEGMENT_SIZE;
    static struct memory *memories[WALK_SEGMENTS];
    static struct recovery recoveries[WALK_SEGMENTS];
    if (!memories[w->plan.segments])
        memories[w->plan.segments] = memory_new(size);
    w->memory = memories[w->plan.segments];
    recovery_init(&recoveries[w->plan.segments], size, random_next(&w->image_random));
    w->recovery = recoveries[w->plan.segments];
    w->recovery.nested_images = 0;
    if (!w->image)
        w->image = calloc(IMAGES_ROOM, sizeof(*w->image));
    if (!w->chosen)
        w->chosen = malloc((uint64_t)WALK_SEGMENTS * SEGMENT_SIZE);
    if (!w->image || !w->chosen)
        abort();
}

void
world_run(uint64_t seed, enum theme theme, void (*met)(uint64_t hash), struct outcome *outcome)
{
    struct world *w = &world;
    memset(outcome, 0, sizeof(*outcome));
    w->outcome = outcome;
    w->met = met;
    w->random.state = mix64(seed);
    w->image_random.state = mix64(seed + 0x1234567);
    w->next_number = 1000;
    plan_draw(&w->plan, &w->random, theme);
    outcome->theme = w->plan.theme;
    make_room(w);
    prefill(w);
    for (unsigned i = 0; i < w->plan.boots && !outcome->violated; i++)
        boot(w, i + 1 == w->plan.boots);
    outcome->nested_images = w->recovery.nested_images;
    persist_listener = (struct persist_listener){0};
}

void
world_print(FILE *file)
{
    char text[200];
    for (unsigned i = 0; i < world.history.used; i++) {
        if (world.history.operation[i].progress == NOT_YET)
            continue;
        operation_print(&world.history.operation[i], text, sizeof(text));
        fprintf(file, "    %s\n", text);
    }
}
