/* SPDX-License-Identifier: BSD-3-Clause */
/* The persistence domain, from the nvdimm bus in sysfs. */
#include "pmem/domain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const char *
persistence_domain_name(enum persistence_domain domain)
{
    static const char *const names[] = {"emulated", "virtio", "memctrl", "adr", "eadr"};
    return names[domain];
}

/* The first line of a sysfs attribute without its newline; "" if it cannot be read. */
static void
read_attribute(const char *directory, const char *name, char *value, size_t size)
{
    char path[PATH_MAX];
    value[0] = '\0';
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
        return;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (!fgets(value, (int)size, file))
        value[0] = '\0';
    value[strcspn(value, "\n")] = '\0';
    fclose(file);
}

/* Cut path after its component that starts with prefix and a digit, as in ".../ndbus0/region1/...". */
static bool
cut_after(char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        if (strncmp(at + 1, prefix, len) == 0 && at[1 + len] >= '0' && at[1 + len] <= '9') {
            char *end = strchr(at + 1, '/');
            if (end)
                *end = '\0';
            return true;
        }
    }
    return false;
}

enum persistence_domain
domain_of_device(bool character, unsigned major, unsigned minor, bool is_pmem, const char *sysfs)
{
    char link[PATH_MAX], region[PATH_MAX], bus[PATH_MAX], value[64];
    snprintf(link, sizeof(link), "%s/dev/%s/%u:%u", sysfs, character ? "char" : "block", major, minor);
    if (!realpath(link, region))
        return DOMAIN_EMULATED;
    memcpy(bus, region, sizeof(bus));
    if (!cut_after(bus, "ndbus") || !cut_after(region, "region"))
        return DOMAIN_EMULATED;

    read_attribute(bus, "provider", value, sizeof(value));
    if (strcmp(value, "virtio-pmem") == 0)
        return DOMAIN_VIRTIO; /* flushes stop at the host's page cache */
    bool cxl = strcmp(value, "CXL") == 0 || strstr(region, "/cxl") != NULL;
    if (strcmp(value, "e820") == 0)
        return DOMAIN_EMULATED; /* ordinary memory set aside by memmap= */
    read_attribute(region, "devtype", value, sizeof(value));
    if (strcmp(value, "nd_volatile") == 0 || !is_pmem)
        return DOMAIN_EMULATED;
    read_attribute(region, "persistence_domain", value, sizeof(value));
    if (strcmp(value, "cpu_cache") == 0)
        return DOMAIN_EADR;
    return cxl ? DOMAIN_MEMCTRL : DOMAIN_ADR;
}

enum persistence_domain
domain_detect(const char *path, bool is_pmem, const char *sysfs)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return DOMAIN_EMULATED;
    bool character = S_ISCHR(st.st_mode);
    dev_t device = character ? st.st_rdev : st.st_dev;
    return domain_of_device(character, major(device), minor(device), is_pmem, sysfs);
}
