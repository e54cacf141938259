/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which persistence domain a mapped file is in, told honestly: what the kernel says of the nvdimm region under it,
 * not what the file system or an environment variable makes libpmem believe.
 */
#ifndef PMEM_DOMAIN_H
#define PMEM_DOMAIN_H

#include <stdbool.h>

#include "pmem/engine.h"

/*
 * path: the file or the device DAX node. is_pmem: libpmem's verdict on the mapping: stores go to the media without a
 * page cache between. sysfs: "/sys", or a copy of its structure in tests. Doubt is answered with DOMAIN_EMULATED.
 */
enum persistence_domain domain_detect(const char *path, bool is_pmem, const char *sysfs);

/* The same for a device number; character devices are device DAX nodes. */
enum persistence_domain domain_of_device(bool character, unsigned major, unsigned minor, bool is_pmem,
                                         const char *sysfs);

#endif
