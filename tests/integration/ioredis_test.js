#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// ioredis: its handshake and ready check, automatic pipelining, scan streams, binary values, reconnecting.
'use strict';

const assert = require('assert').strict;
const Redis = require('ioredis');
const { host, port, main } = require('./harness.js');

async function withClient(options, use) {
    const client = new Redis({ host, port, retryStrategy: () => null, ...options });
    client.on('error', () => {}); // a command that fails says so itself
    try {
        await client.ping();
        return await use(client);
    } finally {
        client.disconnect();
    }
}

main({
    async strings() {
        await withClient({ connectionName: 'app', db: 2 }, async (client) => {
            await client.flushall();
            assert.equal(await client.client('GETNAME'), 'app');
            assert.equal(await client.set('k', 'v', 'EX', 100), 'OK');
            assert.equal(await client.get('k'), 'v');
            assert.equal(await client.set('k', 'w', 'NX'), null);
            assert.equal(await client.incrby('n', 7), 7);
            assert.deepEqual(await client.mget('k', 'none', 'n'), ['v', null, '7']);
            assert.equal(await client.del('k', 'n', 'none'), 2);
        });
    },
    async pipeline() {
        await withClient({}, async (client) => {
            const pipe = client.pipeline();
            for (let i = 0; i < 2000; i++)
                pipe.set(`p:${i}`, i).get(`p:${i}`);
            const replies = await pipe.exec();
            assert.equal(replies.length, 4000);
            replies.forEach(([error, value], i) => {
                assert.equal(error, null);
                assert.equal(value, i % 2 ? String((i - 1) / 2) : 'OK');
            });
        });
    },
    async automaticPipelining() {
        await withClient({ enableAutoPipelining: true }, async (client) => {
            const values = await Promise.all(Array.from({ length: 1000 }, () => client.incr('auto')));
            assert.deepEqual(values, values.slice().sort((a, b) => a - b));
            assert.equal(new Set(values).size, 1000);
        });
    },
    async scanStream() {
        await withClient({}, async (client) => {
            await client.flushall();
            for (let i = 0; i < 300; i++)
                client.set(`s:${i}`, 'x');
            const found = new Set();
            for await (const keys of client.scanStream({ match: 's:*', count: 20 }))
                keys.forEach((key) => found.add(key));
            assert.equal(found.size, 300);
        });
    },
    async binary() {
        await withClient({}, async (client) => {
            const value = Buffer.from(Array.from({ length: 70000 }, (unused, i) => i * 7 % 256));
            assert.equal(await client.set(Buffer.from([0, 1, 255]), value), 'OK');
            assert.ok(value.equals(await client.getBuffer(Buffer.from([0, 1, 255]))));
        });
    },
    async errors() {
        await withClient({}, async (client) => {
            await client.set('text', 'abc');
            await assert.rejects(client.incr('text'), /ERR value is not an integer or out of range/);
            await assert.rejects(client.call('NOSUCH', 'x'), /ERR unknown command 'NOSUCH'/);
            assert.equal(await client.get('text'), 'abc');
        });
    },
    async reconnect() {
        await withClient({ retryStrategy: () => 20 }, async (client) => {
            const id = await client.client('ID');
            await withClient({}, (other) => other.client('KILL', 'ID', id));
            assert.equal(await client.set('after', 'kill'), 'OK');
            assert.notEqual(await client.client('ID'), id);
        });
    },
});
