/* SPDX-License-Identifier: BSD-3-Clause */
/* READ: one key, without a latch; and the prefetches that come before a batch's commands. */
#include "pmem/table.h"

#define PREFETCH_BYTES 176u /* of a record: header, a key of 16 and a value of 128 bytes */

static inline const struct bucket *
home_of(struct core *core, unsigned db, uint64_t hash)
{
    return roots_load(core) == 0 ? root_home(core, &core->roots->db[db], hash) : NULL;
}

void
entry_prefetch_bucket(struct core *core, unsigned db, const struct key *key)
{
    __builtin_prefetch(home_of(core, db, key->hash));
}

void
entry_prefetch_record(struct core *core, unsigned db, const struct key *key)
{
    const struct bucket *home = home_of(core, db, key->hash);
    if (!home)
        return;
    for (unsigned match = bucket_match(home, tag_wanted(key->hash)); match; match &= match - 1) {
        uint64_t offset = word_offset(word_load(&home->slot[__builtin_ctz(match)]));
        for (uint64_t line = offset / LINE_SIZE; line <= (offset + PREFETCH_BYTES - 1) / LINE_SIZE; line++)
            __builtin_prefetch(core->base + line * LINE_SIZE);
    }
}

int
entry_read(struct core *core, unsigned db, const struct key *key, struct entry *entry)
{
    struct place at;
    struct hit hit;
    int rc;
    do {
        rc = table_walk(core, db, key->hash, &at);
        if (rc)
            return rc;
        rc = chain_find(core, &at, key, &hit);
        if (rc == -ENOENT)
            return chain_absent(core, &at);
        if (rc)
            return rc;
        if (!record_good(hit.record))
            return record_damaged(core);
        if (!record_expired(core, hit.record)) {
            if (non_durable(core->engine, record_stamp(hit.record)))
                chain_depend(core, &at, hit.bucket);
            entry_of(hit.record, entry);
            return 0;
        }
        rc = chain_expire(core, &at, &hit);
    } while (rc > 0);
    return rc ? rc : -ENOENT;
}
