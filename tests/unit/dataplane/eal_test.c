/* SPDX-License-Identifier: BSD-3-Clause */
/* From settings to DPDK's arguments. */
#include "dataplane/eal.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct eal_arguments arguments;
static char error[512];

static int
build(const char *device, bool huge)
{
    const struct eal_options options = {
        .device = device, .cores = "3", .hugepages = "auto", .memory = (100ull << 20) + 1};
    return eal_build_arguments(&options, huge, &arguments, error, sizeof(error));
}

static bool
has(const char *argument)
{
    for (int i = 0; i < arguments.count; i++)
        if (strcmp(arguments.value[i], argument) == 0)
            return true;
    return false;
}

static void
each_kind_of_device(void)
{
    CU_ASSERT_EQUAL(build("af_xdp:vs0", true), 0);
    CU_ASSERT_TRUE(has("--vdev=net_af_xdp0,iface=vs0") && has("--no-pci"));
    CU_ASSERT_EQUAL(build("af_packet:eth1", true), 0);
    CU_ASSERT_TRUE(strncmp(arguments.value[arguments.count - 1], "--vdev=net_af_packet0,iface=eth1,", 33) == 0);
    CU_ASSERT_EQUAL(build("tap:dtap0", true), 0);
    CU_ASSERT_TRUE(has("--vdev=net_tap0,iface=dtap0"));
    CU_ASSERT_EQUAL(build("vdev:net_memif0,role=server", true), 0);
    CU_ASSERT_TRUE(has("--vdev=net_memif0,role=server") && has("--no-pci"));
    CU_ASSERT_EQUAL(build("pci:0000:00:04.0", true), 0);
    CU_ASSERT_TRUE(has("-a0000:00:04.0") && !has("--no-pci"));
    CU_ASSERT_PTR_NULL(arguments.value[arguments.count]);
}

static void
huge_pages_or_not(void)
{
    CU_ASSERT_EQUAL(build("tap:t", true), 0);
    CU_ASSERT_TRUE(has("--in-memory") && has("-l3") && has("--iova-mode=va") && !has("--no-huge"));
    CU_ASSERT_EQUAL(build("tap:t", false), 0);
    CU_ASSERT_TRUE(has("--no-huge") && has("-m101") && !has("--in-memory"));
}

static void
what_is_no_device(void)
{
    static const char *const bad[] = {"", "vs0", "af_xdp", "af_xdp:", "xdp:vs0", ":vs0"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CU_ASSERT(build(bad[i], true) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "af_xdp:IFACE"));
    }
    char name[2000];
    snprintf(name, sizeof(name), "vdev:%01900d", 0);
    CU_ASSERT(build(name, true) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "too long"));
}

static const struct unit_test tests[] = {
    {"each kind of device", each_kind_of_device},
    {"huge pages or not", huge_pages_or_not},
    {"what is no device", what_is_no_device},
};
UNIT_MAIN("eal", tests)
