/* SPDX-License-Identifier: BSD-3-Clause */
/* Check sums over records (CRC32C) and the superblock (CRC64), by ISA-L. */
#ifndef PMEM_CRC_H
#define PMEM_CRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CRC32C in pieces: start with CRC32C_BEGIN, pass each result on, and crc32c_end gives the check value. */
#define CRC32C_BEGIN 0xffffffffu
uint32_t crc32c_more(uint32_t crc, const void *data, size_t len);
static inline uint32_t
crc32c_end(uint32_t crc)
{
    return ~crc;
}

/* CRC64 of ECMA-182 in reflected form (also known as CRC-64/XZ). */
uint64_t crc64(const void *data, size_t len);

/* The published check values come out. False: this machine or library must not be trusted with data. */
bool crc_self_test(void);

#endif
