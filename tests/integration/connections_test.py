#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand connections at a time, and many thousands one after another."""
import resource
import socket

import harness
from harness import Wire, command, equal

COUNT = 10000


def raise_limit():
    """Room for the sockets; the client namespace has 28,000 ports for them."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (COUNT + 1000, max(COUNT + 1000, resource.getrlimit(
        resource.RLIMIT_NOFILE)[1])))


def test_ten_thousand():
    harness.fresh()
    raise_limit()
    wires = []
    try:
        for number in range(COUNT - 1):  # one is left for whoever looks
            wire = Wire()
            wire.send(command('SET', f'conn:{number}', number))
            wires.append(wire)
        for number, wire in enumerate(wires):
            equal(wire.reply(), 'OK', f'connection {number}')
        for number, wire in enumerate(wires):
            wire.send(command('GET', f'conn:{number}') + command('INCR', 'conn:total'))
        totals = set()
        for number, wire in enumerate(wires):
            equal(wire.reply(), str(number).encode(), f'connection {number}')
            totals.add(wire.reply())
        equal(totals, set(range(1, COUNT)))
        with Wire() as wire:
            connected = [line for line in wire.call('INFO', 'clients').split(b'\r\n')
                         if line.startswith(b'connected_clients:')]
            equal(connected, [b'connected_clients:%d' % COUNT])
            assert len(wire.call('CLIENT', 'LIST').splitlines()) == COUNT
    finally:
        for wire in wires:
            wire.close()


def connected_clients(wire):
    info = wire.call('INFO', 'clients').decode()
    return int(info.split('connected_clients:')[1].split()[0])


def test_none_is_leaked():
    with Wire() as wire:
        harness.wait_until(lambda: connected_clients(wire) == 1, 'closed connections to be forgotten')


def test_one_after_another():
    for number in range(5000):
        with Wire() as wire:
            equal(wire.call('PING'), 'PONG', f'connection {number}')
    test_none_is_leaked()


def test_reset_by_the_client():
    """A client that vanishes with data in flight, by RST."""
    for _ in range(500):
        wire = Wire()
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        wire.send(command('GET', 'conn:1') * 100)
        wire.close()
    test_none_is_leaked()


harness.main(globals())
