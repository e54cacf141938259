/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated persistent memory: records stores, flushes and fences. */
#include "tests/crash/persist_sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmem/word.h"
#include "tests/crash/random.h"

#define POISON 0xdb

struct persist_listener persist_listener;
FILE *persist_trace;
enum persist_site persist_removed = SITES;

const char *
persist_site_name(enum persist_site site)
{
    static const char *const names[] = {
#define PERSIST_SITE(name, what) #name,
#include "pmem/persist_sites.def"
#undef PERSIST_SITE
    };
    return names[site];
}

/* ---- memories ---- */

static void *
zeroed(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        abort();
    return p;
}

struct memory *
memory_new(uint64_t size)
{
    struct memory *memory = zeroed(1, sizeof(*memory));
    int fd = memfd_create("pool", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        abort();
    memory->size = size;
    memory->lines = size / LINE_SIZE;
    memory->view = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    memory->live = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory->view == MAP_FAILED || memory->live == MAP_FAILED)
        abort();
    close(fd);
    memory->durable = zeroed(1, size);
    memory->line = zeroed(memory->lines, sizeof(*memory->line));
    memory->pending = zeroed(memory->lines, sizeof(*memory->pending));
    return memory;
}

uint64_t
line_hash(uint64_t index, const uint8_t content[LINE_SIZE])
{
    uint64_t word[LINE_WORDS], hash = index;
    memcpy(word, content, LINE_SIZE);
    for (unsigned i = 0; i < LINE_WORDS; i++)
        hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull ^ hash >> 29;
    return mix64(hash);
}

void
memory_forget_flushes(struct memory *memory)
{
    for (unsigned core = 0; core < MAX_CORES; core++)
        memory->flushes[core].used = 0;
}

void
memory_fill(struct memory *memory, const uint8_t *bytes, bool tracked)
{
    memcpy(memory->live, bytes, memory->size);
    memory->tracked = tracked;
    memory_forget_flushes(memory);
    for (uint32_t i = 0; i < memory->pending_used; i++) {
        memory->line[memory->pending[i]].pending = 0;
        memory->line[memory->pending[i]].listed = false;
    }
    memory->pending_used = 0;
    memory->version++;
    if (!tracked)
        return;
    memcpy(memory->durable, bytes, memory->size);
    memory->durable_hash = 0;
    for (uint64_t i = 0; i < memory->lines; i++)
        memory->durable_hash ^= line_hash(i, memory->durable + i * LINE_SIZE);
}

static void
apply(uint8_t *content, const struct event *event)
{
    for (unsigned i = 0; i < LINE_WORDS; i++)
        if (event->mask >> i & 1)
            memcpy(content + i * 8, &event->word[i], 8);
}

bool
memory_shadow_agrees(const struct memory *memory)
{
    for (uint64_t i = 0; i < memory->lines; i++) {
        uint8_t content[LINE_SIZE];
        memcpy(content, memory->durable + i * LINE_SIZE, LINE_SIZE);
        for (uint32_t n = 0; n < memory->line[i].pending; n++)
            apply(content, &memory->line[i].event[n]);
        if (memcmp(content, memory->view + i * LINE_SIZE, LINE_SIZE) != 0)
            return false;
    }
    return true;
}

/* ---- events ---- */

/* The line's content after a store that was just made to `live`, as an event of the words in mask. */
static void
record_event(struct memory *memory, uint64_t index, uint8_t mask, bool bulk)
{
    struct line *line = &memory->line[index];
    if (line->pending == line->room) {
        line->room = line->room ? 2 * line->room : 4;
        line->event = realloc(line->event, line->room * sizeof(*line->event));
        if (!line->event)
            abort();
    }
    struct event *event = &line->event[line->pending++];
    memcpy(event->word, memory->live + index * LINE_SIZE, LINE_SIZE);
    event->mask = mask;
    event->bulk = bulk;
    if (!line->listed)
        memory->pending[memory->pending_used++] = (uint32_t)index;
    line->listed = true;
    memory->version++;
}

/* The first `upto` events ever of the line are durable. */
static void
settle_line(struct memory *memory, uint32_t index, uint32_t upto)
{
    struct line *line = &memory->line[index];
    uint32_t n = upto > line->settled ? upto - line->settled : 0;
    if (!n)
        return;
    uint8_t *durable = memory->durable + (uint64_t)index * LINE_SIZE;
    memory->durable_hash ^= line_hash(index, durable);
    for (uint32_t i = 0; i < n; i++)
        apply(durable, &line->event[i]);
    memory->durable_hash ^= line_hash(index, durable);
    line->settled += n;
    line->pending -= n;
    memmove(line->event, line->event + n, line->pending * sizeof(*line->event));
    memory->version++;
}

static void
settle(struct memory *memory, unsigned core)
{
    struct flushes *flushes = &memory->flushes[core];
    for (uint32_t i = 0; i < flushes->used; i++)
        settle_line(memory, flushes->of[i].line, flushes->of[i].upto);
    if (!flushes->used)
        return;
    flushes->used = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < memory->pending_used; i++) {
        struct line *line = &memory->line[memory->pending[i]];
        line->listed = line->pending != 0;
        if (line->listed)
            memory->pending[kept++] = memory->pending[i];
    }
    memory->pending_used = kept;
}

