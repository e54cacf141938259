/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UPDATE, DELETE and INSERT of one key. The first two are one CAS and take no latch; an insert, and a change of a
 * word that is HELD, happen under the latch of the home bucket. A lost CAS repeats this command alone.
 */
#include "pmem/chain.h"
#include "pmem/roots.h"
#include "pmem/table.h"

enum { RETRY = 1 }; /* beside 0 and -errno */

/* One entry_edit under way. */
struct change {
    struct core *core;
    unsigned db;
    const struct key *key;
    decide_fn decide;
    void *arg;
    struct hint *hint; /* the record that entry_prepare left */
    struct hint own;   /* one that was built here; word 0 = none */
    uint32_t own_size, own_table;
    struct place at;
    struct hit hit;
    struct edit edit; /* decide()'s last verdict */
};

static enum verdict
ask(struct change *c, const struct record *old)
{
    struct entry entry;
    c->edit = (struct edit){.type = RECORD_STRING};
    if (old) {
        entry_of(old, &entry);
        c->edit.expire_ms = entry.expire_ms;
    }
    return c->decide(old ? &entry : NULL, &c->edit, c->arg);
}

/* ---- the record to install ---- */

/* Append the record that edit describes, with this batch's stamp; not flushed. 0, -E2BIG, or -ENOSPC: no room now. */
static int
build(struct change *c, uint64_t *offset, uint32_t *size)
{
    struct core *core = c->core;
    const struct edit *edit = &c->edit;
    uint64_t bytes = record_size(c->key->len, record_parts_len(edit->part, edit->parts), edit->expire_ms != 0);
    if (bytes > RECORD_MAX)
        return -E2BIG;
    *size = (uint32_t)bytes;
    *offset = space_append(core->engine->space, core->index, SPACE_HOT, *size, false);
    if (!*offset)
        return -ENOSPC;
    struct record_spec spec = {
        .owner = c->at.id,
        .klen = c->key->len,
        .key = c->key->data,
        .part = edit->part,
        .parts = edit->parts,
        .type = edit->type,
        .flags = edit->flags,
        .expire_ms = edit->expire_ms,
        .stamp = core_stamp(core),
    };
    record_write(pool_at(core->engine->pool, *offset), &spec);
    count(&core->counts.appended_bytes, *size);
    return 0;
}

static void
own_abandon(struct change *c)
{
    if (c->own.word)
        space_dead(c->core->engine->space, word_offset(c->own.word), c->own_size);
    c->own.word = 0;
}

static bool
fits(const struct change *c, const struct hint *hint, uint64_t seen)
{
    return hint->word && (hint->seen == seen || (hint->blind && c->edit.blind));
}

/* The word to install where `seen` is now (0: no word): the hint's if it is not stale, else one built anew. */
static int
new_word(struct change *c, uint64_t seen, uint64_t *word)
{
    struct core *core = c->core;
    if (c->hint && c->hint->word && core->prepare_roots == core->roots_seen) {
        if (core->unfenced)
            batch_prepared(core);
        *word = c->hint->word;
        if (fits(c, c->hint, seen))
            return 0;
    }
    if (c->own_table == c->at.id && fits(c, &c->own, seen)) {
        *word = c->own.word;
        return 0;
    }
    own_abandon(c);
    uint64_t offset;
    int rc = build(c, &offset, &c->own_size);
    if (rc)
        return rc == -ENOSPC ? no_room(core) : rc;
    persist_flush(pool_at(core->engine->pool, offset), c->own_size, SITE_FLUSH_RECORD); /* the CAS is its fence */
    c->own = (struct hint){.seen = seen, .word = word_present(offset, c->key->hash), .blind = c->edit.blind};
    c->own_table = c->at.id;
    *word = c->own.word;
    return 0;
}

/* word is published: the record belongs to the table now. */
static void
installed(struct change *c, uint64_t word)
{
    if (word == c->own.word) {
        c->own.word = 0;
        count(&c->core->counts.hints_stale, c->hint && c->hint->word);
        return;
    }
    c->core->prepared[c->hint->number - 1].offset = 0;
    c->hint->word = 0;
    count(&c->core->counts.hints_used, 1);
}

/* ---- the three changes ---- */

/* The key is not there, and stays so. */
static int
stay_absent(struct change *c)
{
    int rc = chain_absent(c->core, &c->at);
    return rc == -ENOENT ? 0 : rc;
}

static int
update(struct change *c)
{
    struct core *core = c->core;
    uint32_t old_size = record_total(c->hit.record);
    int64_t expiring = (c->edit.expire_ms != 0) - (int64_t)record_has_expiry(c->hit.record);
    uint64_t word;
    int rc = new_word(c, c->hit.word, &word);
    if (rc)
        return rc;
    roots_settle(core);
    if (!persist_cas(c->hit.slot, c->hit.word, word)) {
        count(&core->counts.lost_cas, 1);
        return RETRY;
    }
    installed(c, word);
    chain_depend(core, &c->at, c->hit.bucket);
    space_dead(core->engine->space, word_offset(c->hit.word), old_size);
    tally(core, c->at.id, 0, expiring);
    return 0;
}

