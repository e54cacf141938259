/* SPDX-License-Identifier: BSD-3-Clause */
/* Grace periods by DPDK's rte_rcu_qsbr, which needs no EAL. */
#include "pmem/grace.h"

#include <errno.h>
#include <stdlib.h>
#include <rte_rcu_qsbr.h>

int
grace_init(struct grace *grace, unsigned cores)
{
    size_t size = rte_rcu_qsbr_get_memsize(cores);
    grace->qsbr = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, RTE_CACHE_LINE_SIZE));
    if (!grace->qsbr)
        return -ENOMEM;
    rte_rcu_qsbr_init(grace->qsbr, cores);
    for (unsigned core = 0; core < cores; core++)
        rte_rcu_qsbr_thread_register(grace->qsbr, core);
    return 0;
}

void
grace_free(struct grace *grace)
{
    free(grace->qsbr);
    grace->qsbr = NULL;
}

void
grace_online(struct grace *grace, unsigned core)
{
    rte_rcu_qsbr_thread_online(grace->qsbr, core);
}

void
grace_offline(struct grace *grace, unsigned core)
{
    rte_rcu_qsbr_thread_offline(grace->qsbr, core);
}

void
grace_quiescent(struct grace *grace, unsigned core)
{
    rte_rcu_qsbr_quiescent(grace->qsbr, core);
}

uint64_t
grace_start(struct grace *grace)
{
    return rte_rcu_qsbr_start(grace->qsbr);
}

bool
grace_over(struct grace *grace, uint64_t token)
{
    return rte_rcu_qsbr_check(grace->qsbr, token, false);
}
