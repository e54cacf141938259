/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistence domains, from copies of what sysfs looks like on such machines. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmem/domain.h"

static char sysfs[128];

static void
make_directories(const char *path)
{
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *at = copy + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            abort();
    }
}

static void
put(const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", sysfs, name);
    make_directories(path);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fputs(content, file);
    fclose(file);
}

/* A device dev/KIND/259:N under a region with these attributes (NULL: absent). */
static void
device(const char *kind, unsigned number, const char *bus, const char *below, const char *provider, const char *devtype,
       const char *domain)
{
    char name[256], link[512], target[512];
    snprintf(name, sizeof(name), "devices/%s/provider", bus);
    put(name, provider);
    snprintf(name, sizeof(name), "devices/%s/region%u/devtype", bus, number);
    put(name, devtype);
    if (domain) {
        snprintf(name, sizeof(name), "devices/%s/region%u/persistence_domain", bus, number);
        put(name, domain);
    }
    snprintf(name, sizeof(name), "devices/%s/region%u/%s/size", bus, number, below);
    put(name, "1\n");
    snprintf(link, sizeof(link), "%s/dev/%s/259:%u", sysfs, kind, number);
    make_directories(link);
    snprintf(target, sizeof(target), "%s/devices/%s/region%u/%s", sysfs, bus, number, below);
    if (symlink(target, link) != 0)
        abort();
}

static enum persistence_domain
block(unsigned number, bool is_pmem)
{
    return domain_of_device(false, 259, number, is_pmem, sysfs);
}

static void
set_up(void)
{
    snprintf(sysfs, sizeof(sysfs), "/tmp/pollux-domain-test-XXXXXX");
    if (!mkdtemp(sysfs))
        abort();
    const char *nfit = "LNXSYSTM:00/ACPI0012:00/ndbus0";
    device("block", 0, nfit, "namespace0.0/block/pmem0", "ACPI.NFIT\n", "nd_pmem\n", "memory_controller\n");
    device("block", 1, nfit, "namespace1.0/block/pmem1/pmem1p1", "ACPI.NFIT\n", "nd_pmem\n", "cpu_cache\n");
    device("block", 2, nfit, "namespace2.0/block/pmem2", "ACPI.NFIT\n", "nd_volatile\n", NULL);
    device("char", 3, nfit, "dax3.0/dax/dax3.0", "ACPI.NFIT\n", "nd_pmem\n", "memory_controller\n");
    device("block", 4, "pci0/virtio0/ndbus1", "namespace4.0/block/pmem4", "virtio-pmem\n", "nd_pmem\n", NULL);
    device("block", 5, "platform/cxl_root0/ndbus2", "namespace5.0/block/pmem5", "CXL\n", "nd_pmem\n",
           "memory_controller\n");
    device("block", 6, "platform/e820_pmem/ndbus3", "namespace6.0/block/pmem6", "e820\n", "nd_pmem\n", NULL);
}

static void
domains_are_told_honestly(void)
{
    set_up();
    CU_ASSERT_EQUAL(block(0, true), DOMAIN_ADR);
    CU_ASSERT_EQUAL(block(1, true), DOMAIN_EADR);
    CU_ASSERT_EQUAL(block(2, true), DOMAIN_EMULATED);
    CU_ASSERT_EQUAL(domain_of_device(true, 259, 3, true, sysfs), DOMAIN_ADR);
    CU_ASSERT_EQUAL(block(4, false), DOMAIN_VIRTIO);
    CU_ASSERT_EQUAL(block(5, true), DOMAIN_MEMCTRL);
    CU_ASSERT_EQUAL(block(6, true), DOMAIN_EMULATED);
    CU_ASSERT_EQUAL(block(0, false), DOMAIN_EMULATED); /* mounted without dax: a page cache lies between */
    CU_ASSERT_EQUAL(block(99, true), DOMAIN_EMULATED); /* no such device; a disk, whatever libpmem was told */
    CU_ASSERT_EQUAL(domain_detect("/dev/null", true, "/sys"), DOMAIN_EMULATED);
    CU_ASSERT_EQUAL(domain_detect("/tmp", true, "/sys"), DOMAIN_EMULATED);
}

static void
domains_have_names(void)
{
    CU_ASSERT_STRING_EQUAL(persistence_domain_name(DOMAIN_EMULATED), "emulated");
    CU_ASSERT_STRING_EQUAL(persistence_domain_name(DOMAIN_VIRTIO), "virtio");
    CU_ASSERT_STRING_EQUAL(persistence_domain_name(DOMAIN_MEMCTRL), "memctrl");
    CU_ASSERT_STRING_EQUAL(persistence_domain_name(DOMAIN_ADR), "adr");
    CU_ASSERT_STRING_EQUAL(persistence_domain_name(DOMAIN_EADR), "eadr");
}

static void
clean_up(void)
{
    char command[160];
    snprintf(command, sizeof(command), "rm -r %s", sysfs);
    CU_ASSERT_EQUAL(system(command), 0);
}

static const struct unit_test tests[] = {
    {"domains are told honestly", domains_are_told_honestly},
    {"domains have names", domains_have_names},
    {"nothing is left behind", clean_up},
};

UNIT_MAIN("domain", tests)
