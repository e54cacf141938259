/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers over ucontext. */
#include "tests/crash/fiber.h"

#include <stdlib.h>

#define STACK_SIZE (512u << 10)

static ucontext_t scheduler;
static struct fiber *current;

static void
enter(void)
{
    struct fiber *fiber = current;
    fiber->run(fiber->arg);
    fiber->done = true;
    fiber_pause();
}

void
fiber_make(struct fiber *fiber, void (*run)(void *arg), void *arg)
{
    if (!fiber->stack)
        fiber->stack = malloc(STACK_SIZE);
    if (!fiber->stack || getcontext(&fiber->context) != 0)
        abort();
    fiber->run = run;
    fiber->arg = arg;
    fiber->done = false;
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_SIZE;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, enter, 0);
}

void
fiber_resume(struct fiber *fiber)
{
    current = fiber;
    swapcontext(&scheduler, &fiber->context);
    current = NULL;
}

void
fiber_pause(void)
{
    swapcontext(&current->context, &scheduler);
}

bool
fiber_inside(void)
{
    return current != NULL;
}
