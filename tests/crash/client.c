/* SPDX-License-Identifier: BSD-3-Clause */
/* What a core does: batches of operations, as the data plane runs them. */
#include <errno.h>
#include <string.h>

#include "pmem/engine_internal.h"
#include "tests/crash/keys.h"
#include "tests/crash/world_internal.h"

#define BATCH_MAX  8u
#define IDLE_TURNS 24u /* empty batches when all are done, for what tend has begun */

/* One operation in a batch. */
struct call {
    struct operation *op;
    struct key key;
    struct hint hint;
    int64_t result;
    bool garbage; /* met a value that nobody wrote */
    struct entry entry;
    uint8_t value[VALUE_MAX];
};

static bool
over(const struct client *client)
{
    return client->world->outcome->violated;
}

/* ---- commands ---- */

static void
put(struct call *call, struct edit *edit, int64_t number, uint32_t length)
{
    value_make(number, call->value, length);
    edit->part[0] = (struct slice){call->value, length / 2};
    edit->part[1] = (struct slice){call->value + length / 2, length - length / 2};
    edit->parts = 2;
}

static enum verdict
decide(const struct entry *old, struct edit *edit, void *arg)
{
    struct call *call = arg;
    struct operation *op = call->op;
    int64_t number = old ? value_number(old->value, old->len) : 0;
    call->garbage |= number < 0;
    call->result = 1;
    switch (op->command) {
    case SET:
        put(call, edit, op->number, op->length);
        edit->expire_ms = op->number & EXPIRES ? EXPIRE_MS : 0;
        edit->blind = true;
        return ENTRY_PUT;
    case SETNX:
        call->result = !old;
        put(call, edit, op->number, op->length);
        edit->expire_ms = op->number & EXPIRES ? EXPIRE_MS : edit->expire_ms;
        return old ? ENTRY_KEEP : ENTRY_PUT;
    case INCR:
        call->result = number + 1;
        put(call, edit, number + 1, old && number > 0 ? old->len : op->length);
        return ENTRY_PUT;
    default:
        call->result = old != NULL;
        return old ? ENTRY_DELETE : ENTRY_KEEP;
    }
}

static int
read_value(struct client *client, struct call *call)
{
    int rc = entry_read(client->core, call->op->db, &call->key, &call->entry);
    call->result = 0;
    if (rc == 0)
        call->result = call->op->command == EXISTS ? 1 : value_number(call->entry.value, call->entry.len);
    call->garbage |= call->result < 0;
    return rc == -ENOENT ? 0 : rc;
}

static int
perform(struct client *client, struct call *call)
{
    switch (call->op->command) {
    case GET:
    case EXISTS:
        return read_value(client, call);
    case FLUSH:
        call->result = 1;
        return databases_flush(client->core, (uint32_t)call->op->number);
    case SWAP:
        call->result = 1;
        return databases_swap(client->core, 0, 1);
    default:
        return entry_edit(client->core, call->op->db, &call->key, decide, call, &call->hint);
    }
}

/* ---- a batch ---- */

/* The client's next operations; true if any is left. */
static bool
collect(struct client *client, struct call *call, unsigned *calls)
{
    struct world *world = client->world;
    const struct name *names = names_get();
    unsigned most = 1 + random_below(&client->random, world->plan.batch);
    *calls = 0;
    for (unsigned i = 0; i < world->history.used && *calls < most; i++) {
        struct operation *op = &world->history.operation[i];
        if (op->core != client->index || op->progress != NOT_YET)
            continue;
        struct call *c = &call[(*calls)++];
        *c = (struct call){.op = op};
        key_init(world->machine.engine, &c->key, names[op->name].text, names[op->name].len);
    }
    return *calls != 0;
}

static void
prepare(struct client *client, struct call *call, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        struct operation *op = call[i].op;
        bool writes = op->command >= SET && op->command <= INCR;
        if (writes && !random_chance(&client->random, 150))
            entry_prepare(client->core, op->db, &call[i].key, decide, &call[i], &call[i].hint);
        call[i].garbage = false; /* a hint may be made from anything */
    }
}

static void
trace(const struct operation *op, const char *what)
{
    char text[200];
    if (!persist_trace)
        return;
    operation_print(op, text, sizeof(text));
    fprintf(persist_trace, "    %s: %s\n", what, text);
}

