#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""python3-redis as Debian has it: its connection, pipelines, scans, locks, expiry and errors."""
import threading

import redis

import harness
from harness import equal


def client(**options):
    return redis.Redis(harness.HOST, harness.PORT, socket_timeout=harness.PATIENCE, **options)


def test_strings():
    harness.fresh()
    r = client(decode_responses=True)
    equal(r.set('k', 'v'), True)
    equal(r.get('k'), 'v')
    equal(r.set('k', 'w', nx=True), None)
    equal(r.set('k', 'w', xx=True, get=True, ex=100), 'v')
    assert 0 < r.ttl('k') <= 100
    equal(r.append('k', 'xyz'), 4)
    equal(r.getrange('k', 1, -1), 'xyz')
    equal(r.setrange('k', 1, 'XY'), 4)
    equal(r.getex('k', persist=True), 'wXYz')
    equal(r.ttl('k'), -1)
    equal(r.getdel('k'), 'wXYz')
    equal(r.exists('k'), 0)
    equal(r.incrby('n', 5), 5)
    equal(r.decr('n'), 4)
    equal(r.incrbyfloat('n', 0.5), 4.5)
    equal(r.mget('n', 'none'), ['4.5', None])
    equal(r.strlen('n'), 3)


def test_binary():
    r = client()
    key, value = bytes(range(256)), bytes(reversed(range(256))) * 40
    equal(r.set(key, value), True)
    equal(r.get(key), value)
    equal(r.delete(key), 1)


def test_pipeline():
    harness.fresh()
    r = client(decode_responses=True)
    with r.pipeline(transaction=False) as pipe:
        for number in range(5000):
            pipe.set(f'p:{number}', number)
        for number in range(5000):
            pipe.get(f'p:{number}')
        answers = pipe.execute()
    equal(answers, [True] * 5000 + [str(number) for number in range(5000)])
    equal(r.dbsize(), 5000)


def test_pipeline_that_is_sent_before_it_is_read():
    """redis-py reads no reply before all commands are sent: 100 MB of replies must not stop the server from reading."""
    harness.fresh()
    r = client()
    r.set('k', 'x' * 1000)
    with r.pipeline(transaction=False) as pipe:
        for _ in range(100000):
            pipe.get('k')
        equal(set(pipe.execute()), {b'x' * 1000})


def test_scan_iter():
    harness.fresh()
    r = client(decode_responses=True)
    for number in range(500):
        r.set(f's:{number}', 'x')
    equal(sorted(set(r.scan_iter(match='s:*', count=7))), sorted(f's:{number}' for number in range(500)))
    equal(list(r.scan_iter(_type='list')), [])
    equal(len(r.keys('s:49*')), 11)
    assert r.randomkey().startswith('s:')


def test_expiry():
    harness.fresh()
    r = client()
    r.set('e', 1)
    equal(r.expire('e', 1000), True)
    assert 0 < r.pttl('e') <= 1000000
    equal(r.execute_command('EXPIRE', 'e', 5, 'GT'), 0)
    equal(r.persist('e'), True)
    r.psetex('short', 30, 'x')
    harness.wait_until(lambda: r.get('short') is None, 'a key of 30 ms to expire')
    equal(r.expireat('e', 1), True)
    equal(r.exists('e'), 0)


def test_errors():
    harness.fresh()
    r = client()
    r.set('s', 'text')
    for call, kind in ((lambda: r.incr('s'), 'value is not an integer or out of range'),
                       (lambda: r.execute_command('NOSUCH'), 'unknown command'),
                       (lambda: r.set('s', 'x', ex=0), "invalid expire time in 'set' command")):
        try:
            call()
        except redis.ResponseError as fault:
            assert kind in str(fault), fault
        else:
            raise AssertionError(f'no error: {kind}')
    try:
        client(password='x').ping()
    except redis.ResponseError as fault:
        assert 'without any password configured' in str(fault), fault
    else:
        raise AssertionError('AUTH without a password configured went through')


def test_many_threads():
    harness.fresh()
    r = client()

    def work():
        for _ in range(500):
            r.incr('shared')
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(r.get('shared'), b'4000')


def test_admin():
    harness.fresh()
    r = client(client_name='app', db=1, decode_responses=True)
    equal(r.client_getname(), 'app')
    own = [c for c in r.client_list() if c['name'] == 'app']
    equal(len(own), 1)
    equal(own[0]['db'], '1')
    equal(r.client_id(), int(own[0]['id']))
    info = r.info()
    assert info['redis_version'].startswith('7.0.'), info
    equal(r.config_get('port')['port'], str(harness.PORT))
    equal(r.config_set('timeout', 0), True)
    assert r.command_count() >= 60
    equal(r.object('encoding', 'none'), None)
    assert len(r.time()) == 2
    equal(r.role()[0], 'master')
    other = client(client_name='victim')
    other.ping()
    victim = next(c for c in r.client_list() if c['name'] == 'victim')
    equal(r.client_kill_filter(_id=victim['id']), 1)


harness.main(globals())
