/* SPDX-License-Identifier: BSD-3-Clause */
/* Records come back as they were written; a flipped bit anywhere in one shows. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "pmem/crc.h"
#include "pmem/record.h"

#define ROOM (4u << 20)

static uint8_t *
room(void)
{
    static uint8_t *memory;
    if (!memory)
        memory = aligned_alloc(LINE_SIZE, ROOM);
    memset(memory, 0xdb, ROOM);
    return memory;
}

static const struct record *
write_record(const struct record_spec *spec)
{
    const struct record *record = (const void *)room();
    record_write(record, spec);
    return record;
}

static void
checksums_are_the_published_ones(void)
{
    CU_ASSERT(crc_self_test());
    /* RFC 3720, appendix B.4: 32 bytes of zeros, of ones, rising. */
    uint8_t bytes[32] = {0};
    CU_ASSERT_EQUAL(crc32c_end(crc32c_more(CRC32C_BEGIN, bytes, 32)), 0x8a9136aau);
    memset(bytes, 0xff, 32);
    CU_ASSERT_EQUAL(crc32c_end(crc32c_more(CRC32C_BEGIN, bytes, 32)), 0x62a8ab43u);
    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    CU_ASSERT_EQUAL(crc32c_end(crc32c_more(CRC32C_BEGIN, bytes, 32)), 0x46dd794eu);
}

/* One record with a value of vlen bytes in three parts, the middle one zeros; all fields read back. */
static void
round_trip(uint32_t klen, uint32_t vlen, int64_t expire_ms)
{
    static uint8_t key[70000], value[3 << 20];
    for (uint32_t i = 0; i < klen; i++)
        key[i] = (uint8_t)(i * 7 + 1);
    for (uint32_t i = 0; i < vlen; i++)
        value[i] = (uint8_t)(i * 13 + 5);
    uint32_t first = vlen / 3, zeros = vlen / 3;
    memset(value + first, 0, zeros);
    struct slice part[] = {{value, first}, {NULL, zeros}, {value + first + zeros, vlen - first - zeros}};
    struct record_spec spec = {.owner = 77,
                               .klen = klen,
                               .key = key,
                               .part = part,
                               .parts = 3,
                               .type = RECORD_STRING,
                               .flags = RECORD_RAW,
                               .expire_ms = expire_ms,
                               .stamp = 0x12345678abcdefull};
    const struct record *record = write_record(&spec);
    uint64_t size = record_size(klen, vlen, expire_ms != 0);
    CU_ASSERT(record_fits(record, size));
    CU_ASSERT(!record_fits(record, size - UNIT_SIZE));
    CU_ASSERT(record_good(record));
    CU_ASSERT_EQUAL(record_total(record), size);
    CU_ASSERT_EQUAL(record->owner, 77);
    CU_ASSERT_EQUAL(record->klen, klen);
    CU_ASSERT_EQUAL(record->vlen, vlen);
    CU_ASSERT_EQUAL(record_type(record), RECORD_STRING);
    CU_ASSERT_EQUAL(record_flags(record), RECORD_RAW | (expire_ms ? RECORD_HAS_EXPIRY : 0));
    CU_ASSERT_EQUAL(record_stamp(record), 0x12345678abcdefull);
    CU_ASSERT_EQUAL(record_expire_ms(record), expire_ms);
    CU_ASSERT(memcmp(record_key(record), key, klen) == 0);
    CU_ASSERT(memcmp(record_value(record), value, vlen) == 0);
    CU_ASSERT_EQUAL(((const uint8_t *)record)[size], 0xdb); /* nothing was written behind it */
}

static void
fields_come_back(void)
{
    static const uint32_t lengths[] = {0,   1,   15,  16,  17,  128, 470, 471,  472,
                                       480, 481, 488, 489, 511, 512, 513, 4096, 20000};
    for (unsigned k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
        for (unsigned v = 0; v < sizeof(lengths) / sizeof(lengths[0]); v++) {
            round_trip(lengths[k], lengths[v], 0);
            round_trip(lengths[k], lengths[v], 1700000000123);
        }
    round_trip(65536, 1 << 20, 5);
}

static void
sizes_are_as_promised(void)
{
    CU_ASSERT_EQUAL(record_size(16, 128, false), 176);
    CU_ASSERT_EQUAL(record_size(0, 0, false), 32);
    CU_ASSERT_EQUAL(record_size(0, 0, true), 32);
    CU_ASSERT(record_size(UINT32_MAX, UINT32_MAX, true) > RECORD_MAX);
}

static void
flips_show(void)
{
    uint8_t value[100];
    memset(value, 0x5a, sizeof(value));
    struct slice part = {value, sizeof(value)};
    struct record_spec spec = {.owner = 1,
                               .klen = 3,
                               .key = "key",
                               .part = &part,
                               .parts = 1,
                               .type = RECORD_STRING,
                               .expire_ms = 99,
                               .stamp = 42};
    uint8_t *bytes = (uint8_t *)(uintptr_t)write_record(&spec);
    const struct record *record = (const void *)bytes;
    size_t used = sizeof(struct record) + 8 + 3 + sizeof(value), missed = 0;
    for (size_t bit = 0; bit < used * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        missed += record_fits(record, ROOM) && record_good(record);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CU_ASSERT_EQUAL(missed, 0);
    CU_ASSERT(record_good(record));
}

static void
zeros_are_no_record(void)
{
    uint8_t *bytes = room();
    memset(bytes, 0, 256);
    CU_ASSERT(!record_fits((const void *)bytes, ROOM));
    CU_ASSERT(!record_fits((const void *)bytes, 0));
}

static const struct unit_test tests[] = {
    {"checksums are the published ones", checksums_are_the_published_ones},
    {"fields come back", fields_come_back},
    {"sizes are as promised", sizes_are_as_promised},
    {"a flipped bit anywhere shows", flips_show},
    {"zeros are no record", zeros_are_no_record},
};

UNIT_MAIN("record", tests)
