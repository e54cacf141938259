#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""RESP as no well-behaved client sends it, and any split of what they do send."""
import random

import harness
from harness import ReplyError, Wire, command, equal, error


def alive(wire):
    equal(wire.call('PING'), 'PONG', 'a PING after it')


def closes_with(data, text):
    """data is answered by this protocol error, alone, and the connection ends."""
    with Wire() as wire:
        wire.send(data)
        error(wire.reply(), 'ERR Protocol error: ' + text)
        equal(wire.expect_closed(), b'')
    with Wire() as wire:
        alive(wire)


def test_empty_requests():
    with Wire() as wire:
        for data in (b'\r\n', b'*-10\r\n', b'*0\r\n', b'\r\n\r\n', b'*-1\r\n'):
            wire.send(data)
            alive(wire)


def test_multibulk_length():
    closes_with(b'*3000000000\r\n', 'invalid multibulk length')
    closes_with(b'*blabla\r\n', 'invalid multibulk length')


def test_bulk_length():
    for length in (b'-10', b'2000000000', b'blabla'):
        closes_with(b'*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$' + length + b'\r\n', 'invalid bulk length')


def test_missing_dollar():
    closes_with(b'*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n', "expected '$', got 'f'")


def test_unbalanced_quotes():
    closes_with(b'set """test-key""" test-value\r\n', 'unbalanced quotes in request')


def test_no_newline():
    long = b'x' * (65 * 1024)
    closes_with(long, 'too big inline request')
    closes_with(b'*' + long, 'too big mbulk count string')
    closes_with(b'*1\r\n$' + long, 'too big bulk count string')


def test_cross_protocol():
    """A browser's request: nothing after the POST or Host: line runs."""
    harness.fresh()
    for data in (b'POST / HTTP/1.1\r\n', b'Host: 10.77.0.2:6379\r\n'):
        with Wire() as wire:
            wire.send(data + b'SET crossed yes\r\n')
            wire.expect_closed()
    with Wire() as wire:
        equal(wire.call('EXISTS', 'crossed'), 0)


def test_inline():
    harness.fresh()
    with Wire() as wire:
        wire.send(b'set k "a\\x41\\n\\"b"\r\nget k\nGET   k\r\nset k \'it\\\'s\'\r\nget k\r\n')
        equal([wire.reply() for _ in range(5)], ['OK', b'aA\n"b', b'aA\n"b', 'OK', b"it's"])
        wire.send(b'PING\n')
        equal(wire.reply(), 'PONG')


def test_split_at_every_byte():
    harness.fresh()
    data = (command('SET', 'split', 'a\r\nb') + b'GET split\r\n' + command('GET', 'split') + b'*0\r\n' +
            command('ECHO', '') + command('nonsense', 'x'))
    expected = ['OK', b'a\r\nb', b'a\r\nb', b'', 'ERR']
    for cut in range(1, len(data)):
        with Wire() as wire:
            wire.send(data[:cut])
            wire.send(data[cut:])
            got = [wire.reply() for _ in expected]
            error(got[-1], "ERR unknown command 'nonsense', with args beginning with: 'x'")
            equal(got[:-1], expected[:-1], f'cut at {cut}')


def test_byte_by_byte():
    data = command('SET', 'slow', 'x' * 50) + command('GET', 'slow') + b'PING\r\n'
    with Wire() as wire:
        for position in range(len(data)):
            wire.send(data[position:position + 1])
        equal([wire.reply() for _ in range(3)], ['OK', b'x' * 50, 'PONG'])


def test_random_splits():
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    data, expected = b'', []
    for number in range(3000):
        value = bytes(draw.randrange(256) for _ in range(draw.choice((0, 1, 30, 700))))
        data += command('SET', f'split:{number % 7}', value) + command('GET', f'split:{number % 7}')
        expected += ['OK', value]
    with Wire() as wire:
        sent = 0
        while sent < len(data):
            piece = draw.choice((1, 2, 7, 100, 1461, 9000, 40000))
            wire.send(data[sent:sent + piece])
            sent += piece
        for number, value in enumerate(expected):
            equal(wire.reply(), value, f'seed {seed}, reply {number}')


