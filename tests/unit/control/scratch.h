/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for one test program's files. */
#ifndef TESTS_UNIT_CONTROL_SCRATCH_H
#define TESTS_UNIT_CONTROL_SCRATCH_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch[] = "/tmp/pollux-test.XXXXXX";

static inline bool
scratch_make(void)
{
    return mkdtemp(scratch) != NULL;
}

static inline int
scratch_remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static inline void
scratch_remove(void)
{
    nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
