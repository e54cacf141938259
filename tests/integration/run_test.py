#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/run as a user meets it: its commands, its ports, falling back, what a killed run leaves behind."""
import os
import shutil
import signal
import subprocess
import tempfile

import harness
from harness import BUILD, TOP, Instance, Wire, equal, wait_until

NAME = 'pollux-run'
READY = 'SET hello world -> OK    GET hello -> "world"'
RUN = os.path.join(TOP, 'scripts', 'run')


def contains(text, *parts):
    for part in parts:
        assert part in text, f'no {part!r} in {text!r}'


def test_start_and_stop():
    with Instance(NAME, '--size', '64M') as instance:
        text = instance.start()
        contains(text, f'{NAME} is running already', 'ready  10.77.0.2:6379  port af_xdp  pool 64 MiB emulated: lost',
                 READY, f'next: scripts/run --instance {NAME} cli', f'--run-dir /run/{NAME} stats')
        assert 'AUTH' not in text, text
        contains(instance.script('status'), f'{NAME} serves on 10.77.0.2:6379', 'all is well')
        equal(instance.script('cli', 'get', 'hello'), 'world\n')
        equal(instance.script('exec', 'redis-cli', '-h', '10.77.0.2', 'ping'), 'PONG\n')
        contains(instance.stop(remove_pool=False), f'{NAME} stopped', 'its pool stays')
        contains(instance.script('start', '--size', '128M'), 'keeps its size', 'pool 64 MiB')
        instance.stop(remove_pool=False)
        contains(instance.script('status', check=False), 'is not running')
        contains(instance.stop(), 'is not running')
    equal(os.path.exists(f'/run/netns/{NAME}'), False)
    equal(os.path.exists(f'/dev/shm/{NAME}.pool') or os.path.exists(f'/dev/hugepages/{NAME}.pool'), False)


def test_a_key_of_the_user_is_left_alone():
    with Instance(NAME, '--size', '64M') as instance:
        instance.script('cli', 'set', 'hello', 'mine')
        text = instance.start()
        contains(text, 'SET pollux:hello world -> OK')
        equal(instance.script('cli', 'get', 'hello'), 'mine\n')


def test_ports():
    for kind in ('af_xdp', 'af_packet', 'tap'):
        for more in ((), ('--no-huge',)):
            with Instance(NAME, '--size', '64M', '--port-kind', kind, *more) as instance:
                contains(instance.start(), f'port {kind} ')
                with instance.clients(), Wire() as wire:
                    equal(wire.call('SET', 'large', 'x' * 100000), 'OK')
                    equal(wire.call('GET', 'large'), b'x' * 100000)


def test_falls_back_and_says_why():
    """A data plane that cannot have AF_XDP, as where BPF is not allowed."""
    with tempfile.TemporaryDirectory() as build:
        os.mkdir(os.path.join(build, 'dataplane'))
        os.symlink(os.path.join(BUILD, 'control'), os.path.join(build, 'control'))
        program = os.path.join(build, 'dataplane', 'pollux-dataplane')
        with open(program, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\n'
                       'if grep -q af_xdp "$2"; then echo "The port af_xdp:vs0 does not start: no BPF" >&2; exit 1; fi\n'
                       f'exec {BUILD}/dataplane/pollux-dataplane "$@"\n')
        os.chmod(program, 0o755)
        instance = Instance(NAME)
        try:
            done = subprocess.run((RUN, '--build', build, '--instance', NAME, 'start', '--size', '64M'),
                                  capture_output=True, text=True, check=False)
            contains(done.stdout, 'port af_xdp cannot be used: The port af_xdp:vs0 does not start: no BPF',
                     'port af_packet ', READY)
        finally:
            instance.stop()


def test_leftovers_of_a_killed_run():
    with Instance(NAME, '--size', '64M') as instance:
        instance.script('cli', 'set', 'kept', 'yes')
        instance.kill('control')
        instance.kill()
        wait_until(lambda: instance.pid() is None, 'both to be gone')
        contains(instance.start(), READY)
        equal(instance.script('cli', 'get', 'kept'), 'yes\n')


def test_a_lost_control_process():
    with Instance(NAME, '--size', '64M') as instance:
        pid = instance.pid()
        instance.kill('control', signal.SIGKILL)
        wait_until(lambda: instance.pid('control') is None, 'it to be gone')
        contains(instance.script('status', check=False), 'pollux-control is not running')
        contains(instance.start(), 'starting a new one', READY)
        equal(instance.pid(), pid)


def test_a_stopped_data_plane():
    with Instance(NAME, '--size', '64M') as instance:
        pid = instance.kill('dataplane', signal.SIGSTOP)
        contains(instance.script('start', check=False), f'kill -CONT {pid}', 'runs, but does not answer')
        os.kill(pid, signal.SIGCONT)
        contains(instance.start(), 'is running already', READY)


def test_host():
    """--host, in a network namespace that plays the machine's own."""
    name = f'{NAME}-host'
    subprocess.run(('ip', 'netns', 'add', name), check=True)
    there = ('nsenter', f'--net=/run/netns/{name}')
    try:
        command = (*there, RUN, '--build', BUILD, '--instance', NAME)
        done = subprocess.run((*command, 'start', '--host', '--size', '64M'), capture_output=True, text=True,
                              check=False)
        contains(done.stdout, READY, 'next: redis-cli -h 10.77.0.2')
        equal(harness.run(*there, 'redis-cli', '-h', '10.77.0.2', 'get', 'hello').stdout, 'world\n')
        equal(harness.run(*command, 'cli', 'get', 'hello').stdout, 'world\n')
        subprocess.run((*command, 'stop', '--remove-pool'), capture_output=True, check=True)
        equal(harness.run(*there, 'ip', '-br', 'link').stdout.count('vc0'), 0)
    finally:
        Instance(NAME).stop()
        subprocess.run(('ip', 'netns', 'del', name), check=True)


def test_mistakes_are_told():
    instance = Instance(NAME)
    for words, text in ((('start', '--size', 'many'), 'not a size: many'), (('start', '--nosuch'), 'does not know'),
                        (('start', '--pool'), 'needs a value'), (('cli', 'ping'), 'is not running'),
                        (('start', '--size', '64M', '--set', 'nosuch=1'), 'nosuch'),
                        (('start', '--set', 'nosuch'), '--set takes NAME=VALUE'),
                        (('start', '--set', 'pool-size=1gb'), 'use --size'),
                        (('start', '--port-kind', 'veth'), 'af_xdp, af_packet or tap'),
                        (('stop', '--remove-pol'), 'does not know --remove-pol'), (('--instance',), 'needs a value'),
                        (('start', '--size', '64M', '--cores', '999'), 'cores')):
        contains(instance.script(*words, check=False), text)
    instance.stop()


def test_password():
    with Instance(NAME, '--size', '64M', '--set', 'requirepass=a secret') as instance:
        contains(instance.start(), READY)
        contains(instance.script('cli', 'ping'), 'NOAUTH')


def test_same_pool_for_two():
    pool = f'/dev/shm/{NAME}-shared.pool'
    try:
        with Instance(NAME, '--size', '64M', '--pool', pool):
            second = Instance(f'{NAME}-two', '--pool', pool)
            text = second.script('start', '--pool', pool, check=False)
            contains(text, 'is open in another process')
            second.script('stop', check=False)
            shutil.rmtree(second.run_dir, ignore_errors=True)
    finally:
        if os.path.exists(pool):
            os.unlink(pool)


harness.main(globals())
