# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the Python scripts here and by tests/integration: a bare RESP connection, and instances of scripts/run."""
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('POLLUX_BUILD', os.path.join(TOP, 'build', 'release'))
HOST = os.environ.get('POLLUX_HOST', '10.77.0.2')
PORT = int(os.environ.get('POLLUX_PORT', '6379'))
PATIENCE = 60  # seconds after which a wait counts as a hang
CLONE_NEWNET = 0x40000000


class Closed(Exception):
    """The server closed the connection."""


class ReplyError(Exception):
    """An error reply, its text without the leading minus."""


class Wire:
    """A connection that sends bytes as they are and reads replies one at a time."""

    def __init__(self, host=HOST, port=PORT, patience=PATIENCE):
        self.socket = socket.create_connection((host, port), timeout=patience)
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


def wait_until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'waited {patience} s in vain for: {what}')
        time.sleep(0.02)


class Instance:
    """A server of scripts/run beside the user's own, in namespaces, files and a pool of its own."""

    def __init__(self, name, *options):
        self.name, self.options = name, options
        self.run_dir = f'/run/{name}'

    def script(self, *words, check=True):
        done = subprocess.run((os.path.join(TOP, 'scripts', 'run'), '--build', BUILD, '--instance', self.name, *words),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f'scripts/run {" ".join(words)}: {(done.stdout + done.stderr)[-800:]}')
        return done.stdout + done.stderr

    def start(self, *more):
        return self.script('start', *self.options, *more)

    def stop(self, remove_pool=True):
        return self.script('stop', *(['--remove-pool'] if remove_pool else []), check=False)

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that __exit__ is not left out
        self.stop()
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *unused):
        self.stop()

    def pid(self, program='dataplane'):
        """The process that wrote the pid file, or None."""
        try:
            with open(f'{self.run_dir}/{program}.pid', encoding='ascii') as file:
                pid = int(file.read())
            with open(f'/proc/{pid}/comm', encoding='ascii') as file:
                return pid if file.read().strip() == f'pollux-{program}'[:15] else None
        except (OSError, ValueError):
            return None

    def kill(self, program='dataplane', number=signal.SIGKILL):
        pid = self.pid(program)
        if pid:
            os.kill(pid, number)
        return pid

    @contextlib.contextmanager
    def clients(self):
        """Sockets opened meanwhile by this thread are in the client namespace."""
        with open('/proc/thread-self/ns/net', 'rb') as home, open(f'/run/netns/{self.name}-client', 'rb') as there:
            enter_namespace(there)
            try:
                yield
            finally:
                enter_namespace(home)

    def wait_serving(self, patience=PATIENCE):
        """Wait until a PING is answered; called within clients()."""
        def answers():
            try:
                with Wire(patience=1) as wire:
                    return wire.call('PING') == 'PONG'
            except (OSError, Closed):
                return False
        wait_until(answers, f'{self.name} to answer PING', patience)


def enter_namespace(file):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), 'setns')


def in_namespace(name, *words):
    """The command line that runs words in a network namespace."""
    return ('nsenter', f'--net=/run/netns/{name}', *words)


def need_root(why):
    if os.geteuid() != 0:
        sys.exit(f'{os.path.basename(sys.argv[0])}: needs root ({why}); run it with sudo')
