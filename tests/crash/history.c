/* SPDX-License-Identifier: BSD-3-Clause */
/* The history of one boot, and the oracle. */
#include "tests/crash/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crash/random.h"

#define SETTLE_FROM 12u        /* operations in a window from which it is tried to settle the oldest */
#define VISITED     (1u << 15) /* slots of the table of visited search states */

const char *const command_names[COMMANDS] = {"GET", "EXISTS", "SET", "SETNX", "INCR", "DEL", "FLUSH", "SWAP"};

/* ---- what the commands mean ---- */

static int64_t
perform(const struct operation *op, struct cell *cell)
{
    int64_t *number = &cell->number[op->db], before;
    if (op->command < FLUSH && op->late && *number & EXPIRES)
        *number = 0;
    switch (op->command) {
    case GET:
        return *number;
    case EXISTS:
        return *number != 0;
    case SET:
        *number = op->number;
        return 1;
    case SETNX:
        if (*number)
            return 0;
        *number = op->number;
        return 1;
    case INCR:
        return ++*number;
    case DEL:
        before = *number;
        *number = 0;
        return before != 0;
    case FLUSH:
        for (unsigned db = 0; db < DBS; db++)
            if (op->number >> db & 1)
                cell->number[db] = 0;
        return 1;
    case SWAP:
        before = cell->number[0];
        cell->number[0] = cell->number[1];
        cell->number[1] = before;
        return 1;
    default:
        abort();
    }
}

static bool
cells_equal(const struct cell *a, const struct cell *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- the search ---- */

/* One key's operations, with the moments that were chosen for those of all keys. */
struct search {
    const struct operation *of[64];
    uint64_t began[64], ended[64];
    bool must[64];
    unsigned used;
    uint64_t musts; /* bits of those that must be in */
    bool late;
    const struct cell *wanted; /* NULL: collect the ends in which all are in */
    struct cell *ends;
    unsigned ends_used;
};

struct visited {
    uint64_t left;
    struct cell cell;
    uint32_t run;
};
static struct visited visited[VISITED];
static uint32_t run;

/* True if it was there; a full table only makes the search longer. */
static bool
visit(uint64_t left, const struct cell *cell)
{
    uint64_t hash = mix64(left * 31 + (uint64_t)cell->number[0] * 0x9e3779b97f4a7c15ull + (uint64_t)cell->number[1]);
    for (unsigned probe = 0; probe < 16; probe++) {
        struct visited *v = &visited[(hash + probe) % VISITED];
        if (v->run != run) {
            *v = (struct visited){left, *cell, run};
            return false;
        }
        if (v->left == left && cells_equal(&v->cell, cell))
            return true;
    }
    return false;
}

static bool
arrived(struct search *s, uint64_t left, const struct cell *cell)
{
    if (left & s->musts)
        return false;
    if (s->wanted)
        return cells_equal(cell, s->wanted);
    for (unsigned i = 0; i < s->ends_used; i++)
        if (cells_equal(&s->ends[i], cell))
            return false;
    if (s->ends_used <= BASES)
        s->ends[s->ends_used++] = *cell;
    return false;
}

/* Those that ended before x began are lost if x comes next; false if one of them must not be. */
static bool
comes_next(const struct search *s, uint64_t left, unsigned x, uint64_t *after)
{
    *after = left & ~(1ull << x);
    for (uint64_t rest = *after; rest; rest &= rest - 1) {
        unsigned y = (unsigned)__builtin_ctzll(rest);
        if (s->ended[y] >= s->began[x])
            continue;
        if (s->must[y])
            return false;
        *after &= ~(1ull << y);
    }
    return true;
}

static bool
find(struct search *s, uint64_t left, struct cell cell)
{
    if (visit(left, &cell))
        return false;
    if (arrived(s, left, &cell))
        return true;
    for (unsigned db = 0; s->late && db < DBS; db++) { /* background expiry: at any time, or never */
        struct cell expired = cell;
        expired.number[db] = 0;
        if (cell.number[db] & EXPIRES && find(s, left, expired))
            return true;
    }
    for (uint64_t rest = left; rest; rest &= rest - 1) {
        unsigned x = (unsigned)__builtin_ctzll(rest);
        struct cell following = cell;
        uint64_t after;
        if (!comes_next(s, left, x, &after))
            continue;
        int64_t result = perform(s->of[x], &following);
        if (s->of[x]->progress == ACKNOWLEDGED && result != s->of[x]->result)
            continue;
        if (find(s, after, following))
            return true;
    }
    return false;
}

static bool
search_from(struct search *s, const struct cell *bases, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (++run == 0)
            memset(visited, 0, sizeof(visited));
        uint64_t all = s->used == 64 ? UINT64_MAX : (1ull << s->used) - 1;
        if (find(s, all, bases[i]))
            return true;
    }
    return false;
}

