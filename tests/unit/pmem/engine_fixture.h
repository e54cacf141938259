/* SPDX-License-Identifier: BSD-3-Clause */
/* A real engine on a pool file in memory, and the few commands that its tests speak in. */
#ifndef TESTS_UNIT_PMEM_ENGINE_FIXTURE_H
#define TESTS_UNIT_PMEM_ENGINE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmem/engine.h"

#define MIB (1ull << 20)

extern struct engine *engine;
extern struct core *core;    /* the one that the commands below use */
extern uint64_t fixture_now; /* ms, given to batch_begin */

/* A new pool, of one core unless said otherwise; and what is on it, closed and opened again. Abort on failure. */
void fixture_create(uint64_t size, unsigned cores);
void fixture_reopen(unsigned cores);
void fixture_close(void);
void fixture_reattach(unsigned cores); /* what fixture_close left, or another process */
void fixture_destroy(void);
const char *fixture_path(void);

/* ---- within a batch ---- */

/* SET; expire_ms 0 = never. Plain: blind. */
int put(unsigned db, const char *key, const void *value, size_t len, int64_t expire_ms);
int put_prepare(unsigned db, const char *key, const void *value, size_t len, struct hint *hint);
int put_hinted(unsigned db, const char *key, const void *value, size_t len, struct hint *hint);
int put_if_absent(unsigned db, const char *key, const char *value, bool *done);
int del(unsigned db, const char *key, bool *deleted);
int incr(struct core *on, unsigned db, const char *key, int64_t by, int64_t *result);

/* ---- a batch each, repeated while the engine says -EAGAIN ---- */

int set(unsigned db, const char *key, const char *value);
int unset(unsigned db, const char *key); /* 1 deleted, 0 not there, or -errno */

/* The value is this string (NULL: absent). */
bool holds(unsigned db, const char *key, const char *value);

/* Batches of nothing until batch_tend has no more to do, or limit of them. How many there were. */
unsigned settle(unsigned limit);

/* Key number i, in a buffer of the caller. */
const char *key_name(char buffer[32], const char *prefix, uint64_t i);

#endif
