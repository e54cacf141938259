/* SPDX-License-Identifier: BSD-3-Clause */
/* polluxctl: what its parts share. */
#ifndef CONTROL_CLI_CLI_H
#define CONTROL_CLI_CLI_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define CLI_WORDS 256

/* Exit status. 2, wrong usage, is given by argp. */
enum cli_status { CLI_GOOD = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_UNWELL = 3 };

struct cli {
    char socket[PATH_MAX]; /* of pollux-control */
    bool json, once;
    const char *words[CLI_WORDS]; /* arguments of the command */
    unsigned count;
};

struct cli_command {
    const char *name, *arguments, *what, *more; /* for --help: arguments, one line, and further lines or "" */
    bool has_once;
    int (*run)(const struct cli *cli); /* exit status; CLI_USAGE: the arguments are wrong */
};
extern const struct cli_command cli_commands[]; /* ended by a NULL name */

/* Ask pollux-control. NULL: it said no or could not be asked; the sentence, with what to do, is on standard error. */
json_t *cli_ask(const struct cli *cli, const char *method, json_t *params);
/* The same, but with the sentence in error instead. */
json_t *cli_try(const struct cli *cli, const char *method, json_t *params, char *error, size_t error_size);

/* --json: the value as it came, on standard output. */
void print_json(json_t *value);
/* For people: an object as lines of name and value, a list of objects as a table with a head line. */
void print_plain(FILE *file, json_t *value);

/* The screen of `stats`. */
void print_stats(FILE *file, json_t *stats);

#endif
