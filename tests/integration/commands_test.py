#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Arguments at and beyond the edge, and what commands of several processes' interest answer."""
import harness
from harness import Wire, command, equal, error


def setup(*commands):
    harness.fresh()
    wire = Wire()
    for words in commands:
        reply = wire.call(*words.split(' '))
        assert not isinstance(reply, harness.ReplyError), f'{words}: {reply}'
    return wire


def test_setrange_limits():
    with setup('SET k v') as wire:
        for offset in ('9223372036854775757', '536870910'):
            error(wire.call('SETRANGE', 'k', offset, 'world'), 'ERR string exceeds maximum allowed size')
        error(wire.call('SETRANGE', 'k', '-1', 'x'), 'ERR offset is out of range')
        equal(wire.call('SETRANGE', 'k', '0', ''), 1)
        equal(wire.call('SETRANGE', 'none', '0', ''), 0)
        equal(wire.call('EXISTS', 'none'), 0)


def test_getrange_limits():
    with setup('SET k abc') as wire:
        equal(wire.call('GETRANGE', 'k', '1', '4294967296'), b'bc')
        equal(wire.call('GETRANGE', 'k', '-4294967297', '-2'), b'ab')
        equal(wire.call('GETRANGE', 'k', '5', '10'), b'')
        equal(wire.call('GETRANGE', 'k', '2', '1'), b'')


def test_counters_at_their_limits():
    with setup('SET x 10', 'SET max 9223372036854775807', 'SET min -9223372036854775808') as wire:
        error(wire.call('DECRBY', 'x', '-9223372036854775808'), 'ERR decrement would overflow')
        equal(wire.call('GET', 'x'), b'10')
        error(wire.call('INCR', 'max'), 'ERR increment or decrement would overflow')
        error(wire.call('DECR', 'min'), 'ERR increment or decrement would overflow')
        equal(wire.call('GET', 'max'), b'9223372036854775807')
        wire.call('SET', 'blank', ' 11')
        error(wire.call('INCR', 'blank'), 'ERR value is not an integer or out of range')
        equal(wire.call('GET', 'blank'), b' 11')
        error(wire.call('INCRBYFLOAT', 'x', '+inf'), 'ERR increment would produce NaN or Infinity')
        equal(wire.call('GET', 'x'), b'10')


def test_expire_limits():
    with setup('SET k v EX 1000') as wire:
        error(wire.call('EXPIRE', 'k', '9223372036854776'), "ERR invalid expire time in 'expire' command")
        error(wire.call('GETEX', 'k', 'EX', '10000000000000000'), "ERR invalid expire time in 'getex' command")
        error(wire.call('SET', 'k', 'w', 'EX', '0'), "ERR invalid expire time in 'set' command")
        error(wire.call('SETEX', 'k', '-1', 'w'), "ERR invalid expire time in 'setex' command")
        assert 900 < wire.call('TTL', 'k') <= 1000
        equal(wire.call('GET', 'k'), b'v')
        equal(wire.call('EXPIRE', 'k', '-10'), 1)
        equal(wire.call('EXISTS', 'k'), 0)


def test_scan_limits():
    with setup('SET k v') as wire:
        reply = wire.call('SCAN', '9223372036854775808')
        assert isinstance(reply, (list, harness.ReplyError)), reply
        error(wire.call('SCAN', '0', 'COUNT', '0'), 'ERR syntax error')
        error(wire.call('SCAN', 'x'), 'ERR invalid cursor')
        equal(wire.call('SCAN', '0', 'COUNT', '9223372036854775807'), [b'0', [b'k']])


def test_patterns_bounded():
    with setup('SET ' + 'a' * 200 + ' v') as wire:
        equal(wire.call('KEYS', '*a]' * 20 + '*c'), [])
        equal(wire.call('KEYS', 'a*' * 30 + 'b'), [])
        equal(wire.call('KEYS', '*' * 50000), [b'a' * 200])
        equal(len(wire.call('KEYS', '[a-c]?*')), 1)
        equal(wire.call('PING'), 'PONG')


def test_getkeys():
    with Wire() as wire:
        equal(wire.call('COMMAND', 'GETKEYS', 'MGET', 'a', 'b'), [b'a', b'b'])
        equal(wire.call('COMMAND', 'GETKEYS', 'SET', 'k', 'v'), [b'k'])
        error(wire.call('COMMAND', 'GETKEYS', 'ECHO', 'x'), 'ERR The command has no key arguments')
        error(wire.call('COMMAND', 'GETKEYS', 'NOSUCH', 'x'), 'ERR Invalid command specified')
        error(wire.call('COMMAND', 'GETKEYS', 'SET', 'k'), 'ERR Invalid number of arguments specified for command')


def test_databases():
    with setup('SET k zero', 'SELECT 15', 'SET k fifteen') as wire:
        error(wire.call('SELECT', '16'), 'ERR DB index is out of range')
        error(wire.call('SELECT', '-1'), 'ERR DB index is out of range')
        error(wire.call('SELECT', 'x'), 'ERR')
        equal(wire.call('GET', 'k'), b'fifteen')
        equal(wire.call('FLUSHDB'), 'OK')
        equal(wire.call('SELECT', '0'), 'OK')
        equal(wire.call('GET', 'k'), b'zero')


def test_background_expiry():
    """Keys that nobody asks for go, too."""
    with setup() as wire:
        wire.send(b''.join(command('SET', f'gone:{number}', 'x', 'PX', '50') for number in range(500)))
        for _ in range(500):
            equal(wire.reply(), 'OK')
        harness.wait_until(lambda: wire.call('DBSIZE') == 0, '500 expired keys to be removed')


def test_wait_blocks_no_other():
    """WAIT answers 0 after its timeout; meanwhile the core serves."""
    with Wire() as waiting, Wire() as other:
        waiting.send(command('WAIT', '1', '1000') + command('PING'))
        for _ in range(100):
            equal(other.call('PING'), 'PONG')
        equal(waiting.reply(), 0)
        equal(waiting.reply(), 'PONG')


def test_client_kill_and_list():
    with Wire() as wire, Wire() as victim:
        equal(victim.call('CLIENT', 'SETNAME', 'victim'), 'OK')
        number = victim.call('CLIENT', 'ID')
        assert b'name=victim' in wire.call('CLIENT', 'LIST', 'ID', number)
        equal(wire.call('CLIENT', 'KILL', 'ID', number), 1)
        equal(victim.expect_closed(), b'')
        error(wire.call('CLIENT', 'SETNAME', 'a b'), 'ERR Client names cannot contain spaces')


def test_config():
    with Wire() as wire:
        reply = wire.call('CONFIG', 'GET', 'maxclients', 'timeout')
        equal(sorted(reply[::2]), [b'maxclients', b'timeout'])
        error(wire.call('CONFIG', 'SET', 'nosuch', '1'),
              "ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'")
        error(wire.call('CONFIG', 'SET', 'databases', '8'),
              "ERR CONFIG SET failed (possibly related to argument 'databases')")
        error(wire.call('CONFIG', 'SET', 'timeout', '5', 'maxclients', 'many'), 'ERR CONFIG SET failed')
        equal(wire.call('CONFIG', 'GET', 'timeout'), [b'timeout', b'0'], 'nothing of a refused change is applied')


def test_info():
    with Wire() as wire:
        text = wire.call('INFO').decode()
        for field in ('redis_version:7.0', 'tcp_port:', 'uptime_in_seconds:', 'connected_clients:', 'used_memory:',
                      'total_commands_processed:', 'role:master', '# Keyspace'):
            assert field in text, f'no {field} in INFO'


harness.main(globals())
