// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the npm clients share: where the server is, and `ok` / `not ok` lines.
'use strict';

const path = require('path');

exports.host = process.env.POLLUX_HOST || '10.77.0.2';
exports.port = Number(process.env.POLLUX_PORT || 6379);

// Run the tests one after another; each is an async function.
exports.main = async function main(tests) {
    const suite = path.basename(process.argv[1], '.js');
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
        try {
            await test();
            console.log(`ok ${suite}.${name}`);
        } catch (fault) {
            failed++;
            const where = /_test\.js:(\d+)/.exec(fault.stack) || ['', '0'];
            console.log(`not ok ${suite}.${name} - line ${where[1]}: ${String(fault.message).replace(/\n/g, ' | ')}`);
        }
    }
    process.exit(failed > 0 ? 1 : 0);
};
