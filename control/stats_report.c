/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of the `stats` method: totals since the start, rates and percentiles between two snapshots. */
#include "control/stats.h"

#include <stdbool.h>
#include <string.h>

static const struct counter_text {
    const char *name, *what;
} counter_texts[COUNTERS] = {
#define COUNTER(name, what) {#name, what},
#include "dataplane/stats/counters.def"
#undef COUNTER
};

static const char *const family_names[FAMILIES] = {
#define FAMILY(name, text) text,
#include "dataplane/stats/families.def"
#undef FAMILY
};

static const char drop_prefix[] = "drop_";

static double
per_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

/* Part of the time that the loop found no work; null when the core reported no time at all. */
static json_t *
idle_share(const struct stats_core *passed)
{
    double idle = (double)passed->counter[COUNTER_idle_cycles], busy = (double)passed->counter[COUNTER_busy_cycles];

    return idle + busy > 0 ? json_real(idle / (idle + busy)) : json_null();
}

/* Cycles of iterations that found work, a command. */
static json_t *
cycles_per_command(const struct stats_core *passed)
{
    uint64_t commands = passed->counter[COUNTER_commands];

    return commands > 0 ? json_real((double)passed->counter[COUNTER_busy_cycles] / (double)commands) : json_null();
}

static json_t *
report_times(const struct stats_histogram *histogram, double seconds)
{
    uint64_t count = stats_count(histogram);

    return json_pack("{s:I, s:f, s:I, s:I, s:I}", "count", (json_int_t)count, "per_second", per_second(count, seconds),
                     "p50_ns", (json_int_t)stats_percentile(histogram, 500), "p99_ns",
                     (json_int_t)stats_percentile(histogram, 990), "p99.9_ns",
                     (json_int_t)stats_percentile(histogram, 999));
}

static json_t *
report_core(int core, const struct stats_core *passed, double seconds)
{
    static const enum stats_counter rates[] = {
        COUNTER_loops,           COUNTER_rx_frames,        COUNTER_rx_bytes,        COUNTER_tx_frames, COUNTER_tx_bytes,
        COUNTER_tcp_segments_in, COUNTER_tcp_segments_out, COUNTER_tcp_retransmits, COUNTER_errors,
    };
    json_t *report =
        json_pack("{s:i, s:f, s:o, s:o, s:o}", "core", core, "ops",
                  per_second(passed->counter[COUNTER_commands], seconds), "idle_share", idle_share(passed),
                  "cycles_per_command", cycles_per_command(passed), "commit", report_times(&passed->commit, seconds));

    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        json_object_set_new(report, counter_texts[rates[i]].name,
                            json_real(per_second(passed->counter[rates[i]], seconds)));
    return report;
}

static json_t *
report_families(const struct stats_core *passed, double seconds)
{
    json_t *families = json_object();

    for (unsigned i = 0; i < FAMILIES; i++)
        json_object_set_new(families, family_names[i], report_times(&passed->latency[i], seconds));
    return families;
}

/* Counters whose names have the prefix (or, with none, all others), by name. */
static json_t *
report_counters(const struct stats_core *total, const struct stats_core *passed, double seconds, bool drops)
{
    size_t prefix = sizeof(drop_prefix) - 1;
    json_t *counters = json_object();

    for (unsigned i = 0; i < COUNTERS; i++) {
        bool is_drop = strncmp(counter_texts[i].name, drop_prefix, prefix) == 0;
        if (is_drop != drops)
            continue;
        json_object_set_new(counters, counter_texts[i].name + (is_drop ? prefix : 0),
                            json_pack("{s:I, s:f, s:s}", "total", (json_int_t)total->counter[i], "per_second",
                                      per_second(passed->counter[i], seconds), "what", counter_texts[i].what));
    }
    return counters;
}

json_t *
stats_report(const struct stats_snapshot *newer, const struct stats_snapshot *older)
{
    double seconds = (double)(newer->taken_ms - older->taken_ms) / 1000;
    struct stats_core total = {0}, passed = {0}, difference;
    json_t *cores = json_array();

    for (unsigned i = 0; i < newer->header.cores; i++) {
        stats_difference(&difference, &newer->header.core[i], &older->header.core[i]);
        stats_add(&total, &newer->header.core[i]);
        stats_add(&passed, &difference);
        json_array_append_new(cores, report_core((int)i, &difference, seconds));
    }
    return json_pack("{s:f, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "seconds", seconds, "pid",
                     (json_int_t)newer->header.pid, "tsc_hz", (json_int_t)newer->header.tsc_hz, "ops",
                     per_second(passed.counter[COUNTER_commands], seconds), "idle_share", idle_share(&passed), "cores",
                     cores, "families", report_families(&passed, seconds), "commit",
                     report_times(&passed.commit, seconds), "drops", report_counters(&total, &passed, seconds, true),
                     "counters", report_counters(&total, &passed, seconds, false));
}
