/* SPDX-License-Identifier: BSD-3-Clause */
/* READ: one key, without a latch; and the prefetches that come before a batch's commands. */
#include "pmem/table.h"

#define PREFETCH_LINES 3 /* of a record: 24 + 16 + 128 bytes and a start in mid-line */

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
    for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
        uint64_t word = word_load(&home->slot[i]);
        if (!word_tag_is(word, key->hash))
            continue;
        const uint8_t *record = core->base + word_offset(word);
        for (unsigned line = 0; line < PREFETCH_LINES; line++)
            __builtin_prefetch(record + line * LINE_SIZE);
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
