/* SPDX-License-Identifier: BSD-3-Clause */
/* Building and checking records. */
#include "pmem/record.h"

#include <string.h>

#include "pmem/crc.h"
#include "pmem/persist.h"

/* Records up to this size are put together on the stack and copied at once. */
#define SMALL 512u

/* What the CRC does not cover: itself. */
#define CRC_SKIP sizeof(uint32_t)

struct prefix {
    struct record header;
    int64_t expire_ms;
};

static const uint8_t zeros[4096];

uint64_t
record_parts_len(const struct slice *part, unsigned parts)
{
    uint64_t len = 0;
    for (unsigned i = 0; i < parts; i++)
        len += part[i].len;
    return len;
}

/* Header and expiry, all but the CRC; returns how many bytes of it are used. */
static size_t
fill_prefix(struct prefix *prefix, const struct record_spec *spec, uint32_t vlen)
{
    uint64_t flags = spec->flags & ~RECORD_HAS_EXPIRY;
    if (spec->expire_ms)
        flags |= RECORD_HAS_EXPIRY;
    prefix->header.owner = spec->owner;
    prefix->header.klen = spec->klen;
    prefix->header.vlen = vlen;
    prefix->header.meta = spec->stamp | flags << STAMP_BITS | (uint64_t)spec->type << 60;
    prefix->expire_ms = spec->expire_ms;
    return sizeof(prefix->header) + (spec->expire_ms ? sizeof(prefix->expire_ms) : 0);
}

static void
write_small(const struct record *to, const struct record_spec *spec, const struct prefix *prefix, size_t used)
{
    uint8_t bytes[SMALL + UNIT_SIZE];
    struct record *record = (struct record *)(void *)bytes;
    memcpy(bytes, prefix, used);
    memcpy(bytes + used, spec->key, spec->klen);
    used += spec->klen;
    for (unsigned i = 0; i < spec->parts; i++) {
        if (spec->part[i].data)
            memcpy(bytes + used, spec->part[i].data, spec->part[i].len);
        else
            memset(bytes + used, 0, spec->part[i].len);
        used += spec->part[i].len;
    }
    record->crc = crc32c_end(crc32c_more(CRC32C_BEGIN, bytes + CRC_SKIP, used - CRC_SKIP));
    memset(bytes + used, 0, UNIT_SIZE);
    persist_copy(to, bytes, (used + UNIT_SIZE - 1) / UNIT_SIZE * UNIT_SIZE);
}

static uint32_t
crc_zeros(uint32_t crc, size_t len)
{
    for (; len > sizeof(zeros); len -= sizeof(zeros))
        crc = crc32c_more(crc, zeros, sizeof(zeros));
    return crc32c_more(crc, zeros, len);
}

static void
write_large(const struct record *to, const struct record_spec *spec, struct prefix *prefix, size_t used)
{
    uint32_t crc = crc32c_more(CRC32C_BEGIN, (const uint8_t *)prefix + CRC_SKIP, used - CRC_SKIP);
    crc = crc32c_more(crc, spec->key, spec->klen);
    for (unsigned i = 0; i < spec->parts; i++)
        crc = spec->part[i].data ? crc32c_more(crc, spec->part[i].data, spec->part[i].len)
                                 : crc_zeros(crc, spec->part[i].len);
    prefix->header.crc = crc32c_end(crc);
    const uint8_t *at = (const uint8_t *)to;
    persist_copy(at, prefix, used);
    persist_copy(at + used, spec->key, spec->klen);
    at += used + spec->klen;
    for (unsigned i = 0; i < spec->parts; i++) {
        persist_copy(at, spec->part[i].data, spec->part[i].len);
        at += spec->part[i].len;
    }
}

void
record_write(const struct record *to, const struct record_spec *spec)
{
    struct prefix prefix;
    uint64_t vlen = record_parts_len(spec->part, spec->parts);
    size_t used = fill_prefix(&prefix, spec, (uint32_t)vlen);
    if (used + spec->klen + vlen <= SMALL)
        write_small(to, spec, &prefix, used);
    else
        write_large(to, spec, &prefix, used);
}

bool
record_good(const struct record *record)
{
    const uint8_t *start = (const uint8_t *)record + CRC_SKIP, *end = record_value(record) + record->vlen;
    return crc32c_end(crc32c_more(CRC32C_BEGIN, start, (size_t)(end - start))) == record->crc;
}
