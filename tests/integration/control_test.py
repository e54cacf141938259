#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The control process and polluxctl with the real dataplane, seen by a client: whatever happens to the one, the other
serves; whatever happens to the dataplane is noticed, told and mended. On an instance of its own.
"""
import json
import os
import signal
import subprocess
import threading

import harness
import spin
from harness import BUILD, PATIENCE, Closed, Instance, Wire, equal, wait_until

INSTANCE = Instance('pollux-control', '--size', '64M')
CONTROL = os.path.join(BUILD, 'control', 'pollux-control')
CTL = os.path.join(BUILD, 'control', 'polluxctl')


def ctl(*words):
    return subprocess.run((CTL, '--run-dir', INSTANCE.run_dir, *words), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE, check=False)


def ask(*words):
    done = ctl(*words, '--json')
    if done.returncode not in (0, 3):
        raise AssertionError(f'polluxctl {" ".join(words)}: {done.stderr}')
    return json.loads(done.stdout)


def refused(reason, *words):
    done = ctl(*words)
    equal(done.returncode, 1, ' '.join(words))
    if reason not in done.stderr:
        raise AssertionError(f'polluxctl {" ".join(words)} says {done.stderr!r}, not {reason!r}')


def state():
    done = ctl('status', '--json')
    return json.loads(done.stdout)['dataplane']['state'] if done.stdout else 'unknown'


def wait_running():
    wait_until(lambda: state() == 'running', 'status to say running')
    INSTANCE.wait_serving()


def test_status():
    status = ask('status')
    equal(status['problems'], [])
    equal(status['dataplane']['pid'], INSTANCE.pid())
    equal(status['control']['pid'], INSTANCE.pid('control'))
    equal([core['state'] for core in status['cores']], ['running'])
    equal(ctl('status').returncode, 0)


def test_stats_count_what_a_client_does():
    before = ask('stats')['counters']['commands']['total']
    with Wire() as wire:
        wire.send(b''.join(harness.command('SET', f'stats:{number}', 'x') for number in range(1000)))
        for _ in range(1000):
            equal(wire.reply(), 'OK')
    wait_until(lambda: ask('stats')['counters']['commands']['total'] >= before + 1000, 'the commands to be counted')
    for words in (('stats',), ('stats', '--once'), ('status',), ('clients',), ('pool', 'info'), ('config', 'get')):
        equal(ctl(*words).returncode, 0, ' '.join(words))


def test_answers_at_full_load():
    stop = threading.Event()
    faults = []

    def load():
        try:
            with INSTANCE.clients(), Wire() as wire:
                burst = b''.join(harness.command('INCR', 'load') for _ in range(500))
                while not stop.is_set():
                    wire.send(burst)
                    for _ in range(500):
                        wire.reply()
        except (OSError, Closed) as fault:
            faults.append(fault)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            for words in (('status',), ('stats',), ('clients',), ('pool', 'info'), ('config', 'get', 'maxclients')):
                ask(*words)
        wait_until(lambda: ask('stats')['families']['write']['p99.9_ns'] > 0, 'latencies of writes')
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    equal(faults, [])


def test_config():
    with Wire() as wire:
        equal(ask('config', 'get', 'maxclients'), {'maxclients': '10000'})
        equal(ctl('config', 'set', 'maxclients', '9000', 'timeout', '0').returncode, 0)
        equal(wire.call('CONFIG', 'GET', 'maxclients'), [b'maxclients', b'9000'])
        for words, reason in ((('port', '7'), 'immutable'), (('nosuch', '7'), 'unknown'), (('timeout', 'x'), 'integer'),
                              (('MAXCLIENTS', '7'), 'duplicate')):
            refused(reason, 'config', 'set', 'maxclients', '8000', *words)
            equal(wire.call('CONFIG', 'GET', 'maxclients'), [b'maxclients', b'9000'])
        equal(wire.call('CONFIG', 'SET', 'maxclients', '10000'), 'OK')
        equal(ask('config', 'get', 'maxclients'), {'maxclients': '10000'})
        equal(ask('config', 'get', 'nosuch*'), {})
        equal(ctl('config', 'get', 'nosuch*').stdout, 'no setting has such a name\n')


def test_clients():
    with Wire() as wire:
        equal(wire.call('CLIENT', 'SETNAME', 'watched'), 'OK')
        number = wire.call('CLIENT', 'ID')
        equal([client['id'] for client in ask('clients') if client['name'] == 'watched'], [number])
        equal(ctl('clients', 'kill', str(number)).returncode, 0)
        wire.expect_closed()
        refused('no client has the id', 'clients', 'kill', str(number))


def test_pool_info():
    with Wire() as wire:
        equal(wire.call('FLUSHALL'), 'OK')
        equal(wire.call('SET', 'one', '1'), 'OK')
    wait_until(lambda: ask('pool', 'info')['keys'][0] == 1, 'one key')
    equal(ask('pool', 'info')['size'], 64 << 20)


def test_keys_expire_while_nobody_asks():
    with Wire() as wire:
        equal(wire.call('FLUSHALL'), 'OK')
        for number in range(100):
            equal(wire.call('SET', f'short:{number}', 'x', 'PX', '100'), 'OK')
    wait_until(lambda: ask('pool', 'info')['keys'][0] == 0, 'the keys to expire')
    wait_until(lambda: ask('stats')['counters']['expired']['total'] >= 100, 'them to be counted')


def test_bad_config_is_refused():
    path = os.path.join(INSTANCE.run_dir, 'bad.conf')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('# a bad one\nport 6379\nport 6380\n')
    done = subprocess.run((CONTROL, '--config', path), capture_output=True, text=True, timeout=PATIENCE, check=False)
    os.unlink(path)
    equal(done.returncode, 1)
    assert 'bad.conf line 3: port was already given' in done.stderr, done.stderr


def test_kill_9_of_control():
    pid = INSTANCE.pid()
    with Wire() as wire:
        equal(wire.call('SET', 'k', '1'), 'OK')
        for expected in range(2, 5):
            INSTANCE.kill('control')
            wait_until(lambda: INSTANCE.pid('control') is None, 'the control process to be gone')
            equal(wire.call('INCR', 'k'), expected)
            refused('is pollux-control running?', 'status')
            INSTANCE.start()
            wait_until(lambda: state() == 'running', 'the new control process to attach')
            equal(ask('status')['dataplane']['attached'], True)
            equal(INSTANCE.pid(), pid)
            equal(wire.call('GET', 'k'), str(expected).encode())


def test_kill_9_of_the_dataplane():
    with Wire() as wire:
        equal(wire.call('SET', 'kept', 'yes'), 'OK')
        pid = INSTANCE.kill()
        wait_until(lambda: INSTANCE.pid() not in (None, pid), 'another dataplane')
        wait_running()
        wire.send(harness.command('PING'))  # of a connection that the new one does not know
        equal(wire.expect_closed(), b'')
    with Wire() as wire:
        equal(wire.call('GET', 'kept'), b'yes')
    assert f'(pid {pid}) ' in ask('status')['dataplane']['last_end'], ask('status')


def test_stopped_dataplane():
    with Wire() as wire:
        equal(wire.call('SET', 'k', 'before'), 'OK')
        pid = INSTANCE.kill(number=signal.SIGSTOP)
        try:
            wait_until(lambda: state() == 'stopped', 'the stop to be noticed')
            equal(ctl('status').returncode, 3)
            refused(f'kill -CONT {pid}', 'clients')
            ask('stats')
            wire.send(harness.command('GET', 'k'))
        finally:
            os.kill(pid, signal.SIGCONT)
        equal(wire.reply(), b'before')
        wait_until(lambda: state() == 'running', 'it to go on')
        equal(INSTANCE.pid(), pid)
        equal(ask('status')['problems'], [])


def core_state(number):
    return ask('status')['cores'][number]['state']


def test_spinning_core():
    pid = INSTANCE.pid()
    with Wire() as wire:
        equal(wire.call('SET', 'k', 'before'), 'OK')
        with spin.spinning(pid, pid):  # the main thread is the first data core
            wait_until(lambda: core_state(0) == 'stuck', 'the stuck core to be noticed')
            status = ask('status')
            equal(status['dataplane']['state'], 'running')
            assert 'core 0 is stuck' in status['problems'][0], status
            ask('stats')
            wire.send(harness.command('GET', 'k'))
        equal(wire.reply(), b'before')
        wait_until(lambda: core_state(0) == 'running', 'it to go on')
        equal(INSTANCE.pid(), pid)


def flap(times):
    """The client end of the link goes down and up; each time the server is left with what it was about to send."""
    script = f'for i in $(seq {times}); do ip link set vc0 down; ip link set vc0 up; done'
    harness.run('sh', '-c', script, timeout=PATIENCE * 3)


def test_a_thousand_link_flaps():
    value = b'v' * 16000
    burst = b''.join(harness.command('GET', 'big') for _ in range(50))
    done = threading.Event()
    rounds = [0]
    faults = []

    def load():
        try:
            with INSTANCE.clients(), Wire(patience=PATIENCE * 3) as wire:
                while not done.is_set() or rounds[0] == 0:
                    wire.send(burst)
                    for _ in range(50):
                        equal(wire.reply(), value)
                    rounds[0] += 1
        except (OSError, Closed, AssertionError) as fault:
            faults.append(fault)

    pid = INSTANCE.pid()
    with Wire(patience=PATIENCE * 3) as quiet:
        equal(quiet.call('SET', 'big', value), 'OK')
        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        flap(1000)
        equal(quiet.call('GET', 'big'), value)
        done.set()
        for thread in threads:
            thread.join()
    equal(faults, [])
    equal(INSTANCE.pid(), pid)
    stats = ask('stats')
    equal(stats['drops']['net_NO_MBUF']['total'], 0, 'frames dropped for want of buffers')
    assert stats['counters']['tcp_retransmits']['total'] > 0, 'the flaps lost nothing: was there traffic?'


def test_shutdown_by_a_client_ends_both():
    with Wire() as wire:
        equal(wire.call('SET', 'kept', 'yes'), 'OK')
        wire.send(harness.command('SHUTDOWN'))
        equal(wire.expect_closed(), b'')
    wait_until(lambda: INSTANCE.pid() is None and INSTANCE.pid('control') is None, 'both processes to be gone')
    INSTANCE.start()
    with Wire() as wire:
        equal(wire.call('GET', 'kept'), b'yes')


def test_shutdown_by_polluxctl():
    pids = INSTANCE.pid(), INSTANCE.pid('control')
    equal(ctl('shutdown').returncode, 0)
    for pid in pids:
        assert not os.path.exists(f'/proc/{pid}'), pid
    INSTANCE.start()
    wait_running()


if __name__ == '__main__':
    with INSTANCE, INSTANCE.clients():
        harness.main(globals())
