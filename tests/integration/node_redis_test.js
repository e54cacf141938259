#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// node-redis, in RESP2 and RESP3: its handshake, pipelining, scan iterator, binary values, errors.
'use strict';

const assert = require('assert').strict;
const { createClient, RESP_TYPES } = require('redis');
const { host, port, main } = require('./harness.js');

async function withClient(options, use) {
    const client = createClient({ socket: { host, port, reconnectStrategy: false }, ...options });
    client.on('error', () => {});
    await client.connect();
    try {
        return await use(client);
    } finally {
        client.destroy();
    }
}

async function strings(options) {
    await withClient({ name: 'app', database: 1, ...options }, async (client) => {
        await client.flushAll();
        assert.equal(await client.clientGetName(), 'app');
        assert.equal(await client.set('k', 'v', { EX: 100 }), 'OK');
        assert.equal(await client.get('k'), 'v');
        assert.equal(await client.set('k', 'w', { NX: true }), null);
        assert.equal(await client.set('k', 'w', { XX: true, GET: true }), 'v');
        assert.equal(await client.incrBy('n', 7), 7);
        assert.deepEqual(await client.mGet(['k', 'none', 'n']), ['w', null, '7']);
        assert.equal(await client.del(['k', 'n', 'none']), 2);
        assert.equal(await client.get('k'), null);
    });
}

main({
    resp2: () => strings({ RESP: 2 }),
    resp3: () => strings({ RESP: 3 }),
    async pipelining() {
        await withClient({ RESP: 3 }, async (client) => {
            await client.del('auto');
            const values = await Promise.all(Array.from({ length: 3000 }, () => client.incr('auto')));
            assert.deepEqual(values, Array.from({ length: 3000 }, (unused, i) => i + 1));
        });
    },
    async scanIterator() {
        await withClient({}, async (client) => {
            await client.flushAll();
            await Promise.all(Array.from({ length: 300 }, (unused, i) => client.set(`s:${i}`, 'x')));
            const found = new Set();
            for await (const keys of client.scanIterator({ MATCH: 's:*', COUNT: 20 }))
                keys.forEach((key) => found.add(key));
            assert.equal(found.size, 300);
        });
    },
    async binary() {
        await withClient({}, async (client) => {
            const value = Buffer.from(Array.from({ length: 70000 }, (unused, i) => i * 7 % 256));
            assert.equal(await client.set('binary', value), 'OK');
            const buffers = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
            assert.ok(value.equals(await buffers.get('binary')));
        });
    },
    async errors() {
        await withClient({}, async (client) => {
            await client.set('text', 'abc');
            await assert.rejects(client.incr('text'), /ERR value is not an integer or out of range/);
            await assert.rejects(client.sendCommand(['NOSUCH', 'x']), /ERR unknown command 'NOSUCH'/);
            assert.equal(await client.get('text'), 'abc');
        });
    },
    async info() {
        await withClient({}, async (client) => {
            assert.match(await client.info(), /redis_version:7\.0\./);
            assert.ok((await client.commandCount()) >= 60);
        });
    },
});
