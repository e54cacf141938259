/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames through DPDK's ethdev: af_xdp, af_packet, tap, a PCI NIC, any vdev. One queue pair. */
#include "dataplane/port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#define DESCRIPTORS 1024
#define TX_TRIES    64 /* times a full transmit ring is tried again before frames are dropped */
#define MTU         1500

/* "af_xdp:vs0" -> kind "af_xdp", device "vs0" */
static int
split_spec(struct port *port, const char *spec, char *error, size_t error_size)
{
    const char *colon = strchr(spec, ':');
    if (!colon || colon == spec || (size_t)(colon - spec) >= sizeof(port->kind) ||
        strlen(colon + 1) >= sizeof(port->device)) {
        snprintf(error, error_size, "The device '%s' is not KIND:NAME.", spec);
        return -EINVAL;
    }
    snprintf(port->kind, sizeof(port->kind), "%.*s", (int)(colon - spec), spec);
    snprintf(port->device, sizeof(port->device), "%s", colon + 1);
    return 0;
}

static int
find_device(struct port *port, char *error, size_t error_size)
{
    uint16_t id;
    RTE_ETH_FOREACH_DEV(id)
    {
        port->id = id;
        return 0;
    }
    snprintf(error, error_size,
             "DPDK made no port of %s:%s: is the interface there, in this network namespace, and allowed to us?",
             port->kind, port->device);
    return -ENODEV;
}

/* tap would compute them in software too, with a copy of its own. */
static bool
use_offloads(const struct port *port)
{
    return strcmp(port->kind, "tap") != 0;
}

static int
configure(struct port *port, struct rte_eth_conf *conf)
{
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port->id, &info);
    if (rc != 0)
        return rc;
    if (use_offloads(port)) {
        conf->rxmode.offloads = info.rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM);
        conf->txmode.offloads = info.tx_offload_capa & (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM |
                                                        RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
    }
    port->tx_ip_checksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
    port->tx_tcp_checksum = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
    port->rx_checksum_status = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
    return rte_eth_dev_configure(port->id, 1, 1, conf);
}

static int
start_queues(const struct port *port)
{
    uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
    int socket = rte_eth_dev_socket_id(port->id);
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(port->id, 0, rx, (unsigned)socket, NULL, port->pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(port->id, 0, tx, (unsigned)socket, NULL);
    if (rc == 0)
        rc = rte_eth_dev_start(port->id);
    return rc;
}

static void
read_addresses(struct port *port)
{
    struct rte_ether_addr mac;
    uint16_t mtu = 0;
    if (rte_eth_macaddr_get(port->id, &mac) == 0)
        memcpy(port->mac, mac.addr_bytes, sizeof(port->mac));
    rte_eth_dev_get_mtu(port->id, &mtu);
    port->mtu = mtu >= 576 && mtu < MTU ? mtu : MTU;
}

int
port_open(struct port *port, const char *spec, char *error, size_t error_size)
{
    struct rte_eth_conf conf = {0};
    int rc = split_spec(port, spec, error, error_size);
    if (rc == 0)
        rc = find_device(port, error, error_size);
    if (rc != 0)
        return rc;
    rc = configure(port, &conf);
    if (rc == 0)
        rc = start_queues(port);
    if (rc != 0) {
        snprintf(error, error_size, "The port %s does not start: %s.", spec, strerror(-rc));
        rte_eth_dev_close(port->id);
        return rc;
    }
    read_addresses(port);
    return 0;
}

unsigned
port_rx_burst(struct port *port, struct rte_mbuf **frames, unsigned max)
{
    unsigned count = rte_eth_rx_burst(port->id, 0, frames, (uint16_t)max);
    for (unsigned i = 0; i < count; i++)
        port->rx_bytes += frames[i]->pkt_len;
    port->rx_frames += count;
    return count;
}

void
port_tx_burst(struct port *port, struct rte_mbuf **frames, unsigned count)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += frames[i]->pkt_len;
    unsigned sent = rte_eth_tx_burst(port->id, 0, frames, (uint16_t)count);
    for (unsigned tries = 0; sent < count && tries < TX_TRIES; tries++) {
        rte_pause();
        sent += rte_eth_tx_burst(port->id, 0, frames + sent, (uint16_t)(count - sent));
    }
    for (unsigned i = sent; i < count; i++)
        bytes -= frames[i]->pkt_len;
    rte_pktmbuf_free_bulk(frames + sent, count - sent);
    port->tx_frames += sent;
    port->tx_bytes += bytes;
    port->tx_full += count - sent;
}

void
port_close(struct port *port)
{
    rte_eth_dev_stop(port->id);
    rte_eth_dev_close(port->id);
}
