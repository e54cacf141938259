/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of control/stats.h and control/window.h. */
#include "control/stats.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/window.h"
#include "tests/unit/control/scratch.h"
#include "tests/unit/unit.h"

#define PID 4711

static struct stats_snapshot newer, older;
static char path[64];

static struct stats_header *
good_header(void)
{
    static struct stats_header header;

    memset(&header, 0, sizeof(header));
    header.magic = STATS_MAGIC;
    header.version = STATS_VERSION;
    header.cores = 2;
    header.counters = COUNTERS;
    header.families = FAMILIES;
    header.pid = PID;
    header.tsc_hz = 1000000000;
    snprintf(header.address, sizeof(header.address), "10.0.0.1:6379");
    return &header;
}

static int
write_and_read(const struct stats_header *header, size_t size)
{
    FILE *file = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(header, 1, size, file), size);
    fclose(file);
    return stats_read(&newer, path, PID, 1234);
}

static void
a_bucket_contains_its_values(void)
{
    for (uint64_t ns = 0; ns < 100000; ns++) {
        unsigned bucket = stats_bucket(ns);
        if (stats_bucket_floor(bucket) > ns || stats_bucket_floor(bucket + 1) <= ns)
            CU_FAIL_FATAL("a value lies outside its bucket");
    }
    CU_ASSERT_EQUAL(stats_bucket(UINT64_MAX), STATS_BUCKETS - 1);
}

static void
percentiles_are_upper_edges(void)
{
    static struct stats_histogram histogram;

    memset(&histogram, 0, sizeof(histogram));
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 500), 0);
    histogram.count[stats_bucket(5)] = 1;
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 500), 5);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 999), 5);
    /* 989 of 1 us, 10 of 1 ms, 1 of 1 s. */
    memset(&histogram, 0, sizeof(histogram));
    histogram.count[stats_bucket(1000)] = 989;
    histogram.count[stats_bucket(1000000)] = 10;
    histogram.count[stats_bucket(1000000000)] = 1;
    CU_ASSERT_EQUAL(stats_count(&histogram), 1000);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 500), 1023);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 989), 1023);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 990), stats_bucket_floor(stats_bucket(1000000) + 1) - 1);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 999), stats_bucket_floor(stats_bucket(1000000) + 1) - 1);
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 1000), stats_bucket_floor(stats_bucket(1000000000) + 1) - 1);
    histogram.count[STATS_BUCKETS - 1] = 1000000;
    CU_ASSERT_EQUAL(stats_percentile(&histogram, 500), stats_bucket_floor(STATS_BUCKETS - 1));
}

/* Against sorting, on random samples: never below the true value, at most an eighth above. */
static void
percentiles_are_near_the_true_ones(void)
{
    enum { SAMPLES = 5000 };
    static const unsigned shares[] = {500, 900, 990, 999};
    static struct stats_histogram histogram;
    unsigned seed = 20240607, state = seed;
    uint64_t below, limit;
    static uint64_t samples[SAMPLES];

    printf("(seed %u) ", seed);
    memset(&histogram, 0, sizeof(histogram));
    for (unsigned i = 0; i < SAMPLES; i++) {
        samples[i] = (uint64_t)rand_r(&state) >> (rand_r(&state) % 24);
        histogram.count[stats_bucket(samples[i])]++;
    }
    for (unsigned i = 0; i < 4; i++) {
        limit = stats_percentile(&histogram, shares[i]);
        below = 0;
        for (unsigned s = 0; s < SAMPLES; s++)
            below += samples[s] <= limit;
        CU_ASSERT_TRUE(below * 1000 >= (uint64_t)SAMPLES * shares[i]);
        below = 0;
        for (unsigned s = 0; s < SAMPLES; s++)
            below += samples[s] < limit - limit / 8;
        CU_ASSERT_TRUE(below * 1000 < (uint64_t)SAMPLES * shares[i]);
    }
}

