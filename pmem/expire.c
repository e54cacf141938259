/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Background expiry: each core goes round all databases that have keys with an expiry, from its own starting point,
 * a few homes a millisecond; where much was found expired it goes on at once.
 */
#include "pmem/scan.h"

#define EXPIRE_HOMES 16u /* a slice */
#define EXPIRE_MANY  16u /* expired keys in a slice (of some 80) that make it worth to go on */

static bool
expiring(const struct engine *engine, uint32_t id)
{
    int64_t keys = 0;
    for (unsigned i = 0; id && i < engine->cores; i++)
        keys += __atomic_load_n(&engine->core[i]->tally[id % TABLES].expiring, __ATOMIC_RELAXED);
    return keys > 0;
}

bool
expire_tend(struct core *core)
{
    if (core->expire_ms == core->now_ms || roots_load(core) != 0)
        return false;
    for (unsigned n = 0; n < DATABASES && !expiring(core->engine, core->roots->db[core->expire_db].id); n++) {
        core->expire_db = (core->expire_db + 1) % DATABASES;
        core->expire_cursor = 0;
    }
    const struct root *root = &core->roots->db[core->expire_db];
    uint64_t expired = core->counts.expired;
    for (unsigned n = 0; n < EXPIRE_HOMES && expiring(core->engine, root->id); n++) {
        core->expire_cursor = scan_home(core, root, core->expire_cursor, NULL, NULL);
        if (!core->expire_cursor) {
            core->expire_db = (core->expire_db + 1) % DATABASES;
            break;
        }
    }
    bool many = core->counts.expired - expired >= EXPIRE_MANY;
    if (!many)
        core->expire_ms = core->now_ms;
    return many;
}
