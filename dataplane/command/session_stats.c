/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: rates, and counts by command and error. */
#include <string.h>

#include "dataplane/command/sessions.h"
#include "dataplane/command/table.h"

#define SAMPLE_US 100000

void
session_sample(struct worker *worker)
{
    static const enum stats_counter source[RATES] = {COUNTER_commands, COUNTER_input_bytes, COUNTER_output_bytes};
    struct sessions *sessions = worker->sessions;
    uint64_t passed_us = worker->now_us - sessions->sample_us;
    if (passed_us < SAMPLE_US)
        return;
    unsigned slot = sessions->samples++ % RATE_SAMPLES;
    for (unsigned r = 0; r < RATES; r++) {
        uint64_t now = worker->stats->counter[source[r]];
        sessions->sample[r][slot] = (double)(now - sessions->sample_last[r]) * 1e6 / (double)passed_us;
        sessions->sample_last[r] = now;
    }
    sessions->sample_us = worker->now_us;
    uint32_t epoch = atomic_load_explicit(&worker->server->stats_epoch, memory_order_relaxed);
    if (epoch != sessions->stats_epoch)
        session_reset_stats(worker);
}

double
session_rate(const struct worker *worker, enum rate rate)
{
    double sum = 0;
    if (!worker->sessions)
        return 0;
    for (unsigned i = 0; i < RATE_SAMPLES; i++)
        sum += worker->sessions->sample[rate][i];
    return sum / RATE_SAMPLES;
}

void
session_reset_stats(struct worker *worker)
{
    struct sessions *sessions = worker->sessions;
    memset(sessions->command, 0, command_count * sizeof(*sessions->command));
    memset(sessions->error, 0, sizeof(sessions->error));
    sessions->errors = 0;
    sessions->stats_epoch = atomic_load(&worker->server->stats_epoch);
}
