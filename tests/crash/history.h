/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the clients did in one boot, and whether what a crash left can be explained by it.
 *
 * The oracle. A recovered state must be the end of some linearization of the history: each acknowledged operation is
 * in it with its result; one without a reply is in it, with any result, or lost; if one ended before another began,
 * it comes first. (A core runs its operations one after the other, so each connection's order is part of that.)
 *
 * Operations of one key are linearized by themselves, which is enough for operations of one key (Herlihy and Wing:
 * linearizability is local). One of all keys (FLUSH, SWAP) is given each possible moment in turn.
 */
#ifndef TESTS_CRASH_HISTORY_H
#define TESTS_CRASH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES      64u /* keys */
#define DBS        2u
#define OPERATIONS 400u
#define WINDOW     60u /* operations of one key that are not settled yet */
#define BASES      32u
#define EXPIRES    (1ll << 40) /* part of a value's number: the key has an expiry */

/* What a key holds in each database: 0 = nothing, else the number that its value begins with. */
struct cell {
    int64_t number[DBS];
};

struct state {
    struct cell cell[NAMES];
};

enum command { GET, EXISTS, SET, SETNX, INCR, DEL, FLUSH, SWAP, COMMANDS };
extern const char *const command_names[COMMANDS];

enum progress { NOT_YET, RUNNING, DONE, ACKNOWLEDGED, REFUSED };

struct operation {
    enum command command;
    enum progress progress;
    unsigned core, connection, position;
    unsigned name, db;
    uint32_t length; /* of the value that it writes */
    int64_t number;  /* that it writes; FLUSH: mask of databases */
    bool late;       /* its clock says that what expires has expired */
    int64_t result;
    uint64_t began, ended; /* ticks; ended: UINT64_MAX while it runs */
};

struct window {
    struct cell base[BASES]; /* what the settled operations may have left */
    unsigned bases;
    uint16_t operation[WINDOW];
    unsigned used;
    uint64_t version;
    struct {
        struct cell cell;
        uint64_t version;
        bool explained;
    } known[8]; /* the last answers */
    unsigned next_known;
};

struct history {
    struct operation operation[OPERATIONS];
    unsigned used;
    uint64_t tick, version;
    bool late_seen; /* some clock was late: keys may have expired by themselves */
    struct state initial;
    struct window window[NAMES];
    uint16_t wide[8]; /* FLUSH and SWAP */
    unsigned wides;
};

void history_start(struct history *history, const struct state *initial);

/* The next steps of an operation's life; between them others may take theirs. */
void history_begin(struct history *history, struct operation *operation);
void history_defer(struct history *history, struct operation *operation);  /* it has had no effect */
void history_refuse(struct history *history, struct operation *operation); /* the same, for good */
void history_end(struct history *history, struct operation *operation);
void history_acknowledge(struct history *history, struct operation *operation);

/* The process was killed: what was under way has ended, and will never be acknowledged. */
void history_kill(struct history *history);

/* Can it end in this state? If not, *name is a key that it cannot explain. */
bool history_explains(struct history *history, const struct state *state, unsigned *name);

/* One line of text. */
void operation_print(const struct operation *operation, char *text, size_t size);

#endif
