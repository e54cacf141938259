/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of bytes against a model; memory comes back; consuming does not copy. */
#include "dataplane/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define MODEL_SIZE (1u << 20)

static void
test_basics(void)
{
    struct bytes b = {0};

    CU_ASSERT(bytes_append(&b, "hello ", 6));
    CU_ASSERT(bytes_append(&b, "world", 5));
    CU_ASSERT(bytes_append(&b, "", 0));
    CU_ASSERT_EQUAL(b.len, 11);
    CU_ASSERT_EQUAL(memcmp(bytes_data(&b), "hello world", 11), 0);
    bytes_consume(&b, 6);
    CU_ASSERT_EQUAL(memcmp(bytes_data(&b), "world", 5), 0);
    bytes_truncate(&b, 2);
    CU_ASSERT_EQUAL(b.len, 2);
    CU_ASSERT_EQUAL(memcmp(bytes_data(&b), "wo", 2), 0);
    bytes_consume(&b, 2);
    CU_ASSERT_PTR_NULL(b.block);
    bytes_free(&b);
}

static void
test_too_large(void)
{
    struct bytes b = {0};

    CU_ASSERT_PTR_NULL(bytes_reserve(&b, (1ull << 31) + 1));
    CU_ASSERT_PTR_NULL(bytes_reserve(&b, SIZE_MAX));
    CU_ASSERT(bytes_append(&b, "x", 1));
    CU_ASSERT_PTR_NULL(bytes_reserve(&b, 1ull << 31));
    CU_ASSERT_EQUAL(b.len, 1);
    CU_ASSERT_EQUAL(bytes_data(&b)[0], 'x');
    bytes_free(&b);
}

/* Appends, reserves, consumes, truncates and bytes written ahead, at random; content equal to the model's. */
static void
test_model(void)
{
    uint8_t *model = malloc(MODEL_SIZE);

    for (unsigned seed = 1; seed <= 20; seed++) {
        struct bytes b = {0};
        uint32_t start = 0, end = 0, ahead = 0; /* the model's content, and what lies written behind it */
        srand(seed);
        while (end < MODEL_SIZE - 200000) {
            uint32_t n = (uint32_t)rand() % (rand() % 20 == 0 ? 70000 : 900);
            uint8_t *room = bytes_reserve(&b, n);
            CU_ASSERT_PTR_NOT_NULL_FATAL(room);
            for (uint32_t i = ahead; i < n; i++)
                model[end + i] = room[i] = (uint8_t)rand();
            if (rand() % 3 == 0) { /* only ahead for now */
                b.ahead = ahead = n > ahead ? n : ahead;
            } else {
                bytes_commit(&b, n);
                end += n;
                ahead = ahead > n ? ahead - n : 0;
                CU_ASSERT_EQUAL(b.ahead, ahead);
            }
            uint32_t take = (uint32_t)rand() % (end - start + 1);
            if (rand() % 4 != 0)
                take /= 8;
            bytes_consume(&b, take);
            start += take;
            bool same = b.len == end - start &&
                        (b.len + ahead == 0 || memcmp(bytes_data(&b), model + start, b.len + ahead) == 0);
            if (!same)
                fprintf(stderr, "seed %u: content differs at %u\n", seed, start);
            CU_ASSERT_FATAL(same);
        }
        bytes_free(&b);
    }
    free(model);
}

/* A long-lived queue that never gets empty: its block stays in proportion and bytes are moved a bounded number of
 * times, seen by how often the first byte changes its place. */
static void
test_moves_are_rare(void)
{
    static const uint32_t levels[] = {50, 1000, 1900, 15000, 16200, 60000};
    static uint8_t data[60000];

    for (unsigned level = 0; level < sizeof(levels) / sizeof(levels[0]); level++) {
        struct bytes b = {0};
        uint64_t moved = 0, appended = levels[level];
        bytes_append(&b, data, levels[level]);
        for (unsigned i = 0; i < 20000; i++) {
            const uint8_t *before = bytes_data(&b);
            uint32_t len = b.len;
            CU_ASSERT(bytes_append(&b, data, 100));
            if (bytes_data(&b) != before)
                moved += len;
            appended += 100;
            bytes_consume(&b, 100);
            CU_ASSERT(b.capacity <= 16u << 10 || b.capacity <= 4 * levels[level]);
        }
        CU_ASSERT(moved <= 3 * appended);
        bytes_free(&b);
    }
}

static void
test_shrinks(void)
{
    struct bytes b = {0};
    uint8_t *data = calloc(1, 1u << 20);

    bytes_append(&b, data, 1u << 20);
    CU_ASSERT(b.capacity >= 1u << 20);
    bytes_consume(&b, (1u << 20) - 10);
    for (unsigned i = 0; i < 2000 && b.capacity > 1u << 19; i++) { /* the next move takes a smaller block */
        bytes_append(&b, data, 1000);
        bytes_consume(&b, 1000);
    }
    CU_ASSERT(b.capacity <= 16u << 10);
    bytes_free(&b);
    free(data);
}

static void
test_drain(void)
{
    struct bytes b[300] = {0};

    for (unsigned i = 0; i < 300; i++)
        CU_ASSERT(bytes_append(&b[i], "x", 1));
    for (unsigned i = 0; i < 300; i++)
        bytes_free(&b[i]);
    bytes_drain();
    bytes_drain();
    CU_ASSERT(bytes_append(&b[0], "y", 1));
    CU_ASSERT_EQUAL(bytes_data(&b[0])[0], 'y');
    bytes_free(&b[0]);
    bytes_drain();
}

static const struct unit_test tests[] = {
    {"basics", test_basics},   {"too large", test_too_large},
    {"model", test_model},     {"moves are rare", test_moves_are_rare},
    {"shrinks", test_shrinks}, {"drain", test_drain},
};
UNIT_MAIN("dataplane/bytes", tests)
