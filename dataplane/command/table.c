/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and a perfect hash over the names. */
#include "dataplane/command/table.h"

#include <string.h>
#include <strings.h>

#include "dataplane/command/prepare.h"

const struct command command_table[] = {
#define COMMAND(tag, run_, ...) {.name = #tag, .full_name = #tag, .run = run_, __VA_ARGS__},
#define SUBCOMMAND(parent, tag, run_, ...) \
    {.name = tag, .full_name = #parent "|" tag, .container = #parent, .run = run_, __VA_ARGS__},
#include "dataplane/command/commands.def"
#undef COMMAND
#undef SUBCOMMAND
};
const unsigned command_count = sizeof(command_table) / sizeof(command_table[0]);

#define HASH_SLOTS    512u
#define NAME_MAX_HASH 16u

/* A name folded to lower case in two words; with the length it is exact. */
struct folded {
    uint64_t head, tail;
    size_t len;
};

static struct {
    uint64_t multiplier; /* 0: not built yet */
    struct {
        struct folded name;
        const struct command *command;
    } slot[HASH_SLOTS];
} hash;

static inline uint64_t
fold(uint64_t w)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fULL, high = ~low, one = 0x0101010101010101ULL;
    uint64_t from_a = (w & low) + (0x80 - 'A') * one, past_z = (w & low) + (0x80 - ('Z' + 1)) * one;
    return w | (from_a & ~past_z & ~w & high) >> 2;
}

static inline bool
fold_name(struct folded *folded, const uint8_t *name, size_t len)
{
    if (len - 1 >= NAME_MAX_HASH)
        return false;
    uint32_t head = 0, tail = 0;
    if (len >= 8) {
        memcpy(&folded->head, name, 8);
        memcpy(&folded->tail, name + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&head, name, 4);
        memcpy(&tail, name + len - 4, 4);
        folded->head = head;
        folded->tail = tail;
    } else {
        folded->head = name[0] | (uint64_t)name[len / 2] << 8 | (uint64_t)name[len - 1] << 16;
        folded->tail = 0;
    }
    folded->head = fold(folded->head);
    folded->tail = fold(folded->tail);
    folded->len = len;
    return true;
}

static inline unsigned
slot_of(const struct folded *name, uint64_t multiplier)
{
    uint64_t mixed = (name->head ^ (name->tail << 29 | name->tail >> 35) ^ name->len << 57) * multiplier;
    return (unsigned)(mixed >> 55);
}

static bool
try_multiplier(uint64_t multiplier)
{
    memset(hash.slot, 0, sizeof(hash.slot));
    for (unsigned i = 0; i < command_count; i++) {
        if (command_table[i].container)
            continue;
        struct folded name;
        if (!fold_name(&name, (const uint8_t *)command_table[i].name, strlen(command_table[i].name)))
            continue;
        unsigned slot = slot_of(&name, multiplier);
        if (hash.slot[slot].command)
            return false;
        hash.slot[slot].name = name;
        hash.slot[slot].command = &command_table[i];
    }
    return true;
}

void
table_init(void)
{
    if (hash.multiplier != 0)
        return;
    uint64_t multiplier = 0x9e3779b97f4a7c15ULL;
    while (!try_multiplier(multiplier))
        multiplier = (multiplier * 6364136223846793005ULL + 1442695040888963407ULL) | 1;
    hash.multiplier = multiplier;
}

static const struct command *
find_top(const struct slice *name)
{
    struct folded folded;
    if (!fold_name(&folded, name->data, name->len))
        return NULL;
    unsigned slot = slot_of(&folded, hash.multiplier);
    const struct folded *there = &hash.slot[slot].name;
    if (there->head != folded.head || there->tail != folded.tail || there->len != folded.len)
        return NULL;
    return hash.slot[slot].command;
}

unsigned
command_subcommands(const struct command *command)
{
    unsigned count = 0;
    if (!command->container)
        while (command + count + 1 < command_table + command_count && command[count + 1].container)
            count++;
    return count;
}

unsigned
command_count_top(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < command_count; i++)
        count += command_table[i].container == NULL;
    return count;
}

static bool
is_container(const struct command *command)
{
    return command + 1 < command_table + command_count && command[1].container != NULL;
}

static const struct command *
find_sub(const struct command *container, const struct slice *name)
{
    for (const struct command *c = container + 1; c < command_table + command_count && c->container; c++)
        if (strlen(c->name) == name->len && strncasecmp(c->name, name->data, name->len) == 0)
            return c;
    return NULL;
}

const struct command *
command_find(const struct slice *argv, uint32_t argc, const struct command **container)
{
    const struct command *top = find_top(&argv[0]);
    *container = NULL;
    if (!top || argc == 1 || !is_container(top))
        return top;
    *container = top;
    return find_sub(top, &argv[1]);
}

const struct command *
command_find_name(const struct slice *name)
{
    const uint8_t *text = name->data, *bar = memchr(text, '|', name->len);
    if (!bar)
        return find_top(name);
    struct slice part[2] = {{text, (size_t)(bar - text)}, {bar + 1, name->len - (size_t)(bar - text) - 1}};
    const struct command *container;
    const struct command *found = command_find(part, 2, &container);
    return container ? found : NULL;
}
