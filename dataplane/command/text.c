/* SPDX-License-Identifier: BSD-3-Clause */
/* Long texts. */
#include "dataplane/command/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "dataplane/resp/reply.h"

#define LINE_MAX_BYTES 4096

void
text_printf(struct bytes *text, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (len > 0)
        bytes_append(text, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

void
text_reply(struct client *client, struct bytes *text)
{
    reply_verbatim(client, "txt", text->len ? (const char *)bytes_data(text) : "", text->len);
    bytes_free(text);
}

const char *
text_human(uint64_t bytes, char buffer[32])
{
    static const char unit[] = "BKMGTP";
    unsigned n = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit[n + 1] != '\0') {
        value /= 1024;
        n++;
    }
    if (n == 0)
        snprintf(buffer, 32, "%luB", (unsigned long)bytes);
    else
        snprintf(buffer, 32, "%.2f%c", value, unit[n]);
    return buffer;
}
