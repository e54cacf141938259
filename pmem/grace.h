/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grace periods: when is nobody looking any more at what was displaced? DPDK's rte_rcu_qsbr with a core's number as
 * its thread id. Cores report quiescent at the end of batch_tend, after their own FENCE 2, so a grace period that is
 * over also means that every displacing word written before it is durable. Never waits.
 */
#ifndef PMEM_GRACE_H
#define PMEM_GRACE_H

#include <stdbool.h>
#include <stdint.h>

struct rte_rcu_qsbr;

struct grace {
    struct rte_rcu_qsbr *qsbr;
};

int grace_init(struct grace *grace, unsigned cores); /* 0 or -ENOMEM; all cores begin offline */
void grace_free(struct grace *grace);
void grace_online(struct grace *grace, unsigned core);
void grace_offline(struct grace *grace, unsigned core);
void grace_quiescent(struct grace *grace, unsigned core);
uint64_t grace_start(struct grace *grace);            /* a token */
bool grace_over(struct grace *grace, uint64_t token); /* any core */

#endif
