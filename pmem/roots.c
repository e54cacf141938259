/* SPDX-License-Identifier: BSD-3-Clause */
/* ROOTS: making tables, emptying and swapping databases; each is one CAS of the ROOTS word. */
#include "pmem/roots.h"

#include "pmem/reap.h"

int
roots_install(struct core *core, const struct roots *roots)
{
    struct engine *engine = core->engine;
    const struct slice value = {.data = roots, .len = sizeof(*roots)};
    uint32_t size = (uint32_t)record_size(0, sizeof(*roots), false);
    uint64_t offset = space_append(engine->space, core->index, SPACE_COLD, size, true);
    if (!offset)
        return -ENOSPC;
    struct record_spec spec = {.key = "", .part = &value, .parts = 1, .type = RECORD_ROOTS, .stamp = core_stamp(core)};
    record_write(pool_at(engine->pool, offset), &spec);
    persist_flush(pool_at(engine->pool, offset), size, SITE_FLUSH_ROOTS);
    /*
     * The stamp stands before the CAS, so that whoever sees the new ROOTS sees it, or a later one. A core whose CAS
     * is lost has put its stamp over the winner's: it makes the line durable in the winner's place.
     */
    atomic_store(&engine->roots_stamp, core->stamp);
    persist_yield();
    bool won = persist_cas(core->roots_word, core->roots_seen, word_present(offset, 0));
    depend(core, core->roots_word);
    if (!won)
        space_dead(engine->space, offset, size);
    else if (core->roots_seen)
        space_dead(engine->space, word_offset(core->roots_seen), size);
    return !won;
}

int
roots_find(const struct core *core, uint32_t id)
{
    for (int db = 0; id && db < (int)DATABASES; db++) {
        if (core->roots->db[db].id == id)
            return db;
    }
    return -1;
}

void
page_header_write(const struct page *page, uint32_t id, uint32_t depth, uint64_t prefix, enum persist_site site)
{
    struct page_header header[2] = {{.magic = PAGE_MAGIC, .owner = id, .depth = depth, .prefix = prefix}};
    header[0].crc = page_header_crc(&header[0]);
    header[1] = header[0];
    persist_copy(page, header, sizeof(header));
    persist_flush(page, sizeof(header), site);
}

/* A directory of one entry and its page, zeroed and flushed; the CAS that publishes them is the fence. Offset or 0. */
static uint64_t
table_create(struct core *core, uint32_t id)
{
    struct engine *engine = core->engine;
    uint64_t directory = space_pages_alloc(engine->space, 1, false);
    uint64_t offset = directory ? space_pages_alloc(engine->space, 1, false) : 0;
    if (!offset) {
        if (directory)
            space_pages_free(engine->space, directory, 1);
        return 0;
    }
    const struct page *page = page_at(engine, offset);
    *page_state(engine, page) = (struct page_state){0};
    persist_copy(page, NULL, sizeof(*page));
    persist_flush(page->home, sizeof(page->home) + sizeof(page->stash), SITE_FLUSH_TABLE);
    page_header_write(page, id, 0, 0, SITE_FLUSH_TABLE);
    const uint64_t *entry = pool_at(engine->pool, directory);
    persist_store(entry, page_word(offset, 0));
    persist_flush(entry, sizeof(*entry), SITE_FLUSH_TABLE);
    return directory;
}

static void
table_discard(struct core *core, uint64_t directory)
{
    const uint64_t *entry = pool_at(core->engine->pool, directory);
    space_pages_free(core->engine->space, word_offset(*entry), 1);
    space_pages_free(core->engine->space, directory, 1);
}

/* An id whose slot no table has; 0 if all are taken. */
static uint64_t
id_claim(struct engine *engine, uint64_t next_id)
{
    for (uint64_t id = next_id; id < next_id + TABLES; id++) {
        uint32_t none = 0;
        if ((uint32_t)id && atomic_compare_exchange_strong(&engine->table[id % TABLES].id, &none, (uint32_t)id))
            return id;
    }
    return 0;
}

int
roots_create(struct core *core, unsigned db)
{
    struct engine *engine = core->engine;
    uint64_t id = id_claim(engine, core->roots->next_id);
    if (!id) {
        count(&core->counts.deferred, 1);
        return -EAGAIN; /* until one is reaped */
    }
    int rc = -ENOSPC;
    uint64_t directory = table_create(core, (uint32_t)id);
    if (directory) {
        struct roots roots = *core->roots;
        roots.db[db] = (struct root){.directory = directory, .depth = 0, .id = (uint32_t)id};
        roots.next_id = id + 1;
        rc = roots_install(core, &roots);
        if (rc)
            table_discard(core, directory);
    }
    if (rc)
        atomic_store(&engine->table[id % TABLES].id, 0);
    if (rc == -ENOSPC)
        return no_room(core);
    return 0; /* lost to another core: its roots may have the table */
}

int
databases_flush(struct core *core, uint32_t mask)
{
    struct roots old, roots;
    int rc;
    do {
        rc = roots_load(core);
        if (rc)
            return rc;
        roots_depend(core);
        old = roots = *core->roots;
        bool change = false;
        for (unsigned db = 0; db < DATABASES; db++) {
            if (!(mask >> db & 1) || !roots.db[db].id)
                continue;
            roots.db[db] = (struct root){0};
            change = true;
        }
        if (!change)
            return 0;
        rc = roots_install(core, &roots);
    } while (rc > 0);
    if (rc)
        return no_room(core);
    for (unsigned db = 0; db < DATABASES; db++) {
        if (old.db[db].id != roots.db[db].id)
            reap_start(core, &old.db[db]);
    }
    return 0;
}

int
databases_swap(struct core *core, unsigned a, unsigned b)
{
    int rc;
    do {
        rc = roots_load(core);
        if (rc)
            return rc;
        roots_depend(core);
        struct roots roots = *core->roots;
        if (a == b || (!roots.db[a].id && !roots.db[b].id))
            return 0;
        roots.db[a] = core->roots->db[b];
        roots.db[b] = core->roots->db[a];
        rc = roots_install(core, &roots);
    } while (rc > 0);
    return rc ? no_room(core) : 0;
}