static void
differences_and_sums(void)
{
    static struct stats_core a, b, difference;

    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    a.counter[0] = 5;
    b.counter[0] = 12;
    a.counter[1] = 5; /* went back: never seen of one process, and no reason to print 2^64 */
    b.counter[1] = 4;
    a.commit.count[STATS_BUCKETS - 1] = 1;
    b.commit.count[STATS_BUCKETS - 1] = 3;
    stats_difference(&difference, &b, &a);
    CU_ASSERT_EQUAL(difference.counter[0], 7);
    CU_ASSERT_EQUAL(difference.counter[1], 0);
    CU_ASSERT_EQUAL(difference.commit.count[STATS_BUCKETS - 1], 2);
    stats_add(&difference, &b);
    CU_ASSERT_EQUAL(difference.counter[0], 19);
    CU_ASSERT_EQUAL(difference.commit.count[STATS_BUCKETS - 1], 5);
}

static void
a_good_file_is_read(void)
{
    struct stats_header *header = good_header();

    header->core[1].counter[COUNTER_commands] = 77;
    CU_ASSERT_EQUAL(write_and_read(header, sizeof(*header)), 0);
    CU_ASSERT_EQUAL(newer.taken_ms, 1234);
    CU_ASSERT_EQUAL(newer.header.core[1].counter[COUNTER_commands], 77);
    CU_ASSERT_STRING_EQUAL(newer.header.address, "10.0.0.1:6379");
    /* The blocks of the cores there are suffice. */
    CU_ASSERT_EQUAL(write_and_read(header, offsetof(struct stats_header, core[2])), 0);
}

static void
files_that_are_not_ours_are_refused(void)
{
    struct stats_header *header = good_header();
    struct stats_snapshot *before = malloc(sizeof(*before));

    CU_ASSERT_EQUAL(write_and_read(header, sizeof(*header)), 0);
    *before = newer;
#define REFUSED(field, value, code)                                 \
    header = good_header();                                         \
    header->field = (value);                                        \
    CU_ASSERT_EQUAL(write_and_read(header, sizeof(*header)), code); \
    CU_ASSERT_EQUAL(memcmp(before, &newer, sizeof(newer)), 0)
    REFUSED(magic, STATS_MAGIC + 1, -EBADMSG);
    REFUSED(version, STATS_VERSION + 1, -EBADMSG);
    REFUSED(counters, COUNTERS - 1, -EBADMSG);
    REFUSED(families, FAMILIES + 1, -EBADMSG);
    REFUSED(cores, 0, -EBADMSG);
    REFUSED(cores, STATS_CORES + 1, -EBADMSG);
    REFUSED(pid, PID + 1, -ESRCH);
#undef REFUSED
    header = good_header();
    CU_ASSERT_EQUAL(write_and_read(header, 0), -EBADMSG);
    CU_ASSERT_EQUAL(write_and_read(header, 100), -EBADMSG);
    CU_ASSERT_EQUAL(write_and_read(header, offsetof(struct stats_header, core[2]) - 1), -EBADMSG);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(stats_read(&newer, path, PID, 1), -ENOENT);
    free(before);
}

static double
number(json_t *report, const char *outer, const char *name, const char *inner)
{
    json_t *value = json_object_get(json_object_get(report, outer), name);

    return json_number_value(json_object_get(value, inner));
}

