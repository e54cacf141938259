/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and values of the simulation. Names are chosen so that under the simulated pool's hash key the first ones all
 * fall into one home bucket, also after a split. A value is a number and a filling that follows from it.
 */
#ifndef TESTS_CRASH_KEYS_H
#define TESTS_CRASH_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/crash/history.h"

#define VALUE_MIN 8u
#define VALUE_MAX 2600u
#define EXPIRE_MS 5000 /* of all values that expire */
#define EARLY_MS  1000
#define LATE_MS   9000
#define HASH_KEY  "crash-simulator!" /* 16 bytes */

struct name {
    char text[16];
    uint32_t len;
    uint64_t hash;
};

/* names[0 .. NAMES): the first CROWD ones share a home. */
#define CROWD 18u
const struct name *names_get(void);

/* The name's number, or NAMES. */
unsigned name_find(const void *data, size_t len);

void value_make(int64_t number, uint8_t *value, uint32_t length);

/* The number, or -1 if it is not a value that was ever made. */
int64_t value_number(const void *value, uint32_t length);

#endif
