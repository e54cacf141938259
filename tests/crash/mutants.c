/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mutant in a process of its own: what goes wrong in one may be anything. */
#include "tests/crash/mutants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/crash/persist_sim.h"
#include "tests/crash/world.h"

#define PATIENCE 6u /* times longer for one that must be caught */

#define MUTANTS ((unsigned)SITES + (unsigned)RULES)

struct mutant {
    pid_t process;
    int result; /* read end of a pipe: what the process says */
    bool listed;
    char reason[200];
};

static const char *
mutant_name(unsigned index)
{
    return index < SITES ? persist_site_name((enum persist_site)index) : rule_names[index - SITES];
}

/* Lines "SITE reason"; # begins a comment. */
static bool
read_redundant(const char *path, struct mutant *mutant)
{
    char line[400], name[64], reason[200];
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    bool good = true;
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        unsigned i = 0;
        if (sscanf(line, "%63s %199[^\n]", name, reason) != 2) {
            fprintf(stderr, "%s: no reason: %s", path, line);
            good = false;
            continue;
        }
        while (i < MUTANTS && strcmp(mutant_name(i), name) != 0)
            i++;
        if (i == MUTANTS) {
            fprintf(stderr, "%s: there is no %s\n", path, name);
            good = false;
            continue;
        }
        mutant[i].listed = true;
        memcpy(mutant[i].reason, reason, sizeof(reason));
    }
    fclose(file);
    return good;
}

static void
child(const struct mutants *mutants, mutant_run_fn run, unsigned index, bool listed, int pipe_end)
{
    uint64_t seed = 0;
    if (index < SITES)
        persist_removed = (enum persist_site)index;
    else
        rule_removed = (enum rule)(index - SITES);
    unsigned seconds = listed ? mutants->seconds : mutants->seconds * PATIENCE;
    bool caught = run(mutants->seed, seconds, &seed);
    char text[64];
    int length = snprintf(text, sizeof(text), "%s %llu", caught ? "caught" : "missed", (unsigned long long)seed);
    _exit(write(pipe_end, text, (size_t)length) == length ? 0 : 1);
}

static void
start(const struct mutants *mutants, mutant_run_fn run, struct mutant *mutant, unsigned index)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0 || (mutant->process = fork()) < 0) {
        perror("fork");
        exit(2);
    }
    if (mutant->process == 0) {
        close(ends[0]);
        child(mutants, run, index, mutant->listed, ends[1]);
    }
    close(ends[1]);
    mutant->result = ends[0];
}

/* Its process is over: caught, also where the engine came to a stop by it. */
static bool
judge(struct mutant *mutant, unsigned index, int status)
{
    char text[64] = "";
    ssize_t length = read(mutant->result, text, sizeof(text) - 1);
    close(mutant->result);
    bool missed = length > 0 && strncmp(text, "missed", 6) == 0;
    const char *verdict = missed == mutant->listed ? "" : mutant->listed ? "  LISTED AS REDUNDANT" : "  NOT CAUGHT";
    if (missed)
        printf("%-22s not caught%s%s%s\n", mutant_name(index), verdict, mutant->listed ? ": " : "", mutant->reason);
    else if (length > 0)
        printf("%-22s caught by seed %s%s\n", mutant_name(index), text + 7, verdict);
    else
        printf("%-22s caught: the process ended with status %#x%s\n", mutant_name(index), status, verdict);
    fflush(stdout);
    return missed == mutant->listed;
}

bool
mutants_run(const struct mutants *mutants, mutant_run_fn run)
{
    static struct mutant mutant[MUTANTS];
    unsigned running = 0, next = 0, bad = 0, tried = 0;
    if (!read_redundant(mutants->redundant, mutant))
        return false;
    while (next < MUTANTS || running) {
        if (next < MUTANTS && running < mutants->jobs) {
            if (!mutants->only || strcmp(mutants->only, mutant_name(next)) == 0) {
                start(mutants, run, &mutant[next], next);
                running++;
                tried++;
            }
            next++;
            continue;
        }
        int status;
        pid_t process = wait(&status);
        for (unsigned i = 0; i < MUTANTS; i++)
            if (mutant[i].process == process)
                bad += !judge(&mutant[i], i, status);
        running--;
    }
    printf("mutants %u  wrong %u\n", tried, bad);
    return tried && !bad;
}
