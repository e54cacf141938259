/* SPDX-License-Identifier: BSD-3-Clause */
/* Long texts, built line by line before they are replied. */
#ifndef DATAPLANE_COMMAND_TEXT_H
#define DATAPLANE_COMMAND_TEXT_H

#include "dataplane/bytes.h"

struct client;

/* Appends; a line is at most 4 KiB long, longer ones are cut. */
void text_printf(struct bytes *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As "txt", and free it. */
void text_reply(struct client *client, struct bytes *text);
/* "1.50M", as INFO shows bytes to people. */
const char *text_human(uint64_t bytes, char buffer[32]);

#endif
