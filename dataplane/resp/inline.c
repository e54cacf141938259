/* SPDX-License-Identifier: BSD-3-Clause */
/* Inline requests: a line split at blanks and quotes. */
#include "dataplane/resp/parse.h"

#include <ctype.h>
#include <errno.h>

/* One argument being read: a slice of the line until a quote shows, then a copy in text. */
struct token {
    const uint8_t *at, *end; /* what is left of the line */
    uint8_t *text;           /* where copies go */
};

static bool
at_blank_or_end(const struct token *t)
{
    return t->at == t->end || isspace(*t->at);
}

static int
hex_value(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Behind a backslash within "...": the byte it stands for. */
static uint8_t
unescape(struct token *t)
{
    if (*t->at == 'x' && t->end - t->at >= 3 && hex_value(t->at[1]) >= 0 && hex_value(t->at[2]) >= 0) {
        int value = hex_value(t->at[1]) * 16 + hex_value(t->at[2]);
        t->at += 3;
        return (uint8_t)value;
    }
    uint8_t c = *t->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return c;
    }
}

/* Behind the opening quote; the closing one must be followed by a blank or nothing. */
static bool
copy_quoted(struct token *t, uint8_t quote)
{
    while (t->at < t->end) {
        uint8_t c = *t->at++;
        if (c == quote)
            return at_blank_or_end(t);
        if (c == '\\' && quote == '"' && t->at < t->end)
            c = unescape(t);
        else if (c == '\\' && quote == '\'' && t->at < t->end && *t->at == '\'')
            c = *t->at++;
        *t->text++ = c;
    }
    return false;
}

static bool
read_token(struct token *t, struct slice *argument)
{
    const uint8_t *begin = t->at;
    while (t->at < t->end && *t->at != '"' && *t->at != '\'' && *t->at != ' ' && *t->at != '\t' && *t->at != '\r' &&
           *t->at != '\n')
        t->at++;
    argument->data = begin;
    argument->len = (size_t)(t->at - begin);
    if (t->at == t->end || (*t->at != '"' && *t->at != '\''))
        return true;
    uint8_t *copy = t->text;
    for (const uint8_t *p = begin; p < t->at; p++)
        *t->text++ = *p;
    if (!copy_quoted(t, *t->at++))
        return false;
    argument->data = copy;
    argument->len = (size_t)(t->text - copy);
    return true;
}

int
inline_split(const uint8_t *line, size_t len, struct slice *argv, unsigned max, uint8_t *text)
{
    struct token token = {.at = line, .end = line + len, .text = text};
    unsigned argc = 0;
    for (;;) {
        while (token.at < token.end && isspace(*token.at))
            token.at++;
        if (token.at == token.end)
            return (int)argc;
        struct slice argument;
        if (!read_token(&token, &argument))
            return -EINVAL;
        if (argc < max)
            argv[argc] = argument;
        argc++;
    }
}
