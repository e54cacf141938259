/* SPDX-License-Identifier: BSD-3-Clause */
/* polluxctl: JSON values for people. */
#include "control/cli/cli.h"

#include <string.h>

#define CELL 512

void
print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
    putchar('\n');
}

static void
format_cell(json_t *value, char *cell, size_t size)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        snprintf(cell, size, "%s", json_string_value(value));
        break;
    case JSON_INTEGER:
        snprintf(cell, size, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(cell, size, "%.3f", json_real_value(value));
        break;
    case JSON_TRUE:
        snprintf(cell, size, "yes");
        break;
    case JSON_FALSE:
        snprintf(cell, size, "no");
        break;
    default: {
        size_t length = json_is_null(value) ? 0 : json_dumpb(value, cell, size - 1, JSON_COMPACT);
        cell[length < size ? length : size - 1] = '\0';
        break;
    }
    }
}

static void
print_pairs(FILE *file, json_t *object)
{
    int width = 0;
    char cell[CELL];
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) width = (int)strlen(name) > width ? (int)strlen(name) : width;
    json_object_foreach(object, name, value)
    {
        format_cell(value, cell, sizeof(cell));
        fprintf(file, "%-*s  %s\n", width, name, cell);
    }
}

/* Width of a column: its name's or its longest value's. */
static int
column_width(json_t *rows, const char *name)
{
    int width = (int)strlen(name);
    char cell[CELL];
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        json_t *value = json_object_get(row, name);
        if (value == NULL)
            continue;
        format_cell(value, cell, sizeof(cell));
        width = (int)strlen(cell) > width ? (int)strlen(cell) : width;
    }
    return width;
}

/* The columns are those of the first row. */
static void
print_table(FILE *file, json_t *rows)
{
    json_t *first = json_array_get(rows, 0), *widths = json_object(), *row, *value;
    const char *name;
    char cell[CELL];
    size_t i;

    json_object_foreach(first, name, value)
    {
        json_object_set_new(widths, name, json_integer(column_width(rows, name)));
        fprintf(file, "%-*s  ", (int)json_integer_value(json_object_get(widths, name)), name);
    }
    fputc('\n', file);
    json_array_foreach(rows, i, row)
    {
        json_object_foreach(widths, name, value)
        {
            cell[0] = '\0';
            if (json_object_get(row, name) != NULL)
                format_cell(json_object_get(row, name), cell, sizeof(cell));
            fprintf(file, "%-*s  ", (int)json_integer_value(value), cell);
        }
        fputc('\n', file);
    }
    json_decref(widths);
}

void
print_plain(FILE *file, json_t *value)
{
    char cell[CELL];

    if (json_is_object(value)) {
        print_pairs(file, value);
    } else if (json_is_array(value) && json_is_object(json_array_get(value, 0))) {
        print_table(file, value);
    } else if (!json_is_array(value) || json_array_size(value) > 0) {
        format_cell(value, cell, sizeof(cell));
        fprintf(file, "%s\n", cell);
    }
}
