#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pollux-control and polluxctl as processes, over dataplane_double: config refusals, every command, kill -9.

Arguments: the paths of pollux-control, polluxctl and dataplane_double.
"""
import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CONTROL, CTL, DOUBLE = sys.argv[1:4]
PATIENCE = 30  # seconds; only a failure takes so long


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'waited in vain for: {what}')
        time.sleep(0.02)


class Appliance(unittest.TestCase):
    """One run-dir with a control process and its dataplane."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='pollux-test.')
        self.run_dir = os.path.join(self.folder.name, 'run')
        self.control = None

    def tearDown(self):
        if self.control:
            self.ctl('shutdown')
            self.control.wait(PATIENCE)
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def config(self, *lines):
        return self.write('pollux.conf', '\n'.join((f'run-dir {self.run_dir}', *lines, '')))

    def start(self, *lines):
        with open(os.path.join(self.folder.name, 'control.log'), 'a', encoding='utf-8') as log:
            self.control = subprocess.Popen((CONTROL, '--config', self.config(*lines), '--dataplane', DOUBLE),
                                            stdin=subprocess.DEVNULL, stderr=log)
        wait_until(lambda: self.state() == 'running', 'the dataplane to run')

    def ctl(self, *words):
        return subprocess.run((CTL, '--run-dir', self.run_dir, *words), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    def ask(self, *words, expect=0):
        done = self.ctl(*words, '--json')
        self.assertEqual(done.returncode, expect, done.stderr)
        return json.loads(done.stdout)

    def fails(self, *words, status=1):
        done = self.ctl(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, '')
        return done.stderr

    def status(self):
        done = self.ctl('status', '--json')
        return json.loads(done.stdout) if done.stdout else None

    def state(self):
        status = self.status()
        return status and status['dataplane']['state']

    def pid(self):
        return self.status()['dataplane']['pid']

    def runs_anew(self, old):
        dataplane = self.status()['dataplane']
        return dataplane['state'] == 'running' and dataplane['pid'] != old


class Config(Appliance):
    def check(self, *lines):
        return subprocess.run((CONTROL, '--check-config', '--config', self.config(*lines)), capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    def test_good_one(self):
        done = self.check('port 7000')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('good', done.stdout)

    def test_bad_ones_are_refused_with_line_and_reason(self):
        self.write('loop.conf', 'include loop.conf\n')
        for line, reason in (('nosuch 1', "unknown setting 'nosuch'"), ('run-dir /x', 'already given'),
                             ('port 70000', 'between 1 and 65535'), ('include nosuch.conf', 'No such file'),
                             ('pool-size 1gib', 'memory value')):
            done = self.check('timeout 1', line)
            self.assertEqual(done.returncode, 1)
            self.assertIn('pollux.conf line 3: ', done.stderr)
            self.assertIn(reason, done.stderr)
        done = self.check('include loop.conf')
        self.assertEqual(done.returncode, 1)
        self.assertIn('loop.conf line 1: ', done.stderr)

    def test_nothing_is_started_with_a_bad_one(self):
        done = subprocess.run((CONTROL, '--config', self.config('port x'), '--dataplane', DOUBLE),
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('line 2: port: ', done.stderr)
        self.assertFalse(os.path.exists(self.run_dir))

    def test_the_printed_one_is_good(self):
        text = subprocess.run((CONTROL, '--print-config'), capture_output=True, text=True, check=True).stdout
        path = self.write('printed.conf', text)
        subprocess.run((CONTROL, '--check-config', '--config', path), capture_output=True, check=True)


class Commands(Appliance):
    def test_status(self):
        self.start('bind 192.0.2.7', 'port 7001')
        status = self.ask('status')
        self.assertEqual(status['problems'], [])
        self.assertEqual(status['dataplane']['address'], '192.0.2.7:7001')
        self.assertEqual([core['state'] for core in status['cores']], ['running', 'running'])
        self.assertIn('all is well', self.ctl('status').stdout)

    def test_stats(self):
        self.start()
        wait_until(lambda: self.ask('stats')['families']['read']['per_second'] > 0, 'a rate')
        stats = self.ask('stats')
        self.assertEqual(len(stats['cores']), 2)
        self.assertEqual(stats['families']['read']['p99_ns'], 1023)
        self.assertGreater(stats['cores'][1]['ops'], 0)
        self.assertIn('tcp_retransmits', stats['counters'])
        self.assertIn('net_FRAGMENT', stats['drops'])
        once = self.ctl('stats')
        self.assertEqual(once.returncode, 0)
        for word in ('ops/s', 'read', 'p99.9', 'commands', '1.0 us'):
            self.assertIn(word, once.stdout)

    def test_stats_on_a_terminal_go_on(self):
        self.start()
        ours, theirs = pty.openpty()
        screen = subprocess.Popen((CTL, '--run-dir', self.run_dir, 'stats'), stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen = b''
        while seen.count(b'\x1b[H') < 2:
            seen += os.read(ours, 65536)
        self.assertIsNone(screen.poll())
        screen.terminate()
        screen.wait(PATIENCE)
        os.close(ours)
        self.assertIn(b'ops/s', seen)

    def test_config(self):
        self.start('maxclients 500')
        self.assertEqual(self.ask('config', 'get')['maxclients'], '500')
        self.assertRegex(self.ctl('config', 'get').stdout, r'maxclients +500\n')
        self.ask('config', 'set', 'maxclients', '600', 'Timeout', '5')
        self.assertEqual(self.ask('config', 'get')['maxclients'], '600')
        self.assertIn('OK', self.ctl('config', 'set', 'timeout', '6').stdout)

    def test_bad_changes_change_nothing(self):
        self.start('maxclients 500')
        for words, reason in ((('port', '7'), 'immutable'), (('nosuch', '7'), 'unknown'), (('timeout', 'x'), 'integer'),
                              (('MAXCLIENTS', '7'), 'duplicate'), (('maxclients', '8'), 'given twice')):
            message = self.fails('config', 'set', 'maxclients', '600', *words)
            self.assertIn(reason, message)
            self.assertIn('nothing was changed', message)
            self.assertEqual(self.ask('config', 'get')['maxclients'], '500')

    def test_clients_and_pool(self):
        self.start()
        self.assertEqual([client['id'] for client in self.ask('clients')], [1, 22])
        self.assertEqual(self.ctl('clients').stdout.split('\n')[1].split(), ['1', '10.0.0.9:1'])
        self.assertEqual(self.ctl('clients', 'kill', '1').returncode, 0)
        self.assertIn('no such client', self.fails('clients', 'kill', '7'))
        self.assertEqual(self.ask('pool', 'info')['domain'], 'emulated')
        self.assertRegex(self.ctl('pool', 'info').stdout, r'domain +emulated\n')

    def test_usage(self):
        for words in ((), ('nosuch',), ('config', 'set', 'timeout'), ('config', 'put'), ('pool',), ('clients', 'kill'),
                      ('clients', 'kill', 'x'), ('status', 'now'), ('stats', '--nosuch')):
            self.fails(*words, status=2)
        for words in (('--help',), ('status', '--help'), ('stats', '--help'), ('config', '--help'),
                      ('clients', '--help'), ('pool', '--help'), ('shutdown', '--help')):
            done = self.ctl(*words)
            self.assertEqual(done.returncode, 0)
            self.assertIn('--json', done.stdout)

    def test_nobody_there(self):
        for words in (('status',), ('stats',), ('clients',), ('shutdown',)):
            self.assertIn('is pollux-control running?', self.fails(*words))

    def test_shutdown(self):
        self.start()
        pid = self.pid()
        self.assertEqual(self.ask('shutdown')['dataplane'], pid)
        self.assertEqual(self.control.wait(PATIENCE), 0)
        self.control = None
        self.assertFalse(os.path.exists(f'/proc/{pid}'))
        self.assertEqual(sorted(name for name in os.listdir(self.run_dir) if name.endswith('.sock')), [])


class Faults(Appliance):
    def test_kill_9_of_control(self):
        self.start('maxclients 444')
        pid = self.pid()
        for _ in range(5):
            self.control.kill()
            self.control.wait(PATIENCE)
            self.assertIn('is pollux-control running?', self.fails('status'))
            self.start('maxclients 444')
            self.assertEqual(self.pid(), pid)
            self.assertTrue(self.status()['dataplane']['attached'])
            self.assertEqual(self.ask('config', 'get')['maxclients'], '444')

    def dataplanes(self):
        """All processes that were started with this run-dir's settings."""
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
                    words = file.read().split('\0')
            except OSError:
                continue
            if os.path.join(self.run_dir, 'settings') in words:
                found.append(int(pid))
        return found

    def test_kill_9_of_control_at_any_step(self):
        seed = random.randrange(1 << 30)
        print(f'(seed {seed})', file=sys.stderr, flush=True)
        draw = random.Random(seed)
        words = (CONTROL, '--config', self.config(), '--dataplane', DOUBLE)
        for _ in range(40):
            control = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.random() * 0.01)
            if draw.random() < 0.2:
                for pid in self.dataplanes():
                    os.kill(pid, signal.SIGKILL)
                time.sleep(draw.random() * 0.01)
            control.kill()
            control.wait(PATIENCE)
        self.start()
        wait_until(lambda: self.dataplanes() == [self.pid()], 'one dataplane, and that one watched')
        self.ask('clients')

    def test_sigterm_of_control_leaves_the_dataplane(self):
        self.start()
        pid = self.pid()
        self.control.terminate()
        self.assertEqual(self.control.wait(PATIENCE), 0)
        os.kill(pid, 0)
        self.start()
        self.assertEqual(self.pid(), pid)

    def test_kill_9_of_the_dataplane(self):
        self.start()
        pid = self.pid()
        self.ask('config', 'set', 'maxclients', '321')
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.runs_anew(pid), 'another dataplane')
        self.assertIn('signal 9', self.status()['dataplane']['last_end'])
        self.assertEqual(self.ask('config', 'get')['maxclients'], '321')

    def test_one_that_cannot_start(self):
        self.start()
        self.ask('config', 'set', 'maxclients', '666')  # from now on the double ends at once
        os.kill(self.pid(), signal.SIGKILL)
        wait_until(lambda: 'the pool is damaged' in (self.status()['dataplane']['last_end'] or ''), 'its last words')
        wait_until(lambda: self.state() == 'down', 'a pause between starts')
        self.assertTrue(self.ask('status', expect=3)['problems'])
        wait_until(lambda: 'the pool is damaged; next start in' in self.ctl('clients').stderr, 'the reason')
        for words in (('config', 'set', 'timeout', '1'), ('pool', 'info'), ('stats',)):
            self.assertIn('the dataplane', self.fails(*words))

    def test_stopped_dataplane(self):
        self.start()
        pid = self.pid()
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: self.state() == 'stopped', 'the stop to be noticed')
        self.assertIn(f'kill -CONT {pid}', self.ask('status', expect=3)['problems'][0])
        self.assertIn(f'kill -CONT {pid}', self.fails('clients'))
        self.assertIn('PROBLEM', self.ctl('status').stdout)
        self.ask('stats')
        os.kill(pid, signal.SIGCONT)
        wait_until(lambda: self.state() == 'running', 'it to go on')
        self.assertEqual(self.pid(), pid)
        self.assertEqual(self.ask('status')['problems'], [])

    def test_stuck_core(self):
        self.start()
        os.kill(self.pid(), signal.SIGUSR1)
        wait_until(lambda: self.status()['cores'][0]['state'] == 'stuck', 'the stuck core to be noticed')
        status = self.ask('status', expect=3)
        self.assertEqual(status['cores'][1]['state'], 'running')
        self.assertIn('core 0 is stuck', status['problems'][0])
        self.ask('clients')
        os.kill(self.pid(), signal.SIGUSR2)
        wait_until(lambda: self.ctl('status').returncode == 0, 'it to go on')

    def test_second_control_is_refused(self):
        self.start()
        done = subprocess.run((CONTROL, '--config', self.config(), '--dataplane', DOUBLE), capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'another pollux-control (pid {self.control.pid}) serves', done.stderr)

    def test_daemonize(self):
        words = (CONTROL, '--config', self.config(), '--dataplane', DOUBLE, '--daemonize')
        subprocess.run(words, capture_output=True, timeout=PATIENCE, check=True)
        self.assertIn(self.ctl('status').returncode, (0, 3))  # it answers from the moment the command returns
        again = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn('another pollux-control', again.stderr)
        self.assertEqual(self.ctl('shutdown').returncode, 0)
        with open(os.path.join(self.run_dir, 'control.log'), encoding='utf-8') as log:
            self.assertIn('started the dataplane', log.read())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
