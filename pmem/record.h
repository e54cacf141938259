/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records: what a word points to. header, [expiry], key, value (layout.h), immutable once published, and checked by
 * a CRC32C that covers all of it but the padding.
 *
 * Building one: size it, get room from space_append, record_write, persist_flush; the caller's fence or CAS makes it
 * durable before it is published. Accessors are for records whose header can be trusted: record_fits first where the
 * memory may hold anything.
 */
#ifndef PMEM_RECORD_H
#define PMEM_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "pmem/engine.h"
#include "pmem/layout.h"

struct record_spec {
    uint32_t owner; /* id of the table */
    uint32_t klen;
    const void *key;
    const struct slice *part; /* the value is their concatenation; data NULL stands for zeros */
    unsigned parts;
    uint8_t type;      /* enum record_type */
    uint8_t flags;     /* RECORD_RAW; RECORD_HAS_EXPIRY follows from expire_ms */
    int64_t expire_ms; /* 0 = never */
    uint64_t stamp;
};

/* The largest record that a segment takes. */
#define RECORD_MAX SEGMENT_SIZE

/* Bytes in the pool, a multiple of UNIT_SIZE; above RECORD_MAX where it does not fit a segment. */
static inline uint64_t
record_size(uint64_t klen, uint64_t vlen, bool has_expiry)
{
    uint64_t bytes = sizeof(struct record) + (has_expiry ? sizeof(int64_t) : 0) + klen + vlen;
    return (bytes + UNIT_SIZE - 1) / UNIT_SIZE * UNIT_SIZE;
}

/* The length of the value that the parts make. */
uint64_t record_parts_len(const struct slice *part, unsigned parts);

/* Write the record that spec describes to the pool at `to`; record_size says how much room it needs. Not flushed. */
void record_write(const struct record *to, const struct record_spec *spec);

static inline bool
record_has_expiry(const struct record *record)
{
    return record->meta >> STAMP_BITS & RECORD_HAS_EXPIRY;
}

static inline uint32_t
record_total(const struct record *record)
{
    return (uint32_t)record_size(record->klen, record->vlen, record_has_expiry(record));
}

/* The header is not empty, and its lengths stay within room bytes. Says nothing of the content: see record_good. */
static inline bool
record_fits(const struct record *record, uint64_t room)
{
    return room >= sizeof(*record) && record->meta >> 60 != RECORD_NONE &&
           record_size(record->klen, record->vlen, record_has_expiry(record)) <= room;
}

/* The CRC is right. Only for records that fit. */
bool record_good(const struct record *record);

static inline uint64_t
record_stamp(const struct record *record)
{
    return record->meta & ((1ull << STAMP_BITS) - 1);
}

static inline uint8_t
record_type(const struct record *record)
{
    return (uint8_t)(record->meta >> 60);
}

static inline uint8_t
record_flags(const struct record *record)
{
    return record->meta >> STAMP_BITS & 0xf;
}

/* Absolute, ms since the epoch; 0 = never. */
static inline int64_t
record_expire_ms(const struct record *record)
{
    return record_has_expiry(record) ? *(const int64_t *)(const void *)record->body : 0;
}

static inline const uint8_t *
record_key(const struct record *record)
{
    return record->body + (record_has_expiry(record) ? sizeof(int64_t) : 0);
}

static inline const uint8_t *
record_value(const struct record *record)
{
    return record_key(record) + record->klen;
}

#endif