static void
execute_one(struct client *client, struct call *call, bool *deferred)
{
    struct world *world = client->world;
    struct operation *op = call->op;
    history_begin(&world->history, op);
    trace(op, "begins");
    int rc = perform(client, call);
    op->result = call->result;
    if (over(client))
        return;
    if (rc == -EAGAIN) {
        history_defer(&world->history, op);
        *deferred = true;
    } else if (rc == -ENOSPC) {
        history_refuse(&world->history, op);
        world->outcome->refused++;
    } else {
        history_end(&world->history, op);
        if (rc != 0 || call->garbage)
            world_violation(world, "%s of k%u: %s", command_names[op->command], op->name,
                            rc ? strerror(-rc) : "a value that nobody wrote");
    }
}

/* A deferred operation holds back those behind it on its connection. */
static void
execute(struct client *client, struct call *call, unsigned calls)
{
    bool deferred[CONNECTIONS] = {false, false};
    for (unsigned i = 0; i < calls && !over(client); i++)
        if (!deferred[call[i].op->connection])
            execute_one(client, &call[i], &deferred[call[i].op->connection]);
}

static void
acknowledge(struct client *client, struct call *call, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++)
        if (call[i].op->progress == DONE) {
            history_acknowledge(&client->world->history, call[i].op);
            trace(call[i].op, "acknowledged");
        }
    world_look(client->world);
}

/* What was read stays as it was until tend. */
static void
check_values_read(struct client *client, const struct call *call, unsigned calls)
{
    for (unsigned i = 0; i < calls && !over(client); i++)
        if (call[i].op->command == GET && call[i].op->progress == ACKNOWLEDGED && call[i].result &&
            value_number(call[i].entry.value, call[i].entry.len) != call[i].result)
            world_violation(client->world, "the value that GET k%u found changed before tend", call[i].op->name);
}

static void
batch(struct client *client, struct call *call, unsigned calls)
{
    struct world *world = client->world;
    bool late = random_chance(&client->random, world->plan.late);
    world->history.late_seen |= late;
    for (unsigned i = 0; i < calls; i++)
        call[i].op->late = late;
    batch_begin(client->core, late ? LATE_MS : EARLY_MS);
    prepare(client, call, calls);
    batch_prepared(client->core);
    execute(client, call, calls);
    if (rule_removed == RULE_QUIESCENT)
        grace_quiescent(&world->machine.engine->grace, client->index);
    if (rule_removed == RULE_REPLY)
        acknowledge(client, call, calls);
    batch_commit(client->core);
    acknowledge(client, call, calls);
    check_values_read(client, call, calls);
}

/* A core without commands goes on to tend; between turns that have nothing to do it sleeps. */
static void
idle(struct client *client)
{
    bool more = true;
    for (unsigned i = 0; !over(client) && (client->world->working || (more && i < IDLE_TURNS)); i++) {
        batch(client, NULL, 0);
        more = batch_tend(client->core);
        if (!more)
            core_offline(client->core);
        fiber_pause();
    }
}

void
client_run(void *arg)
{
    struct client *client = arg;
    struct call call[BATCH_MAX];
    unsigned calls;
    while (!over(client) && collect(client, call, &calls)) {
        batch(client, call, calls);
        batch_tend(client->core);
    }
    client->world->working--;
    idle(client);
    core_offline(client->core);
    world_look(client->world);
}

/* ---- what is there at the start ---- */

static void
prefill_one(struct world *world, struct core *core, struct operation *op, enum command command)
{
    struct client client = {.world = world, .core = core};
    struct call call = {.op = op};
    const struct name *name = &names_get()[op->name];
    key_init(world->machine.engine, &call.key, name->text, name->len);
    op->command = command;
    for (int rc = -EAGAIN; rc == -EAGAIN;) {
        batch_begin(core, EARLY_MS);
        batch_prepared(core);
        rc = perform(&client, &call);
        batch_commit(core);
        batch_tend(core);
    }
}

void
client_prefill(struct world *world, struct core *core)
{
    struct plan *plan = &world->plan;
    unsigned rounds = plan->theme == THEME_SPACE ? 1 + random_below(&world->random, 3) : 1;
    for (unsigned i = 0; i < plan->prefills * rounds; i++) {
        struct operation op;
        world->next_number += NUMBER_STEP;
        plan_operation(plan, &world->random, &op, world->next_number);
        op.number = world->next_number | (op.number & EXPIRES);
        op.name = plan->prefill[i % plan->prefills];
        prefill_one(world, core, &op, SET);
        if (i < plan->prefill_deleted)
            prefill_one(world, core, &op, DEL);
    }
}
