#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""redis-benchmark with every test and option that the commands we have can serve. Counts replies, measures nothing."""
import harness
from harness import Wire, equal, run

BENCHMARK = ('redis-benchmark', '-h', harness.HOST, '-p', str(harness.PORT))


def benchmark(*words, expected=()):
    done = run(*BENCHMARK, '--csv', *words, check=False)
    out = done.stdout + done.stderr
    lines = [line.split(',')[0].strip('"') for line in done.stdout.splitlines() if line.startswith('"')][1:]
    assert done.returncode == 0 and 'rror' not in out.replace('"', ''), out[-400:]
    equal(lines, list(expected) if expected else lines)
    return done.stdout


def test_every_test():
    """Those over strings and keys; lists, sets, hashes and sorted sets come with their types."""
    harness.fresh()
    names = ('PING_INLINE', 'PING_MBULK', 'SET', 'GET', 'INCR')
    benchmark('-t', 'ping_inline,ping_mbulk,set,get,incr', '-n', '2000', expected=names)
    with Wire() as wire:
        equal(wire.call('GET', 'key:__rand_int__'), b'VXK')
        equal(wire.call('GET', 'counter:__rand_int__'), b'2000')


def test_random_keys():
    harness.fresh()
    benchmark('-t', 'set,get', '-n', '20000', '-r', '1000', '-d', '128', '-c', '50', '-P', '16',
              expected=('SET', 'GET'))
    with Wire() as wire:
        count = wire.call('DBSIZE')
        assert 900 < count <= 1000, count


def test_connections():
    for clients in ('1', '50', '500'):
        benchmark('-t', 'set,get', '-n', '2000', '-c', clients)
    benchmark('-t', 'ping_mbulk,set', '-n', '200', '-c', '20', '-k', '0')


def test_sizes():
    for size in ('1', '1000', '1460', '16000', '200000'):
        benchmark('-t', 'set,get', '-n', '300', '-c', '10', '-d', size)


def test_deep_pipeline():
    benchmark('-t', 'set,get', '-n', '50000', '-P', '1000', '-c', '10', '-r', '100000')


def test_own_commands():
    harness.fresh()
    benchmark('-n', '2000', 'SET', 'own:__rand_int__', 'x', 'EX', '100', 'GET')
    benchmark('-n', '2000', '-r', '100', 'APPEND', 'log:__rand_int__', 'abc')
    benchmark('-n', '2000', '-P', '8', 'ECHO', 'hello')
    benchmark('-n', '500', 'MGET', 'a', 'b', 'c')
    benchmark('-n', '500', '-x', 'SETEX', 'own', '100', expected=())


def test_databases_and_resp3():
    harness.fresh()
    benchmark('-t', 'set', '-n', '1000', '--dbnum', '3', '-3')
    benchmark('-t', 'set,get', '-n', '2000', '--threads', '2')
    with Wire() as wire:
        wire.call('SELECT', '3')
        equal(wire.call('DBSIZE'), 1)


def test_password():
    with Wire() as admin:
        equal(admin.call('CONFIG', 'SET', 'requirepass', 'pw'), 'OK')
        try:
            benchmark('-a', 'pw', '-t', 'ping_inline,set', '-n', '500')
            benchmark('-a', 'pw', '--user', 'default', '-t', 'set', '-n', '500')
        finally:
            admin.call('AUTH', 'pw')
            equal(admin.call('CONFIG', 'SET', 'requirepass', ''), 'OK')


def test_quiet_and_precise():
    out = run(*BENCHMARK, '-t', 'set,get', '-n', '1000', '-q', '--precision', '3', '-e').stdout
    assert out.count('requests per second') == 2, out


harness.main(globals())
