/* SPDX-License-Identifier: BSD-3-Clause */
/* A real engine on a pool file in memory. */
#include "tests/unit/pmem/engine_fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct engine *engine;
struct core *core;
uint64_t fixture_now = 1000000;

static char path[64];

static void
open_or_abort(uint64_t size, unsigned cores)
{
    char error[256];
    struct engine_options options = {.path = path, .create_size = size, .cores = cores};
    engine = engine_open(&options, error, sizeof(error));
    if (!engine) {
        fprintf(stderr, "%s: %s\n", path, error);
        abort();
    }
    core = engine_core(engine, 0);
}

void
fixture_create(uint64_t size, unsigned cores)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof(path), "%s/pollux-test-%d", folder, (int)getpid());
    unlink(path);
    open_or_abort(size, cores);
}

void
fixture_reopen(unsigned cores)
{
    fixture_close();
    fixture_reattach(cores);
}

void
fixture_close(void)
{
    engine_close(engine);
    engine = NULL;
}

void
fixture_reattach(unsigned cores)
{
    open_or_abort(0, cores);
}

void
fixture_destroy(void)
{
    engine_close(engine);
    unlink(path);
}

const char *
fixture_path(void)
{
    return path;
}

/* ---- commands ---- */

struct put {
    const void *value;
    size_t len;
    int64_t expire_ms;
    bool if_absent, done;
};

static enum verdict
decide_put(const struct entry *old, struct edit *edit, void *arg)
{
    struct put *p = arg;
    p->done = !(p->if_absent && old);
    if (!p->done)
        return ENTRY_KEEP;
    edit->part[0] = (struct slice){.data = p->value, .len = p->len};
    edit->parts = 1;
    edit->expire_ms = p->expire_ms;
    edit->blind = !p->if_absent;
    return ENTRY_PUT;
}

static enum verdict
decide_delete(const struct entry *old, struct edit *edit, void *arg)
{
    (void)edit;
    *(bool *)arg = old != NULL;
    return old ? ENTRY_DELETE : ENTRY_KEEP;
}

struct incr {
    int64_t by, result;
    char text[24];
};

static enum verdict
decide_incr(const struct entry *old, struct edit *edit, void *arg)
{
    struct incr *p = arg;
    char text[24] = "0";
    if (old)
        snprintf(text, sizeof(text), "%.*s", (int)old->len, (const char *)old->value);
    p->result = strtoll(text, NULL, 10) + p->by;
    edit->part[0] = (struct slice){.data = p->text, .len = (size_t)snprintf(p->text, 24, "%" PRId64, p->result)};
    edit->parts = 1;
    return ENTRY_PUT;
}

static struct key
key_of(const char *name)
{
    struct key key;
    key_init(engine, &key, name, strlen(name));
    return key;
}

int
put(unsigned db, const char *name, const void *value, size_t len, int64_t expire_ms)
{
    struct key key = key_of(name);
    struct put p = {.value = value, .len = len, .expire_ms = expire_ms};
    return entry_edit(core, db, &key, decide_put, &p, NULL);
}

int
put_prepare(unsigned db, const char *name, const void *value, size_t len, struct hint *hint)
{
    struct key key = key_of(name);
    struct put p = {.value = value, .len = len};
    entry_prepare(core, db, &key, decide_put, &p, hint);
    return hint->word != 0;
}

int
put_hinted(unsigned db, const char *name, const void *value, size_t len, struct hint *hint)
{
    struct key key = key_of(name);
    struct put p = {.value = value, .len = len};
    return entry_edit(core, db, &key, decide_put, &p, hint);
}

int
put_if_absent(unsigned db, const char *name, const char *value, bool *done)
{
    struct key key = key_of(name);
    struct put p = {.value = value, .len = strlen(value), .if_absent = true};
    int rc = entry_edit(core, db, &key, decide_put, &p, NULL);
    *done = p.done;
    return rc;
}

int
del(unsigned db, const char *name, bool *deleted)
{
    struct key key = key_of(name);
    return entry_edit(core, db, &key, decide_delete, deleted, NULL);
}

int
incr(struct core *on, unsigned db, const char *name, int64_t by, int64_t *result)
{
    struct key key = key_of(name);
    struct incr p = {.by = by};
    int rc = entry_edit(on, db, &key, decide_incr, &p, NULL);
    *result = p.result;
    return rc;
}

/* ---- whole batches ---- */

static void
finish(void)
{
    batch_commit(core);
    batch_tend(core);
}

int
set(unsigned db, const char *name, const char *value)
{
    int rc;
    do {
        batch_begin(core, fixture_now);
        rc = put(db, name, value, strlen(value), 0);
        finish();
    } while (rc == -EAGAIN);
    return rc;
}

int
unset(unsigned db, const char *name)
{
    bool deleted = false;
    int rc;
    do {
        batch_begin(core, fixture_now);
        rc = del(db, name, &deleted);
        finish();
    } while (rc == -EAGAIN);
    return rc ? rc : deleted;
}

bool
holds(unsigned db, const char *name, const char *value)
{
    struct key key = key_of(name);
    struct entry entry;
    batch_begin(core, fixture_now);
    int rc = entry_read(core, db, &key, &entry);
    bool same =
        value ? rc == 0 && entry.len == strlen(value) && memcmp(entry.value, value, entry.len) == 0 : rc == -ENOENT;
    finish();
    return same;
}

unsigned
settle(unsigned limit)
{
    for (unsigned n = 0; n < limit; n++) {
        batch_begin(core, fixture_now);
        batch_commit(core);
        if (!batch_tend(core))
            return n;
    }
    return limit;
}

const char *
key_name(char buffer[32], const char *prefix, uint64_t i)
{
    snprintf(buffer, 32, "%s:%" PRIu64, prefix, i);
    return buffer;
}
