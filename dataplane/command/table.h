/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of commands: commands.def as data, and how a request finds its row. Any thread after table_init.
 */
#ifndef DATAPLANE_COMMAND_TABLE_H
#define DATAPLANE_COMMAND_TABLE_H

#include "dataplane/command/command.h"

extern const struct command command_table[]; /* a container's subcommands follow it */
extern const unsigned command_count;

/* Build the hash; once a process, before the first command_find. Calling it again is harmless. */
void table_init(void);

/* The row for these arguments, subcommands included. NULL: unknown; *container then tells whether argv[0] at least is
 * the name of a container. Case does not matter. */
const struct command *command_find(const struct slice *argv, uint32_t argc, const struct command **container);

/* How many subcommands follow this row. */
unsigned command_subcommands(const struct command *command);
/* Commands without their subcommands. */
unsigned command_count_top(void);

/* "config" or "config|get". */
const struct command *command_find_name(const struct slice *name);

static inline bool
command_arity_fits(const struct command *command, uint32_t argc)
{
    return command->arity >= 0 ? argc == (uint32_t)command->arity : argc >= (uint32_t)-command->arity;
}

/* Argument number of the last key of a request with argc arguments. */
static inline uint32_t
command_last_key(const struct command *command, uint32_t argc)
{
    return command->last_key >= 0 ? (uint32_t)command->last_key : argc - (uint32_t)-command->last_key;
}

/* The functions the rows name. */
#define COMMAND(name, run, ...)               enum command_result run(struct worker *worker, struct request *request);
#define SUBCOMMAND(container, name, run, ...) enum command_result run(struct worker *worker, struct request *request);
#include "dataplane/command/commands.def"
#undef COMMAND
#undef SUBCOMMAND

#endif
