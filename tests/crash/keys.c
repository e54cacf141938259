/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values of the simulation. */
#include "tests/crash/keys.h"

#include <stdio.h>
#include <string.h>

#include "pmem/siphash.h"

#define CROWD_BITS 2 /* leading hash bits that the crowd shares */

static bool
in_crowd(uint64_t hash)
{
    return hash >> (64 - CROWD_BITS) == 0;
}

const struct name *
names_get(void)
{
    static struct name names[NAMES];
    unsigned crowd = 0, others = CROWD;
    for (unsigned i = 0; names[NAMES - 1].len == 0; i++) {
        struct name name;
        name.len = (uint32_t)snprintf(name.text, sizeof(name.text), "key:%u", i);
        name.hash = siphash13((const uint8_t *)HASH_KEY, name.text, name.len);
        if (in_crowd(name.hash) && crowd < CROWD)
            names[crowd++] = name;
        else if (!in_crowd(name.hash) && others < NAMES && crowd == CROWD)
            names[others++] = name;
    }
    return names;
}

unsigned
name_find(const void *data, size_t len)
{
    const struct name *names = names_get();
    unsigned i = 0;
    while (i < NAMES && (names[i].len != len || memcmp(names[i].text, data, len) != 0))
        i++;
    return i;
}

static uint8_t
filling(int64_t number, uint32_t i)
{
    return (uint8_t)((uint64_t)number * 131 + i * 7 + 1);
}

void
value_make(int64_t number, uint8_t *value, uint32_t length)
{
    memcpy(value, &number, sizeof(number));
    for (uint32_t i = sizeof(number); i < length; i++)
        value[i] = filling(number, i);
}

int64_t
value_number(const void *value, uint32_t length)
{
    const uint8_t *bytes = value;
    int64_t number;
    if (length < VALUE_MIN || length > VALUE_MAX)
        return -1;
    memcpy(&number, bytes, sizeof(number));
    for (uint32_t i = sizeof(number); i < length; i++)
        if (bytes[i] != filling(number, i))
            return -1;
    return number > 0 ? number : -1;
}
