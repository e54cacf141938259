/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUnit program in one file: list the tests, call unit_main. Prints each failed assertion; exit status 1 when one
 * failed. Tests mirror source paths: tests/unit/pmem/word_test.c tests pmem/word.h.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <CUnit/Basic.h>

struct unit_test {
    const char *name;
    void (*run)(void);
};

static int
unit_main(const char *suite_name, const struct unit_test *tests, unsigned count)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (unsigned i = 0; i < count; i++)
        CU_add_test(suite, tests[i].name, tests[i].run);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}

#define UNIT_MAIN(suite, tests)                                             \
    int main(void)                                                          \
    {                                                                       \
        return unit_main(suite, tests, sizeof(tests) / sizeof((tests)[0])); \
    }

#endif
