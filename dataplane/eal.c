/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings -> EAL arguments. */
#include "dataplane/eal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#define HUGE_PAGE       (2ull << 20)
#define HUGE_PAGES_FREE "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
#define BUFFERS_A_CACHE 256u
#define SMALL_PAGE      4096u

/* Frames of 1500 bytes of MTU with room for headers; with mbuf and pool headers it stays below a 4 KiB page, which
 * AF_XDP asks of a chunk. */
#define BUFFER_SIZE RTE_MBUF_DEFAULT_BUF_SIZE

static int
add(struct eal_arguments *arguments, const char *format, const char *a, const char *b)
{
    size_t room = sizeof(arguments->text) - arguments->used;
    char *at = arguments->text + arguments->used;
    int len = snprintf(at, room, format, a, b);
    if (len < 0 || (size_t)len >= room || arguments->count == EAL_MAX_ARGUMENTS)
        return -E2BIG;
    arguments->used += (size_t)len + 1;
    arguments->value[arguments->count++] = at;
    arguments->value[arguments->count] = NULL;
    return 0;
}

static const struct {
    const char *prefix, *format;
} device_kinds[] = {
    {"af_xdp:", "--vdev=net_af_xdp0,iface=%s"},
    {"af_packet:", "--vdev=net_af_packet0,iface=%s,blocksz=65536,framesz=2048,framecnt=4096"},
    {"tap:", "--vdev=net_tap0,iface=%s"},
    {"vdev:", "--vdev=%s"},
    {"pci:", "-a%s"},
};

static int
add_device(struct eal_arguments *arguments, const char *device, char *error, size_t error_size)
{
    for (unsigned i = 0; i < RTE_DIM(device_kinds); i++) {
        size_t len = strlen(device_kinds[i].prefix);
        if (strncmp(device, device_kinds[i].prefix, len) != 0 || device[len] == '\0')
            continue;
        if (strcmp(device_kinds[i].prefix, "pci:") != 0 && add(arguments, "--no-pci", "", "") != 0)
            return -E2BIG;
        return add(arguments, device_kinds[i].format, device + len, "");
    }
    snprintf(error, error_size,
             "The device '%s' is not one of af_xdp:IFACE, af_packet:IFACE, tap:NAME, pci:ADDRESS, vdev:ARGS.", device);
    return -EINVAL;
}

int
eal_build_arguments(const struct eal_options *options, bool huge, struct eal_arguments *arguments, char *error,
                    size_t error_size)
{
    char megabytes[24], prefix[24];
    memset(arguments, 0, sizeof(*arguments));
    snprintf(error, error_size, "The device or cores setting is too long.");
    snprintf(megabytes, sizeof(megabytes), "%llu", (unsigned long long)((options->memory + (1u << 20) - 1) >> 20));
    snprintf(prefix, sizeof(prefix), "pollux-%d", getpid());
    int rc = add(arguments, "pollux-dataplane", "", "");
    if (rc == 0)
        rc = add(arguments, "-l%s", options->cores, "");
    if (rc == 0)
        rc = add(arguments, "--iova-mode=va", "", "");
    if (rc == 0)
        rc = add(arguments, "--no-telemetry", "", "");
    if (rc == 0)
        rc = add(arguments, "--log-level=error", "", "");
    if (rc == 0 && huge)
        rc = add(arguments, "--in-memory", "", "");
    if (rc == 0 && !huge)
        rc = add(arguments, "--no-huge", "", "");
    if (rc == 0 && !huge)
        rc = add(arguments, "--no-shconf", "", "");
    if (rc == 0 && !huge)
        rc = add(arguments, "-m%s", megabytes, "");
    if (rc == 0 && !huge)
        rc = add(arguments, "--file-prefix=%s", prefix, "");
    return rc == 0 ? add_device(arguments, options->device, error, error_size) : rc;
}

static uint64_t
free_huge_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen(HUGE_PAGES_FREE, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * HUGE_PAGE;
}

int
eal_start(const struct eal_options *options, bool *huge, char *error, size_t error_size)
{
    struct eal_arguments arguments;
    uint64_t free_bytes = free_huge_bytes();
    *huge = strcmp(options->hugepages, "no") != 0 && free_bytes >= options->memory;
    if (!*huge && strcmp(options->hugepages, "yes") == 0) {
        snprintf(error, error_size,
                 "Huge pages are asked for, but %llu MiB are needed and %llu MiB are free: raise vm.nr_hugepages or "
                 "set hugepages to auto.",
                 (unsigned long long)(options->memory >> 20), (unsigned long long)(free_bytes >> 20));
        return -ENOMEM;
    }
    int rc = eal_build_arguments(options, *huge, &arguments, error, error_size);
    if (rc != 0)
        return rc;
    if (rte_eal_init(arguments.count, arguments.value) < 0) {
        snprintf(error, error_size, "DPDK does not start on cores %s with device %s: %s.", options->cores,
                 options->device, rte_strerror(rte_errno));
        return -ENODEV;
    }
    /* Made for files that we do not use; a process that is killed shall leave nothing behind. */
    rmdir(rte_eal_get_runtime_dir());
    return 0;
}

void
eal_stop(void)
{
    rte_eal_cleanup();
}

struct rte_mempool *
eal_packet_pool(uint64_t bytes, char *error, size_t error_size)
{
    struct rte_mempool_objsz sizes;
    uint32_t element = rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + BUFFER_SIZE, 0, &sizes);
    if (!rte_eal_has_hugepages())
        element = RTE_ALIGN_CEIL(element, SMALL_PAGE); /* the pool lets no element cross a page */
    uint64_t count = bytes / element;
    struct rte_mempool *pool = rte_pktmbuf_pool_create("packets", (unsigned)RTE_MIN(count, UINT32_MAX / 2),
                                                       BUFFERS_A_CACHE, 0, BUFFER_SIZE, (int)rte_socket_id());
    if (!pool)
        snprintf(error, error_size, "No memory for %llu packet buffers (%s): lower packet-memory.",
                 (unsigned long long)count, rte_strerror(rte_errno));
    return pool;
}
