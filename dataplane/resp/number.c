/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as Redis reads and writes them. */
#include "dataplane/resp/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
integer_parse(const void *text, size_t len, int64_t *value)
{
    const char *p = text;
    if (len == 1 && p[0] == '0') {
        *value = 0;
        return true;
    }
    bool negative = len > 0 && p[0] == '-';
    size_t i = negative;
    if (len == i || len > 20 || p[i] < '1' || p[i] > '9')
        return false;
    uint64_t magnitude = 0;
    for (; i < len; i++) {
        unsigned digit = (unsigned)(p[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(magnitude, 10, &magnitude) ||
            __builtin_add_overflow(magnitude, digit, &magnitude))
            return false;
    }
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

unsigned
integer_format(int64_t value, char text[INTEGER_TEXT_MAX])
{
    char reversed[INTEGER_TEXT_MAX];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned digits = 0;
    do
        reversed[digits++] = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    unsigned len = 0;
    if (value < 0)
        text[len++] = '-';
    while (digits > 0)
        text[len++] = reversed[--digits];
    return len;
}

bool
real_parse(const void *text, size_t len, long double *value)
{
    char copy[REAL_TEXT_MAX];
    if (len == 0 || len >= sizeof(copy))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *end;
    errno = 0;
    *value = strtold(copy, &end);
    if (isspace((unsigned char)copy[0]) || end != copy + len || isnan(*value))
        return false;
    return !(errno == ERANGE && (isinf(*value) || fpclassify(*value) == FP_ZERO));
}

unsigned
real_format(long double value, char text[REAL_TEXT_MAX])
{
    if (isinf(value)) {
        memcpy(text, value > 0 ? "inf" : "-inf", value > 0 ? 3 : 4);
        return value > 0 ? 3 : 4;
    }
    int written = snprintf(text, REAL_TEXT_MAX, "%.17Lf", value);
    if (written < 0 || written >= REAL_TEXT_MAX)
        return 0;
    unsigned len = (unsigned)written;
    if (memchr(text, '.', len)) {
        while (text[len - 1] == '0')
            len--;
        if (text[len - 1] == '.')
            len--;
    }
    if (len == 2 && text[0] == '-' && text[1] == '0') {
        text[0] = '0';
        len = 1;
    }
    return len;
}
