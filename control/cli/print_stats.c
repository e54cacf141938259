/* SPDX-License-Identifier: BSD-3-Clause */
/* polluxctl: the screen of `stats`. */
#include "control/cli/cli.h"

#include <string.h>

static double
number(json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void
format_time(char *text, size_t size, double ns)
{
    if (ns < 1e3)
        snprintf(text, size, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(text, size, "%.1f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(text, size, "%.1f ms", ns / 1e6);
    else
        snprintf(text, size, "%.1f s", ns / 1e9);
}

static void
format_share(char *text, size_t size, json_t *share)
{
    if (json_is_number(share))
        snprintf(text, size, "%.1f%%", 100 * json_number_value(share));
    else
        snprintf(text, size, "-");
}

/* p50, p99 and p99.9, or dashes where nothing was measured. */
static void
print_times(FILE *file, json_t *times)
{
    static const char *const names[] = {"p50_ns", "p99_ns", "p99.9_ns"};
    char text[32] = "-";

    for (unsigned i = 0; i < 3; i++) {
        if (number(times, "count") > 0)
            format_time(text, sizeof(text), number(times, names[i]));
        fprintf(file, " %10s", text);
    }
}

static void
print_cores(FILE *file, json_t *cores)
{
    char idle[16], cycles[24];
    json_t *core;
    size_t i;

    fprintf(file, "%-10s %11s %7s %10s %10s %10s %11s   commit p50        p99      p99.9\n", "core", "ops/s", "idle",
            "cycles/op", "rx/s", "tx/s", "retransm./s");
    json_array_foreach(cores, i, core)
    {
        json_t *per_command = json_object_get(core, "cycles_per_command");
        format_share(idle, sizeof(idle), json_object_get(core, "idle_share"));
        snprintf(cycles, sizeof(cycles), json_is_number(per_command) ? "%.0f" : "-", json_number_value(per_command));
        fprintf(file, "%-10.0f %11.0f %7s %10s %10.0f %10.0f %11.0f  ", number(core, "core"), number(core, "ops"), idle,
                cycles, number(core, "rx_frames"), number(core, "tx_frames"), number(core, "tcp_retransmits"));
        print_times(file, json_object_get(core, "commit"));
        fputc('\n', file);
    }
}

static void
print_families(FILE *file, json_t *families)
{
    const char *name;
    json_t *times;

    fprintf(file, "\n%-10s %11s %10s %10s %10s\n", "family", "ops/s", "p50", "p99", "p99.9");
    json_object_foreach(families, name, times)
    {
        fprintf(file, "%-10s %11.0f", name, number(times, "per_second"));
        print_times(file, times);
        fputc('\n', file);
    }
}

/* Those that ever counted anything. */
static void
print_counters(FILE *file, const char *title, json_t *counters)
{
    const char *name;
    json_t *counter;

    fprintf(file, "\n%-26s %11s %16s\n", title, "per second", "total");
    json_object_foreach(counters, name, counter)
    {
        if (number(counter, "total") > 0)
            fprintf(file, "%-26s %11.0f %16.0f  %s\n", name, number(counter, "per_second"), number(counter, "total"),
                    json_string_value(json_object_get(counter, "what")));
    }
}

void
print_stats(FILE *file, json_t *stats)
{
    char idle[16];

    format_share(idle, sizeof(idle), json_object_get(stats, "idle_share"));
    fprintf(file, "%.0f ops/s, idle %s, over %.1f s, dataplane pid %.0f\n\n", number(stats, "ops"), idle,
            number(stats, "seconds"), number(stats, "pid"));
    print_cores(file, json_object_get(stats, "cores"));
    print_families(file, json_object_get(stats, "families"));
    print_counters(file, "counter", json_object_get(stats, "counters"));
    print_counters(file, "drops", json_object_get(stats, "drops"));
}
