#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random commands and boundary arguments to Redis 7.0 and to Pollux: differential.py says what may differ."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

import harness

PROGRAM = os.path.join(harness.TOP, 'tests', 'integration', 'differential.py')
COUNT = 40000
REDIS_PORT = 6400


def redis_server(folder):
    """Redis's own server, in this network namespace. redis-tools has it as redis-check-rdb: it goes by its name."""
    program = shutil.which('redis-server') or shutil.which('redis-check-rdb')
    return subprocess.Popen(('redis-server', '--port', str(REDIS_PORT), '--bind', '127.0.0.1', '--save', '', '--dir',
                             folder, '--enable-debug-command', 'yes', '--daemonize', 'no'), executable=program,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def answers():
    try:
        with harness.Wire('127.0.0.1', REDIS_PORT) as wire:
            return wire.call('PING') == 'PONG'
    except OSError:
        return False


def compare(seed):
    with tempfile.TemporaryDirectory() as folder:
        redis = redis_server(folder)
        try:
            harness.wait_until(answers, 'redis-server to answer')
            return harness.run(sys.executable, '-B', PROGRAM, '--redis', f'127.0.0.1:{REDIS_PORT}', '--pollux',
                               f'{harness.HOST}:{harness.PORT}', '--seed', str(seed), '--count', str(COUNT),
                               check=False)
        finally:
            redis.kill()
            redis.wait()


def test_random_commands():
    """On a server of its own: random settings stay behind."""
    seed = random.randrange(1 << 30)
    instance = harness.Instance('pollux-differential', '--size', '256M', '--set', 'enable-debug-command=yes')
    with instance, instance.clients():
        done = compare(seed)
    if done.returncode != 0:
        raise AssertionError(f'seed {seed}: {(done.stdout + done.stderr)[-1500:]}')


harness.main(globals())
