/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies in a pool, byte for byte.
 *
 *   segment 0 ..      superblock (two copies), ROOTS word, one state word a segment
 *   other segments    records (appended front to back) or table pages and directories (cut in 16 KiB pages)
 *
 * Everything is little-endian. An OFFSET is a distance in bytes from the start of the pool; inside a word it is
 * counted in units of 16 bytes, so 40 bits reach 16 TiB.
 *
 * The geometry is in macros so that the crash simulator can build the same engine with segments of a few KiB and
 * reach growth, compaction and reuse within a few dozen operations.
 */
#ifndef PMEM_LAYOUT_H
#define PMEM_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define LINE_SIZE 64u /* what a flush writes back */
#define UNIT_SIZE 16u /* granularity of record offsets */

#ifndef SEGMENT_SIZE
#define SEGMENT_SIZE (2u << 20) /* one huge page */
#endif
#ifndef PAGE_SIZE_TABLE
#define PAGE_SIZE_TABLE (16u << 10)
#endif
#ifndef PAGE_HOMES
#define PAGE_HOMES 192u /* home buckets a page; even, so that a bucket splits into exactly two */
#endif

#define PAGE_LINES        (PAGE_SIZE_TABLE / LINE_SIZE)
#define PAGE_HEADER_LINES 4u /* keeps groups of four buckets on one 256-byte media block */
#define PAGE_STASHES      (PAGE_LINES - PAGE_HEADER_LINES - PAGE_HOMES)
#define BUCKET_SLOTS      7u
#define DATABASES         16u
#define MAX_CORES         32u

/*
 * STAMP: core (8 bits) and batch (48 bits) of the batch that published a record or deleted a key. A batch number
 * never repeats in the life of a pool, across boots too.
 */
#define STAMP_BATCH_BITS 48u
#define STAMP_BITS       56u

/* A record: immutable once published. header, [expiry], key, value, padding to UNIT_SIZE. */
struct record {
    uint32_t crc;   /* CRC32C (Castagnoli) of all that follows, up to the end of the value */
    uint32_t owner; /* id of the table that points here */
    uint32_t klen;
    uint32_t vlen;
    uint64_t meta; /* stamp (56) | RECORD_* flags (4) << 56 | enum record_type (4) << 60 */
    uint8_t body[];
};
static_assert(sizeof(struct record) == 24, "a 16-byte key and a 128-byte value fit in 176 bytes");

enum record_type {
    RECORD_NONE = 0, /* never written: zeroed space reads as this */
    RECORD_STRING = 1,
    RECORD_ROOTS = 15,
};
#define RECORD_HAS_EXPIRY 0x1u /* body starts with the expiry: absolute, ms since the epoch, 8 bytes */
#define RECORD_RAW        0x2u /* OBJECT ENCODING says raw: the value was built by APPEND or SETRANGE */

struct bucket {
    uint64_t slot[BUCKET_SLOTS]; /* words, see word.h */
    uint64_t control;            /* MOVED | line of the next bucket of the chain, 0 = none; see word.h */
};
static_assert(sizeof(struct bucket) == LINE_SIZE, "a bucket is a line");

/* The first line of a table page. Line 1 repeats it; lines 2 and 3 are spare. */
struct page_header {
    uint32_t magic;
    uint32_t owner;    /* id of the table */
    uint32_t depth;    /* number of leading hash bits that all keys here share */
    uint32_t crc;      /* CRC32C of magic, owner, depth, prefix */
    uint64_t prefix;   /* those bits, left-aligned */
    uint64_t child[2]; /* offsets of the pages this one is being split into, as words; 0 = no split begun */
    uint64_t spare[3];
};
static_assert(sizeof(struct page_header) == LINE_SIZE, "a page header is a line");
#define PAGE_MAGIC 0x45474150u /* "PAGE" */

struct page {
    struct page_header header;
    struct bucket spare[PAGE_HEADER_LINES - 1];
    struct bucket home[PAGE_HOMES];
    struct bucket stash[PAGE_STASHES];
};
static_assert(sizeof(struct page) == PAGE_SIZE_TABLE, "lines fill the page");

/* The value of the RECORD_ROOTS record that the superblock's ROOTS word points to. */
struct root {
    uint64_t directory; /* offset of the directory: 2^depth words, each the offset of a page; 0 = empty database */
    uint32_t depth;
    uint32_t id; /* id of the table; 0 = empty database */
};
struct roots {
    struct root db[DATABASES];
    uint64_t next_id;
};

enum segment_kind { SEGMENT_FREE = 0, SEGMENT_SYSTEM = 1, SEGMENT_RECORDS = 2, SEGMENT_TABLE = 3 };

/*
 * Superblock: copy 0 at offset 0, copy 1 at SUPERBLOCK_COPY. Written copy by copy, signature last; the newest copy
 * whose CRC64 is right counts. The ROOTS word and the segment words live once, behind the copies.
 */
#define SUPERBLOCK_MAGIC  0x313058554c4c4f50ULL /* "POLLUX01" */
#define LAYOUT_VERSION    1u
#define SUPERBLOCK_COPY   2048u
#define ROOTS_OFFSET      4096u /* the ROOTS word, alone on its line */
#define SEGMENTS_OFFSET   4160u /* segment words: kind | check, 8 bytes a segment */
#define SUPERBLOCK_LITTLE 0x01020304u

struct superblock {
    uint64_t magic;
    uint32_t version;
    uint32_t endian; /* SUPERBLOCK_LITTLE as this machine writes it */
    uint64_t compatible;
    uint64_t read_only;
    uint64_t incompatible;
    uint8_t uuid[16];
    uint64_t size;         /* bytes */
    uint32_t segment_size; /* geometry, so that a pool of another build is refused */
    uint32_t page_size;
    uint32_t page_homes;
    uint32_t reserved;
    uint8_t hash_key[16]; /* SipHash key, random, never exposed */
    uint64_t stamp_limit; /* batch numbers below this are reserved by this boot or an earlier one */
    uint64_t generation;  /* grows with each rewrite: tells the newer copy */
    uint64_t clean;       /* 1 after an orderly close */
    uint64_t dirty_shutdowns;
    uint64_t created_ms;
    uint64_t crc; /* CRC64 (ISA-L, ECMA) of all before it */
};
static_assert(sizeof(struct superblock) <= SUPERBLOCK_COPY, "a copy fits before the next");

#endif
