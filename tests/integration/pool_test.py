#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pool file: what it keeps across restarts, when it is full, and when it is not what it should be."""
import os

import harness
from harness import Instance, ReplyError, Wire, command, equal, error

NAME = 'pollux-pool'
PATH = f'/dev/shm/{NAME}.pool'
FAR = 4102444800000  # ms: the year 2100


def instance(size='64M'):
    return Instance(NAME, '--size', size, '--pool', PATH)


def test_kept_by_an_ordered_restart():
    with instance() as server:
        with server.clients(), Wire() as wire:
            equal(wire.call('FLUSHALL'), 'OK')
            for database in range(16):
                wire.call('SELECT', database)
                wire.send(b''.join(command('SET', f'k{number}', f'{database}:{number}', 'PXAT', FAR + number)
                                   for number in range(500)))
                for _ in range(500):
                    equal(wire.reply(), 'OK')
            equal(wire.call('FLUSHDB'), 'OK')
        for _ in range(2):
            server.stop(remove_pool=False)
            server.start()
        with server.clients(), Wire() as wire:
            for database in range(15):
                wire.call('SELECT', database)
                equal(wire.call('DBSIZE'), 500 + (database == 0))  # and the key of scripts/run
                for number in range(0, 500, 50):
                    equal(wire.call('GET', f'k{number}'), f'{database}:{number}'.encode())
                    equal(wire.call('PEXPIRETIME', f'k{number}'), FAR + number)
            wire.call('SELECT', 15)
            equal(wire.call('DBSIZE'), 0)


def test_full():
    """Writes are refused, reads and deletes work, and then there is room again. Also after a restart."""
    with instance('16M') as server:
        for _ in range(2):
            with server.clients(), Wire() as wire:
                count = fill(wire)
                equal(wire.call('GET', 'full:0'), b'x' * 1000)
                error(wire.call('SET', 'more', 'x' * 1000), 'OOM ')
                error(wire.call('APPEND', 'full:1', 'x'), 'OOM ')
            server.stop(remove_pool=False)
            server.start()
            with server.clients(), Wire() as wire:
                equal(wire.call('GET', f'full:{count - 1}'), b'x' * 1000)
                for number in range(count):
                    equal(wire.call('DEL', f'full:{number}'), 1)
                harness.wait_until(lambda: wire.call('SET', 'more', 'x' * 1000) == 'OK', 'room to come back')


def fill(wire):
    """SET until the pool says that it is full; the number of keys that went in."""
    for number in range(1 << 20):
        reply = wire.call('SET', f'full:{number}', 'x' * 1000)
        if isinstance(reply, ReplyError):
            error(reply, 'OOM ')
            return number
    raise AssertionError('a pool of 16 MiB took a million kilobytes')


def test_overwriting_never_fills():
    with instance('16M') as server, server.clients(), Wire() as wire:
        for turn in range(200):
            wire.send(b''.join(command('SET', f'same:{number}', f'{turn}'.zfill(500)) for number in range(500)))
            for _ in range(500):
                equal(wire.reply(), 'OK')


def refused(reason):
    text = instance().script('start', '--size', '64M', '--pool', PATH, check=False)
    assert reason in text, f'no {reason!r} in {text!r}'
    instance().stop(remove_pool=False)


def change(offset, data):
    with open(PATH, 'r+b') as file:
        file.seek(offset)
        file.write(data)


def read(offset, length):
    with open(PATH, 'rb') as file:
        file.seek(offset)
        return file.read(length)


def test_what_is_no_pool_is_refused_and_not_wiped():
    with instance() as server:
        server.script('cli', 'set', 'kept', 'yes')
        server.stop(remove_pool=False)
        size = os.path.getsize(PATH)
        first = read(0, 4096)

        change(0, b'something else'.ljust(4096, b'.'))
        refused('is not a Pollux pool')
        equal(read(0, 14), b'something else')
        change(0, first)

        os.truncate(PATH, size - (2 << 20))
        refused('it was truncated')
        os.truncate(PATH, size + (2 << 20))
        refused('it was grown')
        os.truncate(PATH, size)
    if os.path.exists(PATH):
        os.unlink(PATH)


def test_comes_back_unharmed_from_refusals():
    """A superblock damaged in one copy is read from the other."""
    with instance() as server:
        server.script('cli', 'set', 'kept', 'yes')
        server.stop(remove_pool=False)
        byte = read(24, 1)
        change(24, bytes((byte[0] ^ 1,)))
        server.start()
        equal(server.script('cli', 'get', 'kept'), 'yes\n')


harness.main(globals())
