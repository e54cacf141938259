/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment: from our settings to its arguments, and up.
 * Thread: main, once a process.
 */
#ifndef DATAPLANE_EAL_H
#define DATAPLANE_EAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mempool;

struct eal_options {
    const char *device;    /* af_xdp:IFACE, af_packet:IFACE, tap:NAME, pci:ADDRESS or vdev:ARGS */
    const char *cores;     /* CPU numbers, as in taskset -c; the calling thread moves to the first */
    const char *hugepages; /* auto, yes or no */
    uint64_t memory;       /* bytes that DPDK must be able to hand out */
};

/* What the arguments are made of; apart so that it can be tested. */
#define EAL_MAX_ARGUMENTS 16
struct eal_arguments {
    int count;
    char *value[EAL_MAX_ARGUMENTS + 1];
    char text[1024];
    size_t used;
};
int eal_build_arguments(const struct eal_options *options, bool huge, struct eal_arguments *arguments, char *error,
                        size_t error_size);

/* 0, or -errno with one sentence in error. *huge: whether huge pages are in use. */
int eal_start(const struct eal_options *options, bool *huge, char *error, size_t error_size);
void eal_stop(void);

/* Packet buffers for about so many bytes; NULL with a sentence. An element, headers included, lies within a page. */
struct rte_mempool *eal_packet_pool(uint64_t bytes, char *error, size_t error_size);

#endif
