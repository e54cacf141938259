/* SPDX-License-Identifier: BSD-3-Clause */
/* pollux-crash: run seeds, look at their crash images, report. */
#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/crash/creation.h"
#include "tests/crash/mutants.h"
#include "tests/crash/persist_sim.h"
#include "tests/crash/world.h"

#define CREATION_EVERY 50u /* seeds */
#define SEED_SECONDS   60u /* one that takes longer hangs */
#define SHORTER_FOR    30  /* seconds to look for a shorter violation */
#define DISTINCT_ROOM  (1ull << 24)

struct options {
    uint64_t seed, seeds;
    unsigned seconds, jobs;
    bool mutants, trace;
    enum theme theme;
    const char *only, *redundant;
};

struct totals {
    uint64_t seeds, images, nested, distinct, violations, steps, refused, compacted, splits;
};

static volatile uint64_t present_seed;
static uint64_t *distinct; /* hash table of image hashes */
static uint64_t distinct_used;

/* ---- the end of a process that went astray ---- */

static void
on_signal(int number)
{
    char text[100];
    int length = snprintf(text, sizeof(text), "seed %llu: %s\n", (unsigned long long)present_seed,
                          number == SIGVTALRM ? "hangs" : "a store or load outside of what it may touch");
    if (write(STDERR_FILENO, text, (size_t)length) != length)
        _exit(2);
    _exit(1);
}

static void
catch_signals(void)
{
    static uint8_t stack[64 << 10];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
}

/* ---- seeds ---- */

static void
met(uint64_t hash)
{
    if (distinct_used > DISTINCT_ROOM / 2)
        return; /* counted enough */
    uint64_t i = hash % DISTINCT_ROOM;
    while (distinct[i] && distinct[i] != hash)
        i = (i + 1) % DISTINCT_ROOM;
    distinct_used += !distinct[i];
    distinct[i] = hash;
}

/* Processor time, so that a machine that stands still is not taken for a seed that hangs. 0: no limit. */
static void
limit_seconds(time_t seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void
run_seed(uint64_t seed, enum theme theme, struct outcome *outcome)
{
    present_seed = seed;
    limit_seconds(SEED_SECONDS);
    if (seed % CREATION_EVERY == 0)
        creation_run(seed, met, outcome);
    else
        world_run(seed, theme, met, outcome);
    limit_seconds(0);
}

static void
add(struct totals *totals, const struct outcome *outcome)
{
    totals->seeds++;
    totals->images += outcome->images;
    totals->nested += outcome->nested_images;
    totals->violations += outcome->violated;
    totals->steps += outcome->steps;
    totals->refused += outcome->refused;
    totals->compacted += outcome->compacted;
    totals->splits += outcome->splits;
}

static enum theme given_theme = THEMES;

static bool
mutant_run(uint64_t seed, unsigned seconds, uint64_t *violated_seed)
{
    time_t end = time(NULL) + (time_t)seconds;
    struct outcome outcome;
    for (; time(NULL) < end; seed++) {
        run_seed(seed, given_theme, &outcome);
        *violated_seed = seed;
        if (outcome.violated)
            return true;
    }
    return false;
}

/* Run until the time is up; after a violation a little longer, for a shorter one. Prints it. */
static bool
run(const struct options *options)
{
    struct totals totals = {0};
    struct outcome outcome, shortest = {0};
    uint64_t shortest_seed = 0, seed = options->seed;
    time_t end = time(NULL) + (time_t)options->seconds;
    for (; options->seeds ? totals.seeds < options->seeds : time(NULL) < end; seed++) {
        run_seed(seed, options->theme, &outcome);
        add(&totals, &outcome);
        if (!outcome.violated)
            continue;
        if (totals.violations == 1 && end > time(NULL) + SHORTER_FOR)
            end = time(NULL) + SHORTER_FOR;
        if (totals.violations == 1 || outcome.operations < shortest.operations) {
            shortest = outcome;
            shortest_seed = seed;
        }
    }
    totals.distinct = distinct_used;
    printf("seeds %llu (from %llu)  images %llu, distinct %llu  in recovery %llu  steps %llu  splits %llu  "
           "compacted %llu bytes  refused %llu  violations %llu\n",
           (unsigned long long)totals.seeds, (unsigned long long)options->seed, (unsigned long long)totals.images,
           (unsigned long long)totals.distinct, (unsigned long long)totals.nested, (unsigned long long)totals.steps,
           (unsigned long long)totals.splits, (unsigned long long)totals.compacted, (unsigned long long)totals.refused,
           (unsigned long long)totals.violations);
    if (!totals.violations)
        return true;
    if (options->trace)
        persist_trace = stdout;
    run_seed(shortest_seed, options->theme, &outcome);
    persist_trace = NULL;
    printf("seed %llu (%s): %s\n", (unsigned long long)shortest_seed, theme_names[shortest.theme], shortest.what);
    world_print(stdout);
    return false;
}

/* ---- command line ---- */

static const struct argp_option argp_options[] = {
    {"seconds", 's', "N", 0, "how long (default 20); with --mutants: for each that is listed", 0},
    {"seed", 'S', "N", 0, "first seed (default: from the clock; it is printed)", 0},
    {"seeds", 'n', "N", 0, "so many seeds instead of --seconds", 0},
    {"theme", 't', "NAME", 0, "only hot, chain, growth, space or wide", 0},
    {"mutants", 'm', NULL, 0, "remove each flush, fence and rule in turn: each must be caught, or be listed", 0},
    {"only", 'o', "NAME", 0, "with --mutants: only this one", 0},
    {"jobs", 'j', "N", 0, "with --mutants: so many processes (default 2)", 0},
    {"trace", 'T', NULL, 0, "print the persist calls of the seed that went wrong", 0},
    {"redundant", 'r', "FILE", 0, "with --mutants: the list of sites that nothing needs", 0},
    {0},
};

static error_t
parse(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 's':
        options->seconds = (unsigned)strtoul(text, NULL, 10);
        return 0;
    case 'S':
        options->seed = strtoull(text, NULL, 10);
        return 0;
    case 'n':
        options->seeds = strtoull(text, NULL, 10);
        return 0;
    case 't':
        for (options->theme = 0; options->theme < THEMES && strcmp(theme_names[options->theme], text) != 0;)
            options->theme++;
        if (options->theme == THEMES)
            argp_error(state, "there is no theme %s", text);
        return 0;
    case 'm':
        options->mutants = true;
        return 0;
    case 'o':
        options->only = text;
        return 0;
    case 'j':
        options->jobs = (unsigned)strtoul(text, NULL, 10);
        return 0;
    case 'T':
        options->trace = true;
        return 0;
    case 'r':
        options->redundant = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
main(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options, parse, NULL, "Simulate power cuts of the pmem engine and check what recovery makes of them.",
        NULL,         NULL,  NULL};
    struct options options = {.seed = (uint64_t)time(NULL),
                              .seconds = 20,
                              .jobs = 2,
                              .theme = THEMES,
                              .redundant = "tests/crash/redundant.txt"};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    distinct = calloc(DISTINCT_ROOM, sizeof(*distinct));
    if (!distinct)
        return 2;
    catch_signals();
    given_theme = options.theme;
    if (!options.mutants)
        return !run(&options);
    const struct mutants mutants = {options.seed, options.seconds, options.jobs, options.only, options.redundant};
    printf("mutants, seeds from %llu\n", (unsigned long long)options.seed);
    return !mutants_run(&mutants, mutant_run);
}