/* The key has a word, which is not HELD, or whose latch is ours. */
static int
change_present(struct change *c)
{
    struct core *core = c->core;
    const struct record *old = c->hit.record;
    if (!(c->hint && c->hint->blind) && !record_good(old))
        return record_damaged(core);
    bool expired = record_expired(core, old);
    switch (ask(c, expired ? NULL : old)) {
    case ENTRY_PUT:
        return update(c);
    case ENTRY_KEEP:
        if (!expired) {
            if (non_durable(core->engine, record_stamp(old)))
                chain_depend(core, &c->at, c->hit.bucket);
            return 0;
        }
        break;
    case ENTRY_DELETE:
        break;
    }
    count(&core->counts.expired, expired);
    return chain_delete(core, &c->at, &c->hit) ? 0 : RETRY;
}

static int
insert(struct change *c)
{
    struct core *core = c->core;
    struct room room;
    uint64_t word;
    int rc = chain_room(core, &c->at, &room);
    if (rc == 0)
        rc = new_word(c, 0, &word);
    if (rc)
        return rc;
    roots_settle(core);
    if (!persist_cas(room.slot, room.word, word))
        return RETRY;
    installed(c, word);
    chain_depend(core, &c->at, room.last);
    tally(core, c->at.id, 1, c->edit.expire_ms != 0);
    return 0;
}

static int
change_latched(struct change *c)
{
    if (word_load(&c->at.home->control) & WORD_MOVED)
        return RETRY;
    int rc = chain_find(c->core, &c->at, c->key, &c->hit);
    if (rc == 0)
        return change_present(c); /* R3: HELD under a fresh latch is stale, left by a crash */
    if (rc != -ENOENT)
        return rc;
    return ask(c, NULL) == ENTRY_PUT ? insert(c) : stay_absent(c);
}

/* One try. 0, RETRY, or -errno. */
static int
attempt(struct change *c)
{
    struct core *core = c->core;
    int rc = table_walk(core, c->db, c->key->hash, &c->at);
    if (rc == -ENOENT) {
        if (ask(c, NULL) != ENTRY_PUT)
            return 0;
        rc = roots_create(core, c->db);
        return rc ? rc : RETRY;
    }
    if (rc == 0)
        rc = chain_find(core, &c->at, c->key, &c->hit);
    if (rc == 0 && !(c->hit.word & WORD_HELD))
        return change_present(c);
    if (rc == -ENOENT && ask(c, NULL) != ENTRY_PUT)
        return stay_absent(c);
    if (rc && rc != -ENOENT)
        return rc;
    if (!latch_try(core->engine, c->at.home)) {
        count(&core->counts.deferred, 1);
        return -EAGAIN;
    }
    rc = change_latched(c);
    latch_release(core->engine, c->at.home);
    return rc;
}

int
entry_edit(struct core *core, unsigned db, const struct key *key, decide_fn decide, void *arg, struct hint *hint)
{
    struct change c = {.core = core, .db = db, .key = key, .decide = decide, .arg = arg, .hint = hint};
    int rc;
    do
        rc = attempt(&c);
    while (rc == RETRY);
    own_abandon(&c);
    return rc;
}

/* ---- prepare ---- */

/* Flush prepared records line by line: a line that the next record will share waits for it. */
static void
flush_prepared(struct core *core, uint64_t offset, uint32_t size)
{
    if (offset != core->tail_end) {
        if (core->tail != core->tail_end)
            persist_flush(core->base + core->tail, core->tail_end - core->tail, SITE_FLUSH_RECORD);
        core->tail = offset;
    }
    core->tail_end = offset + size;
    uint64_t whole = core->tail_end / LINE_SIZE * LINE_SIZE;
    if (whole > core->tail) {
        persist_flush(core->base + core->tail, whole - core->tail, SITE_FLUSH_RECORD);
        core->tail = whole;
    }
    core->unfenced = true;
}

void
entry_prepare(struct core *core, unsigned db, const struct key *key, decide_fn decide, void *arg, struct hint *hint)
{
    struct change c = {.core = core, .db = db, .key = key, .decide = decide, .arg = arg};
    *hint = (struct hint){0};
    if (core->prepared_used == PREPARED_MAX || table_walk(core, db, key->hash, &c.at) != 0)
        return;
    const struct record *old = NULL;
    int rc = chain_find(core, &c.at, key, &c.hit);
    if (rc == 0) {
        hint->seen = c.hit.word;
        old = record_expired(core, c.hit.record) ? NULL : c.hit.record;
    }
    if ((rc && rc != -ENOENT) || ask(&c, old) != ENTRY_PUT)
        return;
    struct prepared *prepared = &core->prepared[core->prepared_used];
    if (build(&c, &prepared->offset, &prepared->size) != 0)
        return;
    flush_prepared(core, prepared->offset, prepared->size);
    hint->number = ++core->prepared_used;
    hint->word = word_present(prepared->offset, key->hash);
    hint->blind = c.edit.blind;
}
