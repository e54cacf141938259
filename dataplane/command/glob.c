/* SPDX-License-Identifier: BSD-3-Clause */
/* Glob patterns, without recursion: only the last star ever needs to be tried again. */
#include "dataplane/command/glob.h"

#include <ctype.h>

static bool
same(char a, char b, bool ignore_case)
{
    return a == b || (ignore_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* Bytes above 127 sort as negative numbers, as they do in Redis on x86. */
static bool
in_range(char low, char high, char c, bool ignore_case)
{
    int from = (signed char)low, to = (signed char)high, at = (signed char)c;
    if (from > to) {
        int swap = from;
        from = to;
        to = swap;
    }
    if (ignore_case) {
        from = tolower((unsigned char)from);
        to = tolower((unsigned char)to);
        at = tolower((unsigned char)at);
    }
    return at >= from && at <= to;
}

/* p is behind '['. Returns what follows the class, which the end of the pattern closes, too; NULL: c is not in it. */
static const char *
match_class(const char *p, const char *end, char c, bool ignore_case)
{
    bool negate = p < end && *p == '^', found = false;
    for (p += negate; p < end && *p != ']'; p++) {
        if (*p == '\\' && end - p >= 2) {
            p++;
            found |= *p == c;
        } else if (end - p >= 3 && p[1] == '-') {
            found |= in_range(p[0], p[2], c, ignore_case);
            p += 2;
        } else {
            found |= same(*p, c, ignore_case);
        }
    }
    if (p < end)
        p++;
    return found != negate ? p : NULL;
}

/* One element of the pattern against one byte: what follows the element, or NULL. */
static const char *
match_one(const char *p, const char *end, char c, bool ignore_case)
{
    if (p == end)
        return NULL;
    if (*p == '?')
        return p + 1;
    if (*p == '[')
        return match_class(p + 1, end, c, ignore_case);
    if (*p == '\\' && end - p >= 2)
        p++;
    return same(*p, c, ignore_case) ? p + 1 : NULL;
}

bool
glob_match(const char *pattern, size_t pattern_len, const char *text, size_t len, bool ignore_case)
{
    const char *p = pattern, *pattern_end = pattern + pattern_len, *text_end = text + len;
    const char *behind_star = NULL, *star_text = NULL;
    if (len == 0)
        return pattern_len == 0;
    while (text < text_end) {
        if (p < pattern_end && *p == '*') {
            behind_star = ++p;
            star_text = text;
            if (p == pattern_end)
                return true;
            continue;
        }
        const char *next = match_one(p, pattern_end, *text, ignore_case);
        if (next) {
            p = next;
            text++;
        } else if (behind_star) {
            p = behind_star;
            text = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern_end && *p == '*')
        p++;
    return p == pattern_end;
}
