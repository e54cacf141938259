/* SPDX-License-Identifier: BSD-3-Clause */
/* A core's statistics. */
#include "dataplane/core_stats.h"

#include <rte_cycles.h>

#include "dataplane/log.h"
#include "dataplane/net/net.h"
#include "dataplane/net/transport_tcp.h"
#include "dataplane/tcp/tcp.h"

void
core_stats_init(struct core_stats *stats, struct worker *worker, const struct port *port)
{
    stats->worker = worker;
    stats->port = port;
    stats->next_us = 0;
    stats->ns_per_tsc = (uint64_t)(((unsigned __int128)1000000000 << 32) / rte_get_tsc_hz());
}

static void
copy_port(uint64_t *counter, const struct port *port)
{
    counter[COUNTER_rx_frames] = port->rx_frames;
    counter[COUNTER_rx_bytes] = port->rx_bytes;
    counter[COUNTER_tx_frames] = port->tx_frames;
    counter[COUNTER_tx_bytes] = port->tx_bytes;
    counter[COUNTER_tx_full] = port->tx_full;
}

static void
copy_transport(uint64_t *counter, const struct transport *transport)
{
    const struct tcp_counters *tcp = transport_tcp_counters(transport);
    const uint64_t *net_drops = transport_tcp_drops(transport);
    counter[COUNTER_input_bytes] = tcp->bytes_in;
    counter[COUNTER_output_bytes] = tcp->bytes_out;
    counter[COUNTER_tcp_segments_in] = tcp->segments_in;
    counter[COUNTER_tcp_segments_out] = tcp->segments_out;
    counter[COUNTER_tcp_retransmits] = tcp->retransmits;
    counter[COUNTER_tcp_timeouts] = tcp->timeouts;
    counter[COUNTER_tcp_out_of_order] = tcp->out_of_order;
    counter[COUNTER_tcp_resets] = tcp->resets;
    for (unsigned i = 0; i < NET_DROPS; i++)
        counter[COUNTER_drop_net_SHORT + i] = net_drops[i];
    for (unsigned i = TCP_ACCEPTED + 1; i < TCP_DROPS; i++)
        counter[COUNTER_drop_tcp_SHORT + i - 1] = tcp->drops[i];
}

static void
copy_engine(uint64_t *counter, const struct core *core)
{
    struct core_counts counts;
    core_counts(core, &counts);
    counter[COUNTER_fences] = counts.fences;
    counter[COUNTER_flushed_lines] = counts.flushed_lines;
    counter[COUNTER_appended_bytes] = counts.appended_bytes;
    counter[COUNTER_expired] = counts.expired;
}

void
core_stats_turn(struct core_stats *stats, uint64_t now_us)
{
    struct worker *worker = stats->worker;
    if (now_us < stats->next_us)
        return;
    stats->next_us = now_us + CORE_STATS_EVERY_US;
    copy_port(worker->stats->counter, stats->port);
    copy_transport(worker->stats->counter, &worker->transport);
    copy_engine(worker->stats->counter, worker->core);
    /* Settings that live outside the protocol. */
    transport_tcp_keepalive(&worker->transport, (uint64_t)worker->server->settings.tcp_keepalive);
    log_set_level(worker->server->settings.loglevel);
}
