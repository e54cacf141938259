#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What stock clients send first, as they send it: several requests to a segment, in their own letters.

Each session is a list of (segment, replies): the segment goes out in one piece, the replies must come byte for byte.
A reply that is not bytes is a pattern, or ANY.
"""
import re

import harness
from harness import Wire, command, equal

OK = b'+OK\r\n'
NULL = b'$-1\r\n'
NULL3 = b'_\r\n'
HELLO3 = re.compile(rb'%7\r\n\$6\r\nserver\r\n\$5\r\nredis\r\n\$7\r\nversion\r\n\$\d+\r\n7\.0\.\d+\r\n\$5\r\nproto\r\n'
                    rb':3\r\n\$2\r\nid\r\n:\d+\r\n\$4\r\nmode\r\n\$10\r\nstandalone\r\n\$4\r\nrole\r\n\$6\r\nmaster\r\n'
                    rb'\$7\r\nmodules\r\n\*0\r\n')
HELLO2 = re.compile(HELLO3.pattern.replace(b'%7', rb'\*14').replace(b':3', b':2'))
ANY = None  # one whole reply


def bulk(data):
    return b'$%d\r\n%s\r\n' % (len(data), data)


def unknown(name, *arguments):
    args = ''.join(f"'{argument}' " for argument in arguments)
    return f"-ERR unknown command '{name}', with args beginning with: {args}\r\n".encode()


def unknown_sub(name, command_name='CLIENT'):
    return f"-ERR unknown subcommand '{name}'. Try {command_name} HELP.\r\n".encode()


def play(name, *connections, password=''):
    """Each connection is a list of (requests, replies)."""
    for segments in connections:
        with Wire() as wire:
            for requests, replies in segments:
                wire.send(b''.join(r if isinstance(r, bytes) else command(*r.split(' ')) for r in requests))
                for request, reply in zip(requests, replies):
                    expect(wire, reply, f'{name}: {request}')
            wire.socket.setblocking(False)
            try:
                rest = wire.buffer + wire.socket.recv(100)
            except BlockingIOError:
                rest = wire.buffer
            equal(rest, b'', f'{name}: more than the replies')


def expect(wire, reply, what):
    if isinstance(reply, bytes):
        equal(wire.take(len(reply)), reply, what)
        return
    if reply is ANY:
        assert wire.reply(), what
        return
    while not reply.match(wire.buffer):
        try:
            wire.fill()
        except (harness.Closed, TimeoutError) as fault:
            raise AssertionError(f'{what}: got {harness.short(wire.buffer)}') from fault
    wire.buffer = wire.buffer[reply.match(wire.buffer).end():]


def test_ioredis():
    harness.fresh()
    opening = (['hello 3'], [HELLO3])
    names = (['select 2', 'client setname app', 'client SETINFO LIB-VER 6.0.0', 'client SETINFO LIB-NAME ioredis'],
             [OK, OK, OK, OK])
    play('ioredis', [opening, names, (['info'], [ANY]), (['set k v'], [OK])],
         [(['hello 3', 'select 2', 'client setname app', 'client SETINFO LIB-VER 6.0.0',
            'client SETINFO LIB-NAME ioredis'], [HELLO3, OK, OK, OK, OK]), (['info'], [ANY])])


def test_node_redis():
    harness.fresh()
    maintenance = 'CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type external-ip'
    play('node-redis', [(['HELLO 3 SETNAME app', 'SELECT 1', 'CLIENT SETINFO LIB-VER 6.3.1',
                          'CLIENT SETINFO LIB-NAME node-redis', maintenance],
                         [HELLO3, OK, OK, OK, unknown_sub('MAINT_NOTIFICATIONS')]),
                        (['SET k v'], [OK])])
    play('node-redis RESP2', [(['CLIENT SETNAME app', 'SELECT 1', 'CLIENT SETINFO LIB-VER 6.3.1',
                                'CLIENT SETINFO LIB-NAME node-redis'], [OK, OK, OK, OK]),
                              (['SET k v'], [OK])])


def test_iovalkey():
    harness.fresh()
    play('iovalkey', [(['select 2'], [OK]), (['info'], [ANY]), (['client setname app'], [OK]), (['set k v'], [OK])])


def test_bullmq():
    play('bullmq', [(['hello 3'], [HELLO3]),
                    (['client SETINFO LIB-VER 6.0.0', 'client SETINFO LIB-NAME ioredis'], [OK, OK]),
                    (['info'], [ANY]), (['info'], [ANY]), (['quit'], [OK])])


def test_redis_py():
    harness.fresh()
    play('redis-py', [(['CLIENT SETNAME app'], [OK]), (['SELECT 1'], [OK]), (['SET a b'], [OK]),
                      (['SET L ba1f0334ecfa11f185db02fc00000001 NX'], [OK]),
                      (['SET L ba1f0334ecfa11f185db02fc00000001 NX'], [NULL])])


def test_redis_cli():
    harness.fresh()
    play('redis-cli', [(['COMMAND DOCS'], [ANY])])
    play('redis-cli', [(['set a b'], [OK]), (['get a'], [bulk(b'b')])])
    play('redis-cli -3', [(['HELLO 3'], [HELLO3]), (['ping'], [b'+PONG\r\n'])])
    scanned = b'*2\r\n' + bulk(b'0') + b'*1\r\n' + bulk(b'a')
    play('redis-cli --bigkeys', [(['DBSIZE'], [b':1\r\n']), (['SCAN 0'], [scanned]), (['TYPE a'], [b'+string\r\n']),
                                 (['STRLEN a'], [b':1\r\n'])])
    play('redis-cli --pipe', [([command('SET', 'z', '1'), b'\r\n' + command('ECHO', b'\xce\xe85"\xfd~F\xfd-\xa8s')],
                               [OK, bulk(b'\xce\xe85"\xfd~F\xfd-\xa8s')])])


def test_redis_benchmark():
    harness.fresh()
    play('redis-benchmark',
         [(['CONFIG GET save', 'CONFIG GET appendonly'],
           [b'*2\r\n' + bulk(b'save') + bulk(b''), b'*2\r\n' + bulk(b'appendonly') + bulk(b'no')])],
         [([b'PING\r\n'], [b'+PONG\r\n'])],
         [(['PING'], [b'+PONG\r\n'])],
         [(['SET key:__rand_int__ VXK'], [OK])],
         [(['GET key:__rand_int__'], [bulk(b'VXK')])],
         [(['INCR counter:__rand_int__'], [b':1\r\n'])],
         [(['SELECT 2', 'HELLO 3', 'SET key:000000000000 VXK', 'SET key:000000000003 VXK'], [OK, HELLO3, OK, OK])],
         [(['SELECT 2', 'HELLO 3', 'GET key:000000000005', 'GET key:000000000005'], [OK, HELLO3, NULL3, NULL3]),
          (['GET key:000000000005', 'GET key:000000000000'], [NULL3, bulk(b'VXK')])])


def test_memtier():
    harness.fresh()
    value = 'x' * 20
    play('memtier',
         [(['SET memtier-0 ' + value], [OK]), (['GET memtier-2'], [NULL]), (['SET memtier-3 ' + value], [OK])],
         [(['SET memtier-0 xxxx', 'GET memtier-2', 'SET memtier-3 xxxx', 'GET memtier-2'], [OK, NULL, OK, NULL]),
          (['SET memtier-3 xxxx', 'GET memtier-3', 'SET memtier-0 xxxx', 'GET memtier-2'],
           [OK, bulk(b'xxxx'), OK, NULL])],
         [(['HELLO 2'], [HELLO2]), (['SET memtier-0 xxxx'], [OK]), (['GET memtier-2'], [NULL])],
         [(['HELLO 3'], [HELLO3]), (['SET memtier-0 xxxx'], [OK]), (['GET memtier-2'], [NULL3])],
         [(['SELECT 3'], [OK]), (['SET memtier-0 xxxx'], [OK]), (['GET memtier-2'], [NULL])],
         [(['SETEX memtier-0 14 xxxx'], [OK]), (['SETEX memtier-3 17 xxxx'], [OK])],
         [(['WAIT 1 8'], [b':0\r\n']), (['SET memtier-2 xxxx'], [OK]), (['WAIT 1 7'], [b':0\r\n']),
          (['GET memtier-2'], [bulk(b'xxxx')])],
         [(['SETRANGE memtier-5 16 xxxx'], [b':20\r\n']), (['GETRANGE memtier-2 16 -1'], [bulk(b'')]),
          (['GET memtier-5'], [bulk(b'\0' * 16 + b'xxxx')])],
         [(['INCR ctr:memtier-0'], [b':1\r\n']), (['INCR ctr:memtier-0'], [b':2\r\n'])])


def test_with_password():
    noauth = b'-NOAUTH Authentication required.\r\n'
    wrong = b'-WRONGPASS invalid username-password pair or user is disabled.\r\n'
    harness.fresh()
    with Wire() as admin:
        equal(admin.call('CONFIG', 'SET', 'requirepass', 's3cret'), 'OK')
        try:
            play('memtier', [(['AUTH s3cret'], [OK]), (['SET memtier-0 xxxx'], [OK]), (['GET memtier-2'], [NULL])],
                 [(['AUTH default s3cret'], [OK]), (['SET memtier-0 xxxx'], [OK])],
                 [(['AUTH default s3cret', 'SELECT 1', 'HELLO 3'], [OK, OK, HELLO3]), (['GET memtier-2'], [NULL3])])
            play('YCSB', [(['AUTH bad'], [wrong])], [(['SET user6284781860667377211 x'], [noauth])])
            play('redis-benchmark', [(['AUTH default s3cret', b'PING\r\n'], [OK, b'+PONG\r\n'])])
            play('HELLO', [(['HELLO 3 AUTH default s3cret SETNAME app'], [HELLO3])],
                 [(['HELLO 3 AUTH default bad'], [wrong])],
                 [(['PING'], [noauth])])
        finally:
            admin.call('AUTH', 's3cret')
            equal(admin.call('CONFIG', 'SET', 'requirepass', ''), 'OK')


def test_ycsb_strings():
    harness.fresh()
    play('YCSB', [(['SET user6284781860667377211 /Pi+'], [OK]), (['QUIT'], [OK])],
         [(['SET user6284781860667377211 abcd'], [OK]), (['GET user6284781860667377211'], [bulk(b'abcd')])])


def test_what_we_lack():
    """A client goes on after an error: the connection and what follows in the segment are served."""
    lacking = [('NOSUCHCOMMAND', 'a', 'b'), ('nosuchcommand',), ('REPLCONF2', 'capa', 'eof')]
    for words in lacking:
        play(words[0], [([' '.join(words), 'PING'], [unknown(*words), b'+PONG\r\n'])])
    play('HELLO 4', [(['HELLO 4', 'PING'], [b'-NOPROTO unsupported protocol version\r\n', b'+PONG\r\n'])])


harness.main(globals())
