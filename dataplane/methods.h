/* SPDX-License-Identifier: BSD-3-Clause */
/* The dataplane's JSON-RPC methods; rpc/rpc.h lists them. The context of each is the struct server. */
#ifndef DATAPLANE_METHODS_H
#define DATAPLANE_METHODS_H

#include "dataplane/rpc/rpc.h"

extern const struct rpc_method dataplane_methods[];

#endif