def test_pipeline_of_thousands():
    count = 10000
    with Wire() as wire:
        wire.send(b'PING\r\n' * count)
        for _ in range(count):
            equal(wire.reply(), 'PONG')
        wire.call('SET', 'counter', 0)
        wire.send(command('INCR', 'counter') * count)
        for number in range(count):
            equal(wire.reply(), number + 1)


def test_large_values():
    with Wire() as wire:
        for size in (1000, 1460, 4096, 65535, 65536, 65537, 300000, 1 << 20):
            value = random.Random(size).randbytes(size)
            equal(wire.call('SET', 'large', value), 'OK', f'{size} bytes')
            equal(wire.call('GET', 'large'), value, f'{size} bytes')


def test_larger_than_the_limit():
    with Wire() as wire:
        limit = int(wire.call('CONFIG', 'GET', 'proto-max-bulk-len')[1])
    closes_with(b'*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$%d\r\n' % (limit + 1), 'invalid bulk length')


def test_announced_and_silent():
    """Clients that announce a large value and send none of it cost nothing that others miss."""
    silent = []
    try:
        for _ in range(1000):
            wire = Wire()
            wire.send(b'*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1048576\r\n')
            silent.append(wire)
        with Wire() as wire:
            equal(wire.call('SET', 'served', 'yes'), 'OK')
            equal(wire.call('GET', 'served'), b'yes')
    finally:
        for wire in silent:
            wire.close()
    with Wire() as wire:
        alive(wire)


def test_never_reading():
    """10 clients ask for 500 x 1 MB each and read nothing: the others are served, memory is bounded."""
    with Wire() as wire:
        equal(wire.call('SET', 'big', b'x' * 1000000), 'OK')
        greedy = [Wire() for _ in range(10)]
        try:
            for other in greedy:
                other.socket.settimeout(2)
                try:
                    other.send(command('GET', 'big') * 500)
                except TimeoutError:
                    pass  # back-pressure
            for number in range(100):
                equal(wire.call('SET', f'meanwhile:{number}', number), 'OK')
                equal(wire.call('GET', f'meanwhile:{number}'), str(number).encode())
        finally:
            for other in greedy:
                other.close()
        alive(wire)


def test_slow_reader_gets_all():
    with Wire() as wire:
        wire.call('SET', 'big', b'y' * 100000)
        wire.send(command('GET', 'big') * 200)
        with Wire() as other:
            alive(other)
        for _ in range(200):
            equal(wire.reply(), b'y' * 100000)


def test_half_closed():
    """A client that shuts its sending side down still gets its replies."""
    with Wire() as wire:
        wire.send(b'PING\r\n' * 100)
        wire.socket.shutdown(1)
        equal(wire.expect_closed(), b'+PONG\r\n' * 100)


def test_quit():
    with Wire() as wire:
        wire.send(command('QUIT') + command('SET', 'afterquit', '1'))
        equal(wire.reply(), 'OK')
        equal(wire.expect_closed(), b'')
    with Wire() as wire:
        equal(wire.call('EXISTS', 'afterquit'), 0)


def test_unknown_and_wrong():
    with Wire() as wire:
        error(wire.call('FOO', 'a', 'b'), "ERR unknown command 'FOO', with args beginning with: 'a' 'b' ")
        error(wire.call('gEt'), "ERR wrong number of arguments for 'get' command")
        error(wire.call('HELLO', '4'), 'NOPROTO unsupported protocol version')
        error(wire.call('HELLO', 'x'), 'ERR Protocol version is not an integer or out of range')
        error(wire.call('CLIENT', 'NOSUCH'), "ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.")
        alive(wire)


def test_resp3():
    with Wire() as wire:
        hello = wire.call('HELLO', '3', 'SETNAME', 'three')
        assert isinstance(hello, dict), hello
        equal(hello[b'proto'], 3)
        equal(hello[b'mode'], b'standalone')
        equal(wire.call('CLIENT', 'GETNAME'), b'three')
        wire.send(command('GET', 'no such key'))
        equal(wire.line(), b'_')
        wire.send(command('CONFIG', 'GET', 'port'))
        equal(wire.line()[:1], b'%')
        equal([wire.reply(), wire.reply()], [b'port', str(harness.PORT).encode()])
        hello = wire.call('HELLO', '2')
        assert isinstance(hello, list), hello
        wire.send(command('GET', 'no such key'))
        equal(wire.line(), b'$-1')


