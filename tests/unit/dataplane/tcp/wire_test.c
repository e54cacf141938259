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

/* Loss, duplicates and reordering that grow with the seed; up to `bytes` each way. */
static void
make_lossy(struct wire_options *options, uint64_t seed, uint64_t bytes)
{
    options->drop = (unsigned)(seed * 7 % 200);
    options->duplicate = (unsigned)(seed * 3 % 100);
    options->reorder = (unsigned)(seed * 11 % 300);
    options->send[0] = seed * 7919 % bytes;
    options->send[1] = seed * 104729 % bytes;
}

static void
test_lossy(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        wire_options_default(&options);
        make_lossy(&options, seed, 400000);
        run(&options, seed, 3600 * SECOND);
    }
}

static void
test_options_absent(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 256; seed++) {
        wire_options_default(&options);
        make_lossy(&options, seed, 100000);
        options.no_ts = seed & 1;
        options.no_sack = seed & 2;
        options.no_wscale = seed & 4;
        options.syn_mss = seed & 8 ? 1 : seed & 16 ? 536 : 0;
        run(&options, seed, 3600 * SECOND);
        CU_ASSERT_EQUAL(wire.end[1].conn.use_ts, !options.no_ts);
        CU_ASSERT_EQUAL(wire.end[1].conn.use_sack, !options.no_sack);
        CU_ASSERT_EQUAL(wire.end[1].conn.use_wscale, !options.no_wscale);
    }
}

/* Readers that take little at a time, from small windows: they close and open all the time. */
static void
test_slow_readers(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        wire_options_default(&options);
        make_lossy(&options, seed, 60000);
        options.drop /= 4;
        for (unsigned i = 0; i < 2; i++) {
            options.config[i].receive_window = 500 + (uint32_t)(seed * (i + 1) * 613 % 9000);
            options.read_max[i] = 1 + (uint32_t)(seed * 37 % 700);
            options.read_every_us[i] = (uint32_t)(seed * 97 % 3000);
        }
        run(&options, seed, 3600 * SECOND);
    }
}

/* A reader that stops for a minute: probes keep the connection, nothing is lost. */
static void
test_reader_pauses(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        wire_options_default(&options);
        options.drop = seed % 2 ? 50 : 0;
        options.config[0].receive_window = 20000;
        options.send[0] = 1000;
        options.read_every_us[0] = 60 * SECOND;
        run(&options, seed, 36000 * SECOND);
        CU_ASSERT_EQUAL(wire.end[1].counters.resets, 0);
    }
}

/* A value larger than the usual window arrives whole when the protocol wants it. */
static void
test_large_value(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        wire_options_default(&options);
        options.drop = (unsigned)(seed % 3 * 10);
        options.config[1].receive_window = 64u << 10;
        options.want[1] = 1u << 20;
        options.send[0] = 4u << 20;
        options.send[1] = 5;
        run(&options, seed, 3600 * SECOND);
    }
}

static void
test_simultaneous_close(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        wire_options_default(&options);
        make_lossy(&options, seed, 3000);
        options.close_first[1] = true;
        run(&options, seed, 3600 * SECOND);
    }
}

/* Losses are repaired without waiting for the timer when enough follows them. */
static void
test_fast_recovery(void)
{
    struct wire_options options;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        wire_options_default(&options);
        options.drop = 10;
        options.no_sack = seed % 4 == 0;
        options.send[0] = 0;
        options.send[1] = 4u << 20;
        run(&options, seed, 3600 * SECOND);
        CU_ASSERT(wire.end[1].counters.retransmits >= 10);
        CU_ASSERT(wire.end[1].counters.timeouts * 5 <= wire.end[1].counters.retransmits);
    }
}

static const struct unit_test tests[] = {
    {"clean", test_clean},
    {"lossy", test_lossy},
    {"options absent", test_options_absent},
    {"slow readers", test_slow_readers},
    {"reader pauses", test_reader_pauses},
    {"large value", test_large_value},
    {"simultaneous close", test_simultaneous_close},
    {"fast recovery", test_fast_recovery},
};
UNIT_MAIN("dataplane/tcp over a wire", tests)
