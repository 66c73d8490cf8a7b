// Shows that raced requests do overlap in the database. `node overlap.mjs COMMAND...` writes down every statement while the command
// runs (a race of one round), and lists for each transaction that paid an order when it began, when it read or locked the stock,
// when it changed it, and when it was committed, in milliseconds. Begun in the folder of the shop; it changes the log of the server.
import { createRequire } from 'node:module';
import { readFileSync, statSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

const require = createRequire(process.cwd() + '/');
const url = new URL(process.env.STORE);
const isMaria = url.protocol === 'mysql:';
let lines;
if (isMaria) {
    const to = await require('mysql2/promise').createConnection(url.href);
    await to.query("set global log_output = 'TABLE'");
    await to.query('truncate table mysql.general_log');
    await to.query('set global general_log = 1');
    run();
    await to.query('set global general_log = 0');
    const [rows] = await to.query(`select thread_id as who, unix_timestamp(event_time) * 1000 as at, convert(argument using utf8mb4) as text
        from mysql.general_log order by event_time`);
    lines = rows.map(row => ({ ...row, at: Number(row.at) }));
    await to.end();
} else {
    const to = new (require('pg').Client)(url.href);
    await to.connect();
    const set = async values => {
        for (const [name, value] of Object.entries(values)) await to.query(`alter system set ${name} = '${value}'`);
        await to.query('select pg_reload_conf()');
        await new Promise(done => setTimeout(done, 1000));
    };
    const begin = statSync('database.log').size;
    await set({ log_statement: 'all', log_line_prefix: '@%n %p ' });
    run();
    await set({ log_statement: 'none', log_line_prefix: '' });
    await to.end();
    const log = readFileSync('database.log').subarray(begin).toString();
    lines = log.split('\n@').flatMap(line => {
        const found = line.match(/^@?([\d.]+) (\d+) LOG: +(?:statement|execute [^:]*): (.*)/s);
        return found ? [{ at: found[1] * 1000, who: found[2], text: found[3] }] : [];
    });
}

function run() {
    const [command, ...rest] = process.argv.slice(2);
    spawnSync(command, rest, { stdio: ['ignore', 'inherit', 'ignore'] });
}

const open = new Map();
const paid = [];
for (const { who, at, text } of lines) {
    const seen = open.get(who);
    if (/^START TRANSACTION/i.test(text)) open.set(who, { who, begun: at });
    else if (!seen) continue;
    else if (/^(COMMIT|ROLLBACK)$/i.test(text.trim())) {
        open.delete(who);
        if (seen.pays) paid.push({ ...seen, ended: at, how: text.trim() });
    } else if (/^INSERT INTO .payment. ?\(/i.test(text)) seen.pays = at;
    else if (/FROM .stock_level. /i.test(text) && seen.pays) {
        if (/FOR UPDATE/i.test(text)) seen.locks ??= at;
        else seen.reads ??= at;
    } else if (/^UPDATE .stock_level./i.test(text)) seen.writes ??= at;
}
const first = Math.min(...paid.map(one => one.begun));
const ms = value => (value === undefined ? '-' : (value - first).toFixed(1));
console.log('The transactions that paid, in ms (statements are written down when they begin, so a wait for a lock lies between locks and writes):');
console.table(paid.map(one => ({ session: one.who, begun: ms(one.begun), 'reads stock': ms(one.reads), 'locks stock': ms(one.locks),
    'writes stock': ms(one.writes), ended: ms(one.ended), how: one.how })));
