/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole connections over the wire: clean, lossy, with and without options, slow readers; many seeds. */
#include "tests/unit/dataplane/tcp/wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

#define SECOND 1000000ull

static struct wire wire;

/* Run one seed; a fault is printed with the seed that shows it. */
static void
run(const struct wire_options *options, uint64_t seed, uint64_t limit_us)
{
    bool whole = wire_run(&wire, options, seed, limit_us);

    if (!whole)
        fprintf(stderr, "seed %llu: %s at %llu us (read %llu of %llu, %llu of %llu; states %d %d)\n",
                (unsigned long long)seed, wire.fault, (unsigned long long)wire.now_us,
                (unsigned long long)wire.end[1].read, (unsigned long long)options->send[0],
                (unsigned long long)wire.end[0].read, (unsigned long long)options->send[1], wire.end[0].conn.state,
                wire.end[1].conn.state);
    CU_ASSERT(whole);
}

static void
test_clean(void)
{
    struct wire_options options;

    wire_options_default(&options);
    run(&options, 1, 60 * SECOND);
    CU_ASSERT_EQUAL(wire.end[0].counters.retransmits, 0);
    CU_ASSERT_EQUAL(wire.end[1].counters.retransmits, 0);
    CU_ASSERT_EQUAL(wire.end[0].counters.timeouts, 0);
    CU_ASSERT_EQUAL(wire.end[1].counters.opened, 1);
    CU_ASSERT_EQUAL(wire.end[1].counters.closed, 1);
}

static void
test_lossy(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        wire_options_default(&options);
        options.drop = (unsigned)(seed * 7 % 200);
        options.duplicate = (unsigned)(seed * 3 % 100);
        options.reorder = (unsigned)(seed * 11 % 300);
        options.send[0] = seed * 997;
        options.send[1] = seed * 1499;
        run(&options, seed, 3600 * SECOND);
    }
}

static const struct unit_test tests[] = {
    {"clean", test_clean},
    {"lossy", test_lossy},
};
UNIT_MAIN("dataplane/tcp over a wire", tests)
