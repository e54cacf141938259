/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seam under TCP-lite: frames. One struct port per device queue pair. port_dpdk.c drives any ethdev (af_xdp,
 * af_packet, tap, virtio, a PCI NIC); tests use a ring.
 */
#ifndef DATAPLANE_PORT_H
#define DATAPLANE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

#define PORT_BURST 32

struct port {
    uint16_t id; /* ethdev port */
    uint8_t mac[6];
    uint16_t mtu;
    bool tx_ip_checksum, tx_tcp_checksum; /* the device fills them in */
    bool rx_checksum_status;              /* the device says GOOD or BAD; otherwise we verify */
    struct rte_mempool *pool;
    char kind[16]; /* af_xdp, af_packet, tap, pci: what INFO says */
    char device[64];
    uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes, tx_full; /* single writer: the core */
};

/* spec: "af_xdp:IFACE", "af_packet:IFACE", "tap:NAME", "pci:0000:00:04.0" or "vdev:ARGS". The EAL must be up (eal.h
 * turns specs into its arguments). 0 or -errno with a sentence in error. */
int port_open(struct port *port, const char *spec, char *error, size_t error_size);
unsigned port_rx_burst(struct port *port, struct rte_mbuf **frames, unsigned max);
/* Takes ownership of all frames; those that the device does not take are freed and counted. */
void port_tx_burst(struct port *port, struct rte_mbuf **frames, unsigned count);
void port_close(struct port *port);

#endif
