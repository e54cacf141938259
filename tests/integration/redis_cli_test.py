#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""redis-cli: one command, interactive in a terminal, --pipe, --bigkeys, --scan, --stat and the rest of its modes."""
import os
import pty
import re
import select
import time

import harness
from harness import Wire, command, equal, run

CLI = ('redis-cli', '-h', harness.HOST, '-p', str(harness.PORT))


def cli(*words, stdin=None):
    return run(*CLI, *words, stdin=stdin).stdout


def load(count=1000):
    harness.fresh()
    with Wire() as wire:
        wire.send(b''.join(command('SET', f'key:{number}', 'v' * (number % 100 + 1)) for number in range(count)))
        for _ in range(count):
            equal(wire.reply(), 'OK')


def test_one_command():
    harness.fresh()
    equal(cli('set', 'hello', 'world'), 'OK\n')
    equal(cli('get', 'hello'), 'world\n')
    equal(cli('--no-raw', 'get', 'hello'), '"world"\n')
    equal(cli('-n', '3', '--no-raw', 'get', 'hello'), '(nil)\n')
    equal(cli('-x', 'set', 'fromstdin', stdin='a\nb'), 'OK\n')
    equal(cli('--no-raw', 'get', 'fromstdin'), '"a\\nb"\n')
    equal(cli('-r', '3', 'incr', 'n'), '1\n2\n3\n')
    equal(cli('--csv', 'mget', 'hello', 'none'), '"world",NULL\n')
    equal(cli('-3', '--json', 'mget', 'hello', 'none'), '["world",null]\n')
    assert 'ERR wrong number of arguments' in cli('get')


def test_script_on_stdin():
    harness.fresh()
    equal(cli(stdin='set a 1\nincr a\nget a\n'), 'OK\n2\n2\n')


def test_pipe():
    harness.fresh()
    count = 20000
    data = ''.join(command('SET', f'pipe:{number}', f'value {number}').decode() for number in range(count))
    out = run(*CLI, '--pipe', stdin=data).stdout
    assert f'errors: 0, replies: {count}' in out, out
    equal(cli('dbsize'), f'{count}\n')
    equal(cli('get', 'pipe:19999'), 'value 19999\n')


def test_pipe_reports_errors():
    out = run(*CLI, '--pipe', stdin='SET a 1\r\nINCR a b\r\nGET a\r\n', check=False).stdout
    assert 'errors: 1, replies: 3' in out, out


def test_bigkeys():
    load()
    with Wire() as wire:
        equal(wire.call('SET', 'biggest', 'x' * 5000), 'OK')
    out = cli('--bigkeys')
    assert 'Sampled 1001 keys in the keyspace!' in out, out
    assert 'Biggest string found \'"biggest"\' has 5000 bytes' in out, out


def test_scan():
    load()
    equal(sorted(cli('--scan').split()), sorted(f'key:{number}' for number in range(1000)))
    equal(sorted(cli('--scan', '--pattern', 'key:99*').split()), sorted(['key:99'] + [f'key:99{n}' for n in range(10)]))


def test_stat():
    load()
    child = Terminal('--stat', '-i', '0.1')
    child.wait_for('keys       mem', r'\n1000\s+\S+\s+\d+\s+\d+\s+\d+ \(\+\d+\)')
    child.end()


def test_latency():
    child = Terminal('--latency', '-i', '1')
    child.wait_for(r'min: \d+, max: \d+, avg: [\d.]+ \(\d+ samples\)')
    child.end()


def test_interactive():
    harness.fresh()
    prompt = re.escape(f'{harness.HOST}:{harness.PORT}')
    child = Terminal()
    child.wait_for(prompt + '>')
    for line, answer in (('set hello "wor ld"', 'OK'), ('get hello', '"wor ld"'), ('get none', r'\(nil\)'),
                         ('incr n', r'\(integer\) 1'), ('keys hel*', r'1\) "hello"'),
                         ('nosuch', r'\(error\) ERR unknown'),
                         ('select 1', 'OK'), ('dbsize', r'\(integer\) 0'), ('help get', 'summary:')):
        child.write(line + '\r')
        child.wait_for(answer)
    child.write('select 0\r')
    child.wait_for(prompt + '>')
    child.write('quit\r')
    child.end()


class Terminal:
    """redis-cli in a pseudo terminal."""

    def __init__(self, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ['TERM'] = 'dumb'
            os.environ['HOME'] = '/nonexistent'
            os.execvp(CLI[0], CLI + words)
        self.text = ''

    def write(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, *patterns):
        """Wait for the patterns, one after another, in what comes out from now on."""
        end = time.monotonic() + harness.PATIENCE
        for pattern in patterns:
            while not (found := re.search(pattern, self.text)):
                left = end - time.monotonic()
                if left < 0 or not select.select([self.fd], [], [], left)[0]:
                    self.end()
                    raise AssertionError(f'no {pattern!r} in {self.text[-300:]!r}')
                self.text += os.read(self.fd, 4096).decode(errors='replace').replace('\r', '\n')
            self.text = self.text[found.end():]

    def end(self):
        os.close(self.fd)
        try:
            os.kill(self.pid, 15)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


harness.main(globals())
