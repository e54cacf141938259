# SPDX-License-Identifier: BSD-3-Clause
"""What the integration tests share: where the server is, a bare RESP connection, and `ok` / `not ok` lines.

A test file defines functions test_*() and ends with harness.main(globals()). It runs in the client namespace of the
instance that tests/integration/run started; POLLUX_HOST and POLLUX_PORT may name any other server, Redis included.
"""
import json
import os
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts'))
from lib import BUILD, HOST, PATIENCE, PORT, TOP, Closed, Instance, ReplyError, Wire, command, wait_until  # noqa: E402

__all__ = ['BUILD', 'HOST', 'PATIENCE', 'PORT', 'TOP', 'Closed', 'Instance', 'ReplyError', 'Wire', 'command',
           'wait_until']


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
