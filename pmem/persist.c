/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores to persistent memory over libpmem, which picks clwb, clflushopt or clflush for this processor at start. */
#include "pmem/persist.h"

#include <libpmem.h>
#include <string.h>

#include "pmem/layout.h"

static __thread struct persist_counts counts;

/* The one place where the const of pool memory is taken away. */
static void *
writable(const void *p)
{
    return (void *)(uintptr_t)p;
}

void
persist_copy(const void *dst, const void *src, size_t len)
{
    if (src)
        pmem_memcpy(writable(dst), src, len, PMEM_F_MEM_NODRAIN | PMEM_F_MEM_NOFLUSH);
    else
        pmem_memset(writable(dst), 0, len, PMEM_F_MEM_NODRAIN | PMEM_F_MEM_NOFLUSH);
}

void
persist_store(const uint64_t *dst, uint64_t value)
{
    __atomic_store_n((uint64_t *)writable(dst), value, __ATOMIC_RELEASE);
}

bool
persist_cas(const uint64_t *dst, uint64_t expected, uint64_t desired)
{
    return __atomic_compare_exchange_n((uint64_t *)writable(dst), &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

void
persist_flush(const void *p, size_t len, enum persist_site site)
{
    (void)site;
    uintptr_t first = (uintptr_t)p / LINE_SIZE, last = ((uintptr_t)p + len - 1) / LINE_SIZE;
    counts.lines += last - first + 1;
    pmem_flush(p, len);
}

void
persist_fence(enum persist_site site)
{
    (void)site;
    counts.fences++;
    pmem_drain();
}

void
persist_yield(void)
{
}

struct persist_counts
persist_counts(void)
{
    return counts;
}
