/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients as others see them: names and descriptions. Thread: the client's core. */
#ifndef DATAPLANE_COMMAND_CLIENTS_H
#define DATAPLANE_COMMAND_CLIENTS_H

#include "dataplane/command/command.h"

#define REDIS_VERSION_SERVED "7.0.15" /* whose semantics the commands have; clients and tools look at it */

const char *client_name(const struct client *client); /* "" = none */

/* False: it has characters that would break CLIENT LIST, and the error has been replied. An empty name removes it. */
bool client_set_name(struct client *client, const struct slice *name);
void client_forget_name(struct client *client);

#endif
