/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as Redis reads and writes them: strict decimal integers, and long doubles without an exponent. Any thread.
 */
#ifndef DATAPLANE_RESP_NUMBER_H
#define DATAPLANE_RESP_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTEGER_TEXT_MAX 21        /* "-9223372036854775808" and a NUL */
#define REAL_TEXT_MAX    (5 << 10) /* LDBL_MAX has 4,933 digits */

/* The whole text is one integer in canonical form: no blanks, no '+', no leading zeros, in range. */
bool integer_parse(const void *text, size_t len, int64_t *value);
/* Returns the length; writes no NUL. */
unsigned integer_format(int64_t value, char text[INTEGER_TEXT_MAX]);

/* The whole text is one number as strtold takes it, without leading blanks; infinities are, NaN is not. */
bool real_parse(const void *text, size_t len, long double *value);
/* At most 17 digits behind the point, trailing zeros dropped. Returns the length; 0: does not fit. */
unsigned real_format(long double value, char text[REAL_TEXT_MAX]);

#endif