/* Whoever still needs what was in the segment shall find garbage. */
static void
poison_segment(struct memory *memory, uint64_t segment)
{
    uint64_t first = segment * SEGMENT_SIZE / LINE_SIZE, last = first + SEGMENT_SIZE / LINE_SIZE;
    memset(memory->live + segment * SEGMENT_SIZE, POISON, SEGMENT_SIZE);
    for (uint64_t i = first; i < last; i++) {
        struct line *line = &memory->line[i];
        memory->durable_hash ^= line_hash(i, memory->durable + i * LINE_SIZE);
        memset(memory->durable + i * LINE_SIZE, POISON, LINE_SIZE);
        memory->durable_hash ^= line_hash(i, memory->durable + i * LINE_SIZE);
        line->settled += line->pending;
        line->pending = 0;
    }
    memory->version++;
}

static bool
opens_segment(const struct memory *memory, uint64_t offset, uint64_t value)
{
    uint64_t words_end = SEGMENTS_OFFSET + memory->size / SEGMENT_SIZE * sizeof(uint64_t);
    uint64_t old;
    memcpy(&old, memory->live + offset, sizeof(old));
    return memory->tracked && offset >= SEGMENTS_OFFSET && offset < words_end && old == word_seal(SEGMENT_FREE) &&
           (value == word_seal(SEGMENT_RECORDS) || value == word_seal(SEGMENT_TABLE));
}

/* ---- persist.h ---- */

static uint64_t
offset_of(const struct memory *memory, const void *p, size_t len)
{
    uint64_t offset = (uint64_t)((const uint8_t *)p - memory->view);
    if (offset > memory->size || len > memory->size - offset)
        abort(); /* a store outside the pool */
    return offset;
}

static void
trace(const char *what, uint64_t offset, uint64_t value, const char *site)
{
    if (persist_trace && persist_listener.memory->traced)
        fprintf(persist_trace, "      core %u %-5s %#8lx %#lx %s\n", persist_listener.core, what, offset, value, site);
}

static void
tell(void (*hear)(void *))
{
    if (hear)
        hear(persist_listener.arg);
}

void
persist_copy(const void *dst, const void *src, size_t len)
{
    struct memory *memory = persist_listener.memory;
    uint64_t offset = offset_of(memory, dst, len), end = offset + len;
    tell(persist_listener.before);
    trace("copy", offset, len, src ? "" : "zeros");
    if (src)
        memcpy(memory->live + offset, src, len);
    else
        memset(memory->live + offset, 0, len);
    while (memory->tracked && offset < end) {
        uint64_t index = offset / LINE_SIZE, stop = (index + 1) * LINE_SIZE < end ? (index + 1) * LINE_SIZE : end;
        unsigned first = (unsigned)(offset % LINE_SIZE / 8), last = (unsigned)((stop - 1) % LINE_SIZE / 8);
        record_event(memory, index, (uint8_t)((2u << last) - (1u << first)), true);
        offset = stop;
    }
}

static void
store(struct memory *memory, uint64_t offset, uint64_t value)
{
    if (opens_segment(memory, offset, value))
        poison_segment(memory, (offset - SEGMENTS_OFFSET) / sizeof(uint64_t));
    memcpy(memory->live + offset, &value, sizeof(value));
    if (memory->tracked)
        record_event(memory, offset / LINE_SIZE, (uint8_t)(1u << offset % LINE_SIZE / 8), false);
}

void
persist_store(const uint64_t *dst, uint64_t value)
{
    struct memory *memory = persist_listener.memory;
    uint64_t offset = offset_of(memory, dst, sizeof(value));
    tell(persist_listener.before);
    trace("store", offset, value, "");
    store(memory, offset, value);
    tell(persist_listener.stored);
}

bool
persist_cas(const uint64_t *dst, uint64_t expected, uint64_t desired)
{
    struct memory *memory = persist_listener.memory;
    uint64_t offset = offset_of(memory, dst, sizeof(desired));
    tell(persist_listener.before);
    tell(persist_listener.ordered);
    settle(memory, persist_listener.core);
    trace("cas", offset, desired, *dst == expected ? "" : "lost");
    if (*dst != expected)
        return false;
    store(memory, offset, desired);
    tell(persist_listener.stored);
    return true;
}

void
persist_flush(const void *p, size_t len, enum persist_site site)
{
    struct memory *memory = persist_listener.memory;
    uint64_t offset = offset_of(memory, p, len);
    tell(persist_listener.before);
    trace("flush", offset, len, persist_site_name(site));
    if (!memory->tracked || site == persist_removed)
        return;
    struct flushes *flushes = &memory->flushes[persist_listener.core];
    for (uint64_t i = offset / LINE_SIZE; i <= (offset + len - 1) / LINE_SIZE; i++) {
        if (flushes->used == flushes->room) {
            flushes->room = flushes->room ? 2 * flushes->room : 64;
            flushes->of = realloc(flushes->of, flushes->room * sizeof(*flushes->of));
            if (!flushes->of)
                abort();
        }
        flushes->of[flushes->used++] = (struct flushed){(uint32_t)i, memory->line[i].settled + memory->line[i].pending};
    }
}

void
persist_fence(enum persist_site site)
{
    tell(persist_listener.before);
    trace("fence", 0, 0, persist_site_name(site));
    if (site == persist_removed)
        return;
    tell(persist_listener.ordered);
    settle(persist_listener.memory, persist_listener.core);
}

void
persist_yield(void)
{
    tell(persist_listener.before);
}

struct persist_counts
persist_counts(void)
{
    return (struct persist_counts){0, 0};
}