def with_password(test):
    """Run test while a password is set, and take it away again."""
    with Wire() as admin:
        equal(admin.call('CONFIG', 'SET', 'requirepass', 'secret'), 'OK')
        equal(admin.call('AUTH', 'secret'), 'OK')
        try:
            test()
        finally:
            equal(admin.call('CONFIG', 'SET', 'requirepass', ''), 'OK')


def test_before_auth():
    def body():
        with Wire() as wire:
            error(wire.call('GET', 'x'), 'NOAUTH Authentication required.')
            error(wire.call('AUTH', 'wrong'), 'WRONGPASS invalid username-password pair or user is disabled.')
            error(wire.call('HELLO', '3'), 'NOAUTH HELLO must be called with the client already authenticated')
            equal(wire.call('AUTH', 'default', 'secret'), 'OK')
            equal(wire.call('PING'), 'PONG')
        closes_noauth(b'*11\r\n', 'unauthenticated multibulk length')
        closes_noauth(b'*2\r\n$16385\r\n', 'unauthenticated bulk length')
    with_password(body)


def closes_noauth(data, text):
    with Wire() as wire:
        wire.send(data)
        error(wire.reply(), 'ERR Protocol error: ' + text)
        equal(wire.expect_closed(), b'')


def test_flood_before_auth():
    """Many small requests that are never read: capped, closed, and nobody else notices."""
    def body():
        with Wire() as wire, Wire() as other:
            wire.socket.settimeout(5)
            try:
                for _ in range(200):
                    wire.send(b'GET aaaaaaaaaaaaaaaaaaaa\r\n' * 4000)
            except (TimeoutError, ConnectionError):
                pass  # pushed back, or closed
            equal(other.call('AUTH', 'secret'), 'OK')
            equal(other.call('PING'), 'PONG')
            harness.wait_until(lambda: len(other.call('CLIENT', 'LIST').splitlines()) <= 2, 'the flooder to be closed')
    with_password(body)


def test_protected_mode():
    """Without a password, peers that are not of this machine are told why they are not served."""
    with Wire() as admin:
        equal(admin.call('CONFIG', 'SET', 'protected-mode', 'yes'), 'OK')
        try:
            with Wire() as wire:
                error(wire.reply(), 'DENIED ')
                equal(wire.expect_closed(), b'')
        finally:
            equal(admin.call('CONFIG', 'SET', 'protected-mode', 'no'), 'OK')
    with Wire() as wire:
        alive(wire)


def test_auth_without_password():
    with Wire() as wire:
        error(wire.call('AUTH', 'x'), 'ERR AUTH <password> called without any password configured')


def test_timeout_closes():
    with Wire() as admin:
        equal(admin.call('CONFIG', 'SET', 'timeout', '1'), 'OK')
        try:
            with Wire() as idle:
                idle.send(b'*2\r\n$3\r\nGE')  # a slow loris
                idle.expect_closed()
        finally:
            with Wire() as again:
                equal(again.call('CONFIG', 'SET', 'timeout', '0'), 'OK')


def test_maxclients():
    with Wire() as admin:
        before = admin.call('CONFIG', 'GET', 'maxclients')[1]
        equal(admin.call('CONFIG', 'SET', 'maxclients', '20'), 'OK')
        kept = []
        try:
            refused = None
            for _ in range(40):
                wire = Wire()
                kept.append(wire)
                try:
                    answer = wire.call('PING')
                except (harness.Closed, ConnectionError):
                    continue
                if isinstance(answer, ReplyError):
                    refused = answer
            error(refused, 'ERR max number of clients reached')
            alive(admin)
        finally:
            for wire in kept:
                wire.close()
            equal(admin.call('CONFIG', 'SET', 'maxclients', before), 'OK')


harness.main(globals())