static void
search_add(struct search *s, const struct operation *op, uint64_t began, uint64_t ended, bool must)
{
    s->of[s->used] = op;
    s->began[s->used] = began;
    s->ended[s->used] = ended;
    s->must[s->used] = must;
    s->musts |= (uint64_t)must << s->used;
    s->used++;
}

/* ---- one key ---- */

/* Moments for the operations of all keys; 0 = lost. */
struct moments {
    uint64_t at[8];
};

static bool
key_explained(struct history *history, unsigned name, const struct cell *cell, const struct moments *moments)
{
    struct window *window = &history->window[name];
    for (unsigned i = 0; !history->wides && i < 8; i++)
        if (window->known[i].version == window->version && cells_equal(&window->known[i].cell, cell))
            return window->known[i].explained;
    struct search search = {.wanted = cell, .late = history->late_seen};
    for (unsigned i = 0; i < window->used; i++) {
        const struct operation *op = &history->operation[window->operation[i]];
        search_add(&search, op, op->began, op->ended, op->progress == ACKNOWLEDGED);
    }
    for (unsigned i = 0; i < history->wides && search.used < 64; i++)
        if (moments->at[i])
            search_add(&search, &history->operation[history->wide[i]], moments->at[i], moments->at[i], true);
    bool explained = search_from(&search, window->base, window->bases);
    window->known[window->next_known].cell = *cell;
    window->known[window->next_known].version = window->version;
    window->known[window->next_known].explained = explained;
    window->next_known = (window->next_known + 1) % 8;
    return explained;
}

/* Try the moments of operation i and those behind it. */
static bool
moments_explain(struct history *history, const struct state *state, unsigned i, struct moments *moments, unsigned *name)
{
    if (i == history->wides) {
        for (*name = 0; *name < NAMES; ++*name)
            if (!key_explained(history, *name, &state->cell[*name], moments))
                return false;
        return true;
    }
    const struct operation *op = &history->operation[history->wide[i]];
    uint64_t ended = op->ended < history->tick ? op->ended : history->tick;
    for (uint64_t at = op->began + 1; at <= ended; at += 2) { /* ticks of events are even */
        moments->at[i] = at;
        if (moments_explain(history, state, i + 1, moments, name))
            return true;
    }
    moments->at[i] = 0;
    return op->progress != ACKNOWLEDGED && moments_explain(history, state, i + 1, moments, name);
}

bool
history_explains(struct history *history, const struct state *state, unsigned *name)
{
    struct moments moments = {{0}};
    return moments_explain(history, state, 0, &moments, name);
}

/* ---- settling ---- */

/* How many of the oldest operations are acknowledged and ended before any other began; sorts the window. */
static unsigned
settled_prefix(const struct history *history, struct window *window)
{
    for (unsigned i = 1; i < window->used; i++)
        for (unsigned j = i; j > 0; j--) {
            uint16_t *a = &window->operation[j - 1], *b = &window->operation[j], swap = *a;
            if (history->operation[*a].began <= history->operation[*b].began)
                break;
            *a = *b;
            *b = swap;
        }
    unsigned settled = 0;
    uint64_t ended = 0;
    for (unsigned i = 0; i < window->used; i++) {
        const struct operation *op = &history->operation[window->operation[i]];
        if (op->began > ended)
            settled = i; /* all before it are over */
        if (op->progress != ACKNOWLEDGED)
            return settled;
        ended = op->ended > ended ? op->ended : ended;
    }
    return window->used;
}

/* Replace the oldest n operations of a window by the states that they may have left, so that the search stays short. */
static void
settle(struct history *history, struct window *window, unsigned n)
{
    struct cell ends[BASES + 1];
    struct search search = {.late = history->late_seen, .ends = ends};
    for (unsigned i = 0; i < n; i++) {
        const struct operation *op = &history->operation[window->operation[i]];
        search_add(&search, op, op->began, op->ended, op->progress == ACKNOWLEDGED);
    }
    if (!n)
        return;
    search_from(&search, window->base, window->bases);
    if (search.ends_used > BASES)
        return;
    memcpy(window->base, ends, search.ends_used * sizeof(*ends));
    window->bases = search.ends_used;
    window->used -= n;
    memmove(window->operation, window->operation + n, window->used * sizeof(*window->operation));
}

