/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/dataplane/command/harness.h"
#include "tests/unit/unit.h"
static void
integers(void)
{
    static const struct exchange rows[] = {
        {"INCR n", ":1\r\n"},
        {"INCRBY n 41", ":42\r\n"},
        {"DECR n", ":41\r\n"},
        {"DECRBY n 40", ":1\r\n"},
        {"DECRBY n -9223372036854775808", "-ERR decrement would overflow\r\n"},
        {"GET n", "$1\r\n1\r\n"},
        {"SET n 9223372036854775807", "+OK\r\n"},
        {"INCR n", "-ERR increment or decrement would overflow\r\n"},
        {"GET n", "$19\r\n9223372036854775807\r\n"},
        {"SET n -9223372036854775808", "+OK\r\n"},
        {"DECR n", "-ERR increment or decrement would overflow\r\n"},
        {"DECRBY n 1", "-ERR increment or decrement would overflow\r\n"},
        {"SET n \" 11\"", "+OK\r\n"},
        {"INCR n", "-ERR value is not an integer or out of range\r\n"},
        {"GET n", "$3\r\n 11\r\n"},
        {"SET n \"\"", "+OK\r\n"},
        {"INCR n", "-ERR value is not an integer or out of range\r\n"},
        {"INCRBY n x", "-ERR value is not an integer or out of range\r\n"},
        {"SET n 10 EX 100", "+OK\r\n"},
        {"INCR n", ":11\r\n"},
        {"TTL n", ":100\r\n"},
        {"INCRBY m 9223372036854775807", ":9223372036854775807\r\n"},
        {"INCRBY m 1", "-ERR increment or decrement would overflow\r\n"},
        {"INCRBY m 9223372036854775808", "-ERR value is not an integer or out of range\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static void
reals(void)
{
    static const struct exchange rows[] = {
        {"INCRBYFLOAT f 10.50", "$4\r\n10.5\r\n"},
        {"INCRBYFLOAT f 0.1", "$4\r\n10.6\r\n"},
        {"INCRBYFLOAT f -5", "$3\r\n5.6\r\n"},
        {"SET f 5.0e3", "+OK\r\n"},
        {"INCRBYFLOAT f 2.0e2", "$4\r\n5200\r\n"},
        {"INCRBYFLOAT f abc", "-ERR value is not a valid float\r\n"},
        {"INCRBYFLOAT f +inf", "-ERR increment would produce NaN or Infinity\r\n"},
        {"GET f", "$4\r\n5200\r\n"},
        {"SET f abc", "+OK\r\n"},
        {"INCRBYFLOAT f 1", "-ERR value is not a valid float\r\n"},
        {"INCRBYFLOAT g +inf", "-ERR increment would produce NaN or Infinity\r\n"},
        {"EXISTS g", ":0\r\n"},
        {"SET f 1 EX 9", "+OK\r\n"},
        {"INCRBYFLOAT f 1", "$1\r\n2\r\n"},
        {"TTL f", ":9\r\n"},
    };
    struct harness *h = harness_open(HARNESS_POOL);
    TALK(h, harness_connect(h), rows);
    harness_close(h);
}

static const struct unit_test tests[] = {
    {"integers", integers},
    {"reals", reals},
};
UNIT_MAIN("counters", tests)
