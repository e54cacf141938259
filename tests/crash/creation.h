/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The creation of a pool on a device, interrupted at each fence: there is none yet, or a whole one. Then an
 * open that is killed, and another one: the superblock stays whole.
 */
#ifndef TESTS_CRASH_CREATION_H
#define TESTS_CRASH_CREATION_H

#include "tests/crash/world.h"

void creation_run(uint64_t seed, void (*met)(uint64_t hash), struct outcome *outcome);

#endif
