/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that TYPE and OBJECT ENCODING give to what a key holds. Any thread. */
#ifndef DATAPLANE_COMMAND_TYPES_H
#define DATAPLANE_COMMAND_TYPES_H

#include "pmem/engine.h"

const char *type_name(uint8_t type); /* enum record_type */
const char *encoding_name(const struct entry *entry);

#endif
