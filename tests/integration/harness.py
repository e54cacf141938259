# SPDX-License-Identifier: BSD-3-Clause
"""What the integration tests share: where the server is, a bare RESP connection, and `ok` / `not ok` lines.

A test file defines functions test_*() and ends with harness.main(globals()). It runs in the client namespace of the
instance that tests/integration/run started; POLLUX_HOST and POLLUX_PORT may name any other server, Redis included.
"""
import json
import os
import socket
import subprocess
import sys
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOST = os.environ.get('POLLUX_HOST', '10.77.0.2')
PORT = int(os.environ.get('POLLUX_PORT', '6379'))
BUILD = os.environ.get('POLLUX_BUILD', os.path.join(TOP, 'build', 'release'))
PATIENCE = 60  # seconds after which a wait counts as a hang; no test measures time


class Closed(Exception):
    """The server closed the connection."""


class ReplyError(Exception):
    """An error reply, its text without the leading minus."""


class Wire:
    """A connection that sends bytes as they are and reads replies one at a time."""

    def __init__(self, host=HOST, port=PORT):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b''

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def fill(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b''
        if not data:
            raise Closed
        self.buffer += data

    def take(self, length):
        while len(self.buffer) < length:
            self.fill()
        data, self.buffer = self.buffer[:length], self.buffer[length:]
        return data

    def line(self):
        while b'\r\n' not in self.buffer:
            self.fill()
        line, self.buffer = self.buffer.split(b'\r\n', 1)
        return line

    def reply(self):
        """The next reply as Python has it: error replies are returned, not raised."""
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b'+':
            return rest.decode()
        if kind == b'-':
            return ReplyError(rest.decode())
        if kind == b':':
            return int(rest)
        if kind in b'$=':
            if rest == b'-1':
                return None
            data = self.take(int(rest) + 2)[:-2]
            return data[4:] if kind == b'=' else data
        if kind in b'*~>':
            return None if rest == b'-1' else [self.reply() for _ in range(int(rest))]
        if kind == b'%':
            return dict((self.reply(), self.reply()) for _ in range(int(rest)))
        if kind == b'_':
            return None
        if kind == b'#':
            return rest == b't'
        if kind == b',':
            return float(rest)
        raise AssertionError(f'not a reply: {line!r}')

    def call(self, *words):
        self.send(command(*words))
        return self.reply()

    def expect_closed(self):
        """Everything that still comes, up to the end of the connection."""
        try:
            while True:
                self.fill()
        except Closed:
            rest, self.buffer = self.buffer, b''
            return rest


def command(*words):
    """The request as clients send it."""
    parts = [b'*%d\r\n' % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b'$%d\r\n%s\r\n' % (len(data), data))
    return b''.join(parts)


def equal(got, expected, what=''):
    if isinstance(got, ReplyError) and isinstance(expected, ReplyError):
        got, expected = '-' + str(got), '-' + str(expected)
    if isinstance(got, ReplyError):
        got = '-' + str(got)
    if got != expected:
        raise AssertionError(f'{what + ": " if what else ""}got {short(got)}, expected {short(expected)}')


def short(value):
    text = repr(value)
    return text if len(text) < 300 else text[:200] + ' ... ' + text[-80:]


def error(got, *starts):
    """got is an error reply that begins with one of starts."""
    if not isinstance(got, ReplyError) or not str(got).startswith(starts):
        raise AssertionError(f'got {got!r}, expected an error that begins with {starts}')


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'waited {PATIENCE} s in vain for: {what}')
        time.sleep(0.02)


def run(*words, stdin=None, timeout=PATIENCE * 3, check=True):
    """The finished process, its output as text."""
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f'{" ".join(words)} ended with {done.returncode}: {(done.stdout + done.stderr)[-600:]}')
    return done


def fresh():
    """Empty the server and put back what tests change. Call it before tests that need a known state."""
    with Wire() as wire:
        equal(wire.call('FLUSHALL'), 'OK')


def main(names):
    tests = [(name, value) for name, value in names.items() if name.startswith('test_') and callable(value)]
    wanted = sys.argv[1:]
    failed = 0
    suite = os.path.basename(sys.argv[0]).replace('.py', '')
    for name, test in tests:
        label = f'{suite}.{name[5:]}'
        if wanted and not any(word in label for word in wanted):
            continue
        try:
            test()
            print(f'ok {label}', flush=True)
        except Exception as fault:  # whatever goes wrong is this test's failure
            failed += 1
            where = traceback.extract_tb(fault.__traceback__)
            line = next((frame.lineno for frame in reversed(where) if frame.filename == names['__file__']), 0)
            print(f'not ok {label} - line {line}: {type(fault).__name__}: {fault}'.replace('\n', ' | '), flush=True)
    sys.exit(failed > 0)


def polluxctl(*words, run_dir, check=True):
    """polluxctl's JSON answer."""
    done = run(os.path.join(BUILD, 'control', 'polluxctl'), '--socket', f'{run_dir}/control.sock', *words, '--json',
               check=check)
    return json.loads(done.stdout)
