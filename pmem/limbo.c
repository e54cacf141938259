/* SPDX-License-Identifier: BSD-3-Clause */
/* Table pages in line: for a split, or for a grace period before they are free. The links lie in page_state. */
#include "pmem/engine_internal.h"

#define LIMBO_SLICE 8u

void
page_queue_push(struct engine *engine, struct page_queue *queue, uint32_t number)
{
    engine->pages[number].next = 0;
    if (queue->first)
        engine->pages[queue->last].next = number;
    else
        queue->first = number;
    queue->last = number;
}

uint32_t
page_queue_pop(struct engine *engine, struct page_queue *queue)
{
    uint32_t number = queue->first;
    if (number)
        queue->first = engine->pages[number].next;
    return number;
}

void
limbo_add(struct core *core, uint64_t offset, uint32_t pages)
{
    struct engine *engine = core->engine;
    uint32_t number = (uint32_t)(offset / PAGE_SIZE_TABLE);
    engine->pages[number].token = grace_start(&engine->grace);
    engine->pages[number].count = pages;
    page_queue_push(engine, &core->limbo, number);
}

bool
limbo_tend(struct core *core)
{
    struct engine *engine = core->engine;
    for (unsigned n = 0; n < LIMBO_SLICE && core->limbo.first; n++) {
        if (!grace_over(&engine->grace, engine->pages[core->limbo.first].token))
            break;
        uint32_t number = page_queue_pop(engine, &core->limbo);
        space_pages_free(engine->space, (uint64_t)number * PAGE_SIZE_TABLE, engine->pages[number].count);
    }
    return core->limbo.first != 0;
}
