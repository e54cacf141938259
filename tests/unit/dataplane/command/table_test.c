/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/command/table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dataplane/command/docs.h"
#include "tests/unit/unit.h"

static struct slice
text_slice(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void
every_command_is_found_in_any_case(void)
{
    table_init();
    for (unsigned i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i], *container;
        char upper[32];
        snprintf(upper, sizeof(upper), "%s", command->name);
        for (char *p = upper; *p; p += 1 + (p[1] != '\0'))
            *p = (char)toupper(*p);
        struct slice argv[2] = {text_slice(command->container ? command->container : upper), text_slice(upper)};
        CU_ASSERT_PTR_EQUAL(command_find(argv, command->container ? 2 : 1, &container), command);
        struct slice full = text_slice(command->full_name);
        CU_ASSERT_PTR_EQUAL(command_find_name(&full), command);
    }
}

static void
others_are_not_found(void)
{
    static const char *const names[] = {"",
                                        "g",
                                        "ge",
                                        "gett",
                                        "get ",
                                        "getsett",
                                        "config|",
                                        "config|foo",
                                        "get|x",
                                        "|",
                                        "a command name of more than sixteen bytes",
                                        "ge\x14",
                                        "GE\xd4",
                                        "@",
                                        "[et"};
    const struct command *container;
    table_init();
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct slice name = text_slice(names[i]);
        CU_ASSERT_PTR_NULL(command_find(&name, 1, &container));
        CU_ASSERT_PTR_NULL(command_find_name(&name));
    }
    struct slice argv[2] = {text_slice("CONFIG"), text_slice("foo")};
    CU_ASSERT_PTR_NULL(command_find(argv, 2, &container));
    CU_ASSERT_STRING_EQUAL(container->name, "config");
    CU_ASSERT_PTR_EQUAL(command_find(argv, 1, &container), command_find_name(&argv[0]));
}

static void
check_items(struct slice items, unsigned depth)
{
    struct docs_argument argument;
    CU_ASSERT_TRUE_FATAL(depth < 5);
    while (docs_next(&items, &argument)) {
        CU_ASSERT_TRUE(argument.name.len > 0);
        CU_ASSERT_TRUE((argument.type.len > 0) != (argument.inner.len > 0));
        check_items(argument.inner, depth + 1);
    }
}

/* What commands.def must keep to, so that COMMAND and the docs can rely on it. */
static void
rows_are_sound(void)
{
    for (unsigned i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(command->run);
        CU_ASSERT_TRUE_FATAL(command->summary && command->since && command->group);
        CU_ASSERT_NOT_EQUAL(command->arity, 0);
        CU_ASSERT_EQUAL(command->first_key > 0, command->key_flags != NULL);
        CU_ASSERT_EQUAL(command->first_key > 0, command->step > 0);
        CU_ASSERT_FALSE(command->prepare && !(command->flags & CMD_WRITE));
        CU_ASSERT_FALSE(command->flags & CMD_WRITE && command->flags & CMD_READONLY);
        if (command->container)
            CU_ASSERT_TRUE(i > 0 && (command_table[i - 1].container || command_subcommands(&command_table[i - 1]) > 0));
        if (command->arguments)
            check_items(text_slice(command->arguments), 0);
    }
}

static void
arguments_are_read_in_all_their_parts(void)
{
    struct slice items =
        text_slice("key:key0 cond@2.6?(nx:token=NX|xx:token=XX) ip:port:string=ADDR block=B*+{a:integer b:double}");
    struct docs_argument a;
    CU_ASSERT_TRUE(docs_next(&items, &a));
    CU_ASSERT_TRUE(a.name.len == 3 && a.type.len == 4 && !a.optional);
    CU_ASSERT_TRUE(docs_next(&items, &a));
    CU_ASSERT_TRUE(a.since.len == 3 && a.optional && a.choice && a.inner.len == strlen("nx:token=NX|xx:token=XX"));
    CU_ASSERT_TRUE(docs_next(&items, &a));
    CU_ASSERT_TRUE(a.name.len == 7 && a.type.len == 6 && a.token.len == 4);
    CU_ASSERT_TRUE(docs_next(&items, &a));
    CU_ASSERT_TRUE(a.multiple && a.multiple_token && !a.choice && a.inner.len > 0 && a.token.len == 1);
    CU_ASSERT_FALSE(docs_next(&items, &a));
}

static const struct unit_test tests[] = {
    {"every command is found in any case", every_command_is_found_in_any_case},
    {"others are not found", others_are_not_found},
    {"rows are sound", rows_are_sound},
    {"arguments are read in all their parts", arguments_are_read_in_all_their_parts},
};
UNIT_MAIN("table", tests)
