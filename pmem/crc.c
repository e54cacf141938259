/* SPDX-License-Identifier: BSD-3-Clause */
/* Check sums by ISA-L, which picks its implementation for this processor at the first call. */
#include "pmem/crc.h"

#include <isa-l/crc.h>
#include <isa-l/crc64.h>
#include <string.h>

#define PIECE (1u << 30) /* crc32_iscsi takes an int */

uint32_t
crc32c_more(uint32_t crc, const void *data, size_t len)
{
    /* ISA-L's prototype lacks the const; it only reads. */
    unsigned char *p = (unsigned char *)(uintptr_t)data;
    for (; len > PIECE; p += PIECE, len -= PIECE)
        crc = crc32_iscsi(p, PIECE, crc);
    return crc32_iscsi(p, (int)len, crc);
}

uint64_t
crc64(const void *data, size_t len)
{
    return crc64_ecma_refl(0, data, len);
}

bool
crc_self_test(void)
{
    static const char check[] = "123456789";
    size_t len = strlen(check);
    uint32_t whole = crc32c_more(CRC32C_BEGIN, check, len);
    uint32_t parts = crc32c_more(crc32c_more(CRC32C_BEGIN, check, 4), check + 4, len - 4);
    return crc32c_end(whole) == 0xe3069283u && parts == whole && crc64(check, len) == 0x995dc9bbdf1939faull;
}
