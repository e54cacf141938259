/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers: the cores of the simulated machine, all in one thread, switched by hand. */
#ifndef TESTS_CRASH_FIBER_H
#define TESTS_CRASH_FIBER_H

#include <stdbool.h>
#include <ucontext.h>

struct fiber {
    ucontext_t context;
    void (*run)(void *arg);
    void *arg;
    void *stack;
    bool done;
};

/* A fiber that will call run(arg). Its stack is kept for the next one that is made in the same struct. */
void fiber_make(struct fiber *fiber, void (*run)(void *arg), void *arg);

/* From the scheduler: let the fiber run until it pauses or is done. */
void fiber_resume(struct fiber *fiber);

/* From a fiber: back to the scheduler. */
void fiber_pause(void);

/* True in a fiber. */
bool fiber_inside(void);

#endif
