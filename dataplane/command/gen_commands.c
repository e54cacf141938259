/* SPDX-License-Identifier: BSD-3-Clause */
/* pollux-gen-commands: writes docs/commands.md, from the table of commands, to standard output. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dataplane/command/docs.h"
#include "dataplane/command/table.h"

#define SYNTAX_MAX 1024

static const char head[] =
    "# Commands\n"
    "\n"
    "<!-- Written by scripts/gen_commands from dataplane/command/commands.def: change that, then run it. -->\n"
    "\n"
    "Commands mean what they mean in Redis 7.0, down to the error texts, in RESP2 and RESP3. The version is the Redis\n"
    "version that brought the command. Any other command is answered with `ERR unknown command`.\n"
    "\n"
    "What differs:\n"
    "\n"
    "- A write is durable before its reply leaves: SAVE and BGSAVE have nothing to do, LASTSAVE is always now.\n"
    "- DEL, UNLINK, EXISTS, TOUCH and MGET are atomic a key, not over all their keys.\n"
    "- Strings are at most 1 MiB long (`proto-max-bulk-len`).\n"
    "- DEBUG SLEEP and WAIT let their own connection wait, never a core.\n"
    "- CLIENT LIST, CLIENT KILL and the client lines of INFO tell of the connections of one core.\n"
    "- OBJECT IDLETIME is 0 and OBJECT REFCOUNT is 1; OBJECT ENCODING calls what INCRBYFLOAT made `int` if it looks "
    "so.\n"
    "- CONFIG REWRITE is refused: the control process owns the file.\n";

static const struct {
    const char *group, *title;
} groups[] = {
    {"connection", "Connections"}, {"string", "Strings"},      {"generic", "Keys"},
    {"server", "Server"},          {"scripting", "Functions"},
};

struct text {
    char data[SYNTAX_MAX];
    size_t len;
};

static void
add(struct text *text, const char *data, size_t len)
{
    for (size_t i = 0; i < len && text->len + 2 < sizeof(text->data); i++) {
        if (data[i] == '|')
            text->data[text->len++] = '\\'; /* a table ends its cells with it */
        text->data[text->len++] = data[i];
    }
    text->data[text->len] = '\0';
}

static void
add_text(struct text *text, const char *more)
{
    add(text, more, strlen(more));
}

static void add_items(struct text *text, struct slice items, const char *between);

static void
add_once(struct text *text, const struct docs_argument *argument, bool with_token)
{
    bool is_token = argument->type.len == 5 && memcmp(argument->type.data, "token", 5) == 0;
    if (argument->token.len > 0 && with_token) {
        add(text, argument->token.data, argument->token.len);
        if (!is_token)
            add_text(text, " ");
    }
    if (argument->inner.len > 0 && argument->choice && !argument->optional) {
        add_text(text, "<");
        add_items(text, argument->inner, " | ");
        add_text(text, ">");
    } else if (argument->inner.len > 0) {
        add_items(text, argument->inner, argument->choice ? " | " : " ");
    } else if (!is_token) {
        add(text, argument->name.data, argument->name.len);
    }
}

/* Nested as deep as the table is: three. */
static void
add_items(struct text *text, struct slice items, const char *between)
{
    struct docs_argument argument;
    for (bool first = true; docs_next(&items, &argument); first = false) {
        if (!first)
            add_text(text, between);
        if (argument.optional)
            add_text(text, "[");
        add_once(text, &argument, true);
        if (argument.multiple) {
            add_text(text, " [");
            add_once(text, &argument, argument.multiple_token);
            add_text(text, " ...]");
        }
        if (argument.optional)
            add_text(text, "]");
    }
}

static void
print_command(const struct command *command)
{
    struct text syntax = {.len = 0};
    for (const char *p = command->full_name; *p; p++) {
        char c = *p == '|' ? ' ' : (char)toupper((unsigned char)*p);
        add(&syntax, &c, 1);
    }
    if (command->arguments) {
        add_text(&syntax, " ");
        add_items(&syntax, (struct slice){command->arguments, strlen(command->arguments)}, " ");
    }
    printf("| `%s` | %s | %s | %s |\n", syntax.data, command->since, command->complexity ? command->complexity : "",
           command->summary);
}

int
main(void)
{
    fputs(head, stdout);
    for (unsigned g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        printf("\n## %s\n\n| command | since | cost | what it does |\n|---|---|---|---|\n", groups[g].title);
        for (unsigned i = 0; i < command_count; i++)
            if (strcmp(command_table[i].group, groups[g].group) == 0 && command_table[i].run != command_container)
                print_command(&command_table[i]);
    }
    return ferror(stdout) != 0;
}