static void
the_report_has_rates_between_two_snapshots(void)
{
    json_t *report, *core;

    older.header = *good_header();
    older.taken_ms = 1000;
    older.header.core[0].counter[COUNTER_commands] = 100;
    older.header.core[0].latency[FAMILY_READ].count[stats_bucket(1 << 30)] = 1000;
    newer = older;
    newer.taken_ms = 3000;
    newer.header.core[0].counter[COUNTER_commands] += 600;
    newer.header.core[0].counter[COUNTER_busy_cycles] += 3000;
    newer.header.core[0].counter[COUNTER_idle_cycles] += 1000;
    newer.header.core[1].counter[COUNTER_commands] += 400;
    newer.header.core[0].counter[COUNTER_drop_net_FRAGMENT] += 10;
    newer.header.core[1].counter[COUNTER_drop_net_FRAGMENT] += 4;
    newer.header.core[0].latency[FAMILY_READ].count[stats_bucket(7)] += 10;
    report = stats_report(&newer, &older);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(report, "seconds")), 2.0);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(report, "ops")), 500.0);
    core = json_array_get(json_object_get(report, "cores"), 0);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(core, "ops")), 300.0);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(core, "idle_share")), 0.25);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(core, "cycles_per_command")), 5.0);
    core = json_array_get(json_object_get(report, "cores"), 1);
    CU_ASSERT_TRUE(json_is_null(json_object_get(core, "idle_share")));
    CU_ASSERT_EQUAL(number(report, "drops", "net_FRAGMENT", "total"), 14);
    CU_ASSERT_EQUAL(number(report, "drops", "net_FRAGMENT", "per_second"), 7);
    CU_ASSERT_EQUAL(number(report, "counters", "commands", "total"), 1100);
    /* What happened before the older snapshot has no part in the percentiles. */
    CU_ASSERT_EQUAL(number(report, "families", "read", "per_second"), 5);
    CU_ASSERT_EQUAL(number(report, "families", "read", "p99.9_ns"), 7);
    json_decref(report);
}

static void
the_window_moves_by_seconds_and_forgets_a_dead_process(void)
{
    static struct window window;
    json_t *report;

    newer.header = *good_header();
    newer.taken_ms = 5000;
    window_add(&window, &newer);
    newer.taken_ms = 5400;
    newer.header.core[0].counter[COUNTER_commands] = 40;
    window_add(&window, &newer);
    CU_ASSERT_EQUAL(window.newer.taken_ms, 5000);
    report = window_report(&window, &newer); /* nothing better yet than what is seen now */
    CU_ASSERT_EQUAL(json_number_value(json_object_get(report, "ops")), 100.0);
    json_decref(report);
    newer.taken_ms = 6000;
    newer.header.core[0].counter[COUNTER_commands] = 200;
    window_add(&window, &newer);
    CU_ASSERT_EQUAL(window.older.taken_ms, 5000);
    CU_ASSERT_EQUAL(window.newer.taken_ms, 6000);
    newer.taken_ms = 6900;
    window_add(&window, &newer);
    report = window_report(&window, &newer);
    CU_ASSERT_EQUAL(json_number_value(json_object_get(report, "ops")), 200.0);
    json_decref(report);
    newer.header.pid++;
    newer.header.core[0].counter[COUNTER_commands] = 3;
    window_add(&window, &newer);
    CU_ASSERT_EQUAL(window.older.taken_ms, 6900);
    CU_ASSERT_EQUAL(window.older.header.core[0].counter[COUNTER_commands], 3);
}

static const struct unit_test tests[] = {
    {"a bucket contains its values", a_bucket_contains_its_values},
    {"percentiles are upper edges", percentiles_are_upper_edges},
    {"percentiles are near the true ones", percentiles_are_near_the_true_ones},
    {"differences and sums", differences_and_sums},
    {"a good file is read", a_good_file_is_read},
    {"files that are not ours are refused", files_that_are_not_ours_are_refused},
    {"the report has rates between two snapshots", the_report_has_rates_between_two_snapshots},
    {"the window moves by seconds", the_window_moves_by_seconds_and_forgets_a_dead_process},
};

int
main(void)
{
    int failed;

    if (!scratch_make())
        return 1;
    snprintf(path, sizeof(path), "%s/stats", scratch);
    failed = unit_main("control/stats", tests, sizeof(tests) / sizeof(tests[0]));
    scratch_remove();
    return failed;
}