static void
settle_prefix(struct history *history, struct window *window)
{
    if (window->used >= SETTLE_FROM && !history->wides)
        settle(history, window, settled_prefix(history, window));
}

/* ---- events ---- */

void
history_start(struct history *history, const struct state *initial)
{
    struct state copy = *initial; /* it may be a part of this history */
    memset(history, 0, sizeof(*history));
    history->initial = copy;
    for (unsigned name = 0; name < NAMES; name++) {
        history->window[name].base[0] = copy.cell[name];
        history->window[name].bases = 1;
        history->window[name].version = 1;
    }
}

static void
changed(struct history *history, const struct operation *op)
{
    history->tick += 2;
    history->version++;
    if (op->command >= FLUSH) {
        for (unsigned name = 0; name < NAMES; name++)
            history->window[name].version++;
        return;
    }
    history->window[op->name].version++;
}

void
history_begin(struct history *history, struct operation *op)
{
    uint16_t index = (uint16_t)(op - history->operation);
    changed(history, op);
    op->progress = RUNNING;
    op->began = history->tick;
    op->ended = UINT64_MAX;
    history->late_seen |= op->late;
    if (op->command >= FLUSH) {
        if (history->wides == 8)
            abort();
        history->wide[history->wides++] = index;
        return;
    }
    struct window *window = &history->window[op->name];
    if (window->used == WINDOW)
        abort();
    window->operation[window->used++] = index;
}

static void
forget(uint16_t *of, unsigned *used, uint16_t index)
{
    for (unsigned i = 0; i < *used; i++)
        if (of[i] == index)
            of[i--] = of[--*used];
}

static void
withdraw(struct history *history, struct operation *op, enum progress progress)
{
    uint16_t index = (uint16_t)(op - history->operation);
    op->progress = progress;
    if (op->command >= FLUSH)
        forget(history->wide, &history->wides, index);
    else
        forget(history->window[op->name].operation, &history->window[op->name].used, index);
    changed(history, op);
}

void
history_defer(struct history *history, struct operation *op)
{
    withdraw(history, op, NOT_YET);
}

void
history_refuse(struct history *history, struct operation *op)
{
    withdraw(history, op, REFUSED);
}

void
history_end(struct history *history, struct operation *op)
{
    changed(history, op);
    op->progress = DONE;
    op->ended = history->tick;
}

void
history_acknowledge(struct history *history, struct operation *op)
{
    changed(history, op);
    op->progress = ACKNOWLEDGED;
    if (op->command < FLUSH)
        settle_prefix(history, &history->window[op->name]);
}

void
history_kill(struct history *history)
{
    history->tick += 2;
    history->version++;
    for (unsigned i = 0; i < history->used; i++) {
        struct operation *op = &history->operation[i];
        if (op->progress == RUNNING) {
            op->progress = DONE;
            op->ended = history->tick;
        }
    }
    for (unsigned name = 0; name < NAMES; name++) {
        history->window[name].version++;
        if (!history->wides)
            settle(history, &history->window[name], history->window[name].used);
    }
}

void
operation_print(const struct operation *op, char *text, size_t size)
{
    static const char *const said[] = {"not begun", "running", "no reply", "reply", "refused: full"};
    int used = snprintf(text, size, "core %u connection %u #%u %s", op->core, op->connection, op->position,
                        command_names[op->command]);
    if (op->command < FLUSH)
        used += snprintf(text + used, size - (size_t)used, " k%u db %u", op->name, op->db);
    if (op->command == FLUSH)
        used += snprintf(text + used, size - (size_t)used, " of dbs %#llx", (unsigned long long)op->number);
    if (op->command == SET || op->command == SETNX)
        used += snprintf(text + used, size - (size_t)used, " = %lld%s (%u bytes)", (long long)(op->number & ~EXPIRES),
                         op->number & EXPIRES ? " expiring" : "", op->length);
    used += snprintf(text + used, size - (size_t)used, "%s [%llu, %lld] %s", op->late ? " late clock" : "",
                     (unsigned long long)op->began, (long long)op->ended, said[op->progress]);
    if (op->progress == ACKNOWLEDGED)
        snprintf(text + used, size - (size_t)used, " %lld", (long long)op->result);
}
